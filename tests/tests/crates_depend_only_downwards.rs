//! The order of the crates in the root manifest is the architecture: each may depend only on
//! crates that stand before it, in its tests too.

use holdfast_tests::cargo::{Package, packages};
use holdfast_tests::{files, none_of, root};

/// The names of the house's crates, bottom up, as the root manifest lists them.
fn bottom_up() -> Vec<String> {
    let manifests = files(&["Cargo.toml"]);
    let manifest =
        manifests.iter().find(|file| file.path == "Cargo.toml").expect("a root manifest");
    let lines = manifest.text.lines().filter(|line| line.contains("path = \"crates/"));
    lines
        .filter_map(|line| line.split("package = \"").nth(1)?.split('"').next())
        .map(str::to_owned)
        .collect()
}

fn ours() -> Vec<Package> {
    packages().into_iter().filter(|package| package.ours).collect()
}

#[test]
fn crates_depend_only_downwards() {
    let order = bottom_up();
    let level = |name: &str| order.iter().position(|known| known == name);
    let mut upward = Vec::new();
    for package in ours() {
        let inside = package.dependencies.iter().filter(|dependency| !dependency.foreign);
        for dependency in inside {
            let above = level(&package.name);
            let below = level(&dependency.name);
            let down = match (above, below) {
                (Some(above), Some(below)) => below < above,
                // The command, the simulator, the benchmarks and the tests stand on everything.
                (None, _) => true,
                (Some(_), None) => false,
            };
            if !down {
                upward.push(format!("{} depends on {}", package.name, dependency.name));
            }
        }
    }
    none_of("dependencies that do not point downwards", &upward);
}

#[test]
fn every_crate_has_its_place_in_the_order() {
    let order = bottom_up();
    let libraries = ours().into_iter().filter(|package| package.folder.starts_with("crates/"));
    let lost = libraries.filter(|package| {
        let library = root().join(&package.folder).join("src/lib.rs").exists();
        library && !order.contains(&package.name)
    });
    none_of(
        "crates without a place in the root manifest",
        &lost.map(|p| p.name).collect::<Vec<_>>(),
    );
}

/// The floors, bottom up.
const FLOORS: [&str; 11] = [
    "ground",
    "kernel",
    "store",
    "files",
    "dli",
    "records",
    "programs",
    "online",
    "operations",
    "doors",
    "command",
];

#[test]
fn crates_stand_on_floors_in_their_order_and_each_floor_has_a_page() {
    let floor_of = |folder: &str| {
        let floor = folder.strip_prefix("crates/")?.split('/').next()?;
        FLOORS.iter().position(|known| *known == floor)
    };
    let order = bottom_up();
    let (mut wrong, mut listed) = (Vec::new(), Vec::new());
    for package in ours().iter().filter(|package| package.folder.starts_with("crates/")) {
        match floor_of(&package.folder) {
            None => wrong.push(format!("{} stands on no floor", package.folder)),
            Some(floor) => {
                let place = order.iter().position(|known| *known == package.name);
                listed.extend(place.map(|place| (place, floor)));
            }
        }
    }
    listed.sort_unstable();
    if !listed.is_sorted_by_key(|(_, floor)| *floor) {
        wrong.push("the root manifest lists crates of one floor among those of another".into());
    }
    let no_page = |floor: &&&str| !root().join(format!("crates/{floor}/README.md")).exists();
    wrong.extend(FLOORS.iter().filter(no_page).map(|floor| format!("{floor} has no page")));
    none_of("crates without a floor", &wrong);
}

#[test]
fn every_package_obeys_the_workspace_lints() {
    let manifests = files(&["Cargo.toml"]);
    let members =
        manifests.iter().filter(|file| file.path != "Cargo.toml" && file.path != "fuzz/Cargo.toml");
    let free = members.filter(|file| !file.text.contains("[lints]\nworkspace = true"));
    none_of(
        "packages without the workspace's lints",
        &free.map(|f| f.path.clone()).collect::<Vec<_>>(),
    );
}
