//! Modules of a crate stand one above the other: none needs, over others, what needs it. Then each
//! can be read, and changed, with what is below it alone.

use holdfast_tests::cargo::packages;
use holdfast_tests::modules::{graph, largest_cycle};
use holdfast_tests::{files, none_of};

/// Crates that still have modules in a circle, and how many are in the largest one. A number may
/// only go down, and a line may only go.
const LEFT: &[(&str, usize)] = &[];

#[test]
fn modules_have_no_cycles() {
    let sources = files(&[".rs"]);
    let mut wrong = Vec::new();
    for package in packages().into_iter().filter(|package| package.ours) {
        let folder = format!("{}/src/", package.folder);
        let inside = sources.iter().filter_map(|file| {
            Some((file.path.strip_prefix(&folder)?.to_owned(), file.text.clone()))
        });
        let cycle = largest_cycle(&graph(&inside.collect::<Vec<_>>()));
        let left = LEFT.iter().find(|(name, _)| *name == package.name).map_or(0, |left| left.1);
        let (name, now) = (&package.name, cycle.len());
        if now > left {
            let list = cycle.join(", ");
            wrong.push(format!("{name}: {now} modules in a circle, {left} before: {list}"));
        } else if now < left {
            wrong.push(format!("{name}: {now} modules in a circle now: lower {left} in LEFT"));
        }
    }
    let names: Vec<_> = packages().into_iter().map(|package| package.name).collect();
    let gone = LEFT.iter().filter(|(name, _)| !names.iter().any(|known| known == name));
    wrong.extend(gone.map(|(name, _)| format!("{name} is in LEFT and is no crate")));
    none_of("modules that need each other in a circle", &wrong);
}
