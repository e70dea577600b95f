//! A folder of image copies that is not mounted is told from one whose copies are gone: nothing is
//! forgotten, and nothing is written where it should be mounted.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)] // looks at a system from outside

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Ended, Folder, SECRET, files, init, on, run_as};

struct Site {
    _folder: Folder,
    dir: PathBuf,
    copies: [PathBuf; 2],
    away: PathBuf,
}

/// A system with a data set, a copy in `count` folders, and a folder that is not there.
fn site(name: &str, count: usize) -> Site {
    let folder = Folder::new(name);
    let dir = folder.join("system");
    init(&dir, &[]);
    on(SECRET, &["sets", "create"], &dir, &["ONE"]).done();
    let copies = ["one", "two"].map(|name| folder.join(name));
    let away = folder.join("away");
    let site = Site { _folder: folder, dir, copies, away };
    let to = site.copies[..count].iter().flat_map(|copy| ["--to", copy.to_str().unwrap()]);
    let words = ["--all"].into_iter().chain(to).collect::<Vec<_>>();
    on(SECRET, &["image-copy", "-s"], &site.dir, &words).done();
    site
}

impl Site {
    fn verify(&self, rest: &[&str]) -> Ended {
        on(SECRET, &["verify"], &self.dir, rest)
    }

    /// The first copy's folder is not mounted: its place is there and empty, or not there.
    fn unmount(&self, has_place: bool) {
        fs::rename(&self.copies[0], &self.away).unwrap();
        if has_place {
            fs::create_dir(&self.copies[0]).unwrap();
        }
    }

    fn mount(&self) {
        if self.copies[0].exists() {
            fs::remove_dir(&self.copies[0]).unwrap();
        }
        fs::rename(&self.away, &self.copies[0]).unwrap();
    }

    fn typed(command: &str) -> Ended {
        run_as(SECRET, command.split(' ').skip(1))
    }
}

/// The command in a text that begins so.
fn command(text: &str, begins: &str) -> String {
    let begin = text.find(&format!("`{begins}")).unwrap_or_else(|| panic!("{begins}: {text}"));
    text[begin + 1..].split('`').next().unwrap().to_owned()
}

#[test]
fn nothing_is_forgotten_and_nothing_is_written_in_the_place() {
    let site = site("copies-away", 1);
    for has_place in [false, true] {
        site.unmount(has_place);
        let found = site.verify(&["--repair"]);
        assert_eq!(found.code, 1, "{}", found.out);
        assert!(found.out.contains("not mounted"), "{}", found.out);
        let to = ["--all", "--to", site.copies[0].to_str().unwrap()];
        let refused = on(SECRET, &["image-copy", "-s"], &site.dir, &to);
        refused.failed("HFV015", &["not mounted", "holdfast verify"]);
        let is_empty = |path: &Path| !path.exists() || files(path).is_empty();
        assert!(is_empty(&site.copies[0]), "nothing is written in its place");
        site.mount();
        site.verify(&[]).done();
    }
    on(SECRET, &["recover", "-s"], &site.dir, &["--set", "ONE"]).done();
}

#[test]
fn what_is_named_helps_when_it_was_moved_or_is_gone() {
    let site = site("copies-moved", 1);
    site.unmount(false);
    let moved = command(&site.verify(&[]).out, "holdfast recon change");
    let moved = moved.replace("FOLDER", site.away.to_str().unwrap());
    Site::typed(&moved).done();
    site.verify(&[]).done();

    fs::remove_dir_all(&site.away).unwrap();
    let found = site.verify(&[]).out;
    let gone = &found[found.find("gone for good").unwrap()..];
    Site::typed(&command(gone, "holdfast recon change")).done();
    Site::typed(&command(gone, "holdfast image-copy")).done();
    site.verify(&[]).done();
}

#[test]
fn a_file_that_was_removed_from_a_folder_is_gone() {
    let site = site("copies-removed", 1);
    let is_copy = |path: &PathBuf| path.extension().is_some_and(|name| name == "copy");
    fs::remove_file(files(&site.copies[0]).into_keys().find(is_copy).unwrap()).unwrap();
    let found = site.verify(&["--repair"]).done().out;
    assert!(found.contains("--gone"), "{found}");
    site.verify(&[]).done();
}

#[test]
fn one_of_two_folders_is_made_anew_only_if_that_is_typed() {
    let site = site("copies-two", 2);
    site.unmount(true);
    let found = site.verify(&["--repair"]);
    assert_eq!(found.code, 1, "{}", found.out);
    assert!(files(&site.copies[0]).is_empty());
    Site::typed(&command(&found.out, "holdfast repair")).done();
    site.verify(&[]).done();
}

#[test]
fn files_that_were_moved_and_are_damaged_in_different_places_serve_together() {
    let site = site("copies-moved-damaged", 2);
    let name = known(&site)[0].file_name().unwrap().to_owned();
    let folders = ["one", "two"].map(|folder| site.away.join(folder));
    for (index, (from, to)) in site.copies.iter().zip(&folders).enumerate() {
        fs::create_dir_all(to).unwrap();
        fs::rename(from.join(&name), to.join(&name)).unwrap();
        // One has lost its beginning, the other one an interval.
        crate::common::patch(&to.join(&name), |bytes| {
            let at = [200, bytes.len() / 2][index];
            bytes[at] ^= 1;
        });
    }
    let moved = |folder: &Path| {
        let words = ["--copy", "1", "--moved-to", folder.to_str().unwrap()];
        on(SECRET, &["recon", "change", "-s"], &site.dir, &words).done()
    };
    for folder in &folders {
        let answer = moved(folder);
        assert!(answer.err.contains("what of it proves itself serves"), "{}", answer.err);
    }
    assert_eq!(known(&site), folders.each_ref().map(|folder| folder.join(&name)));
    // Another file of that name is none of it.
    fs::write(site.copies[0].join(&name), "none").unwrap();
    let other = site.copies[0].join(&name);
    let words = ["--copy", "1", "--file", other.to_str().unwrap()];
    on(SECRET, &["recon", "change", "-s"], &site.dir, &words).failed("HFV004", &[]);
    on(SECRET, &["recover", "-s"], &site.dir, &["--all"]).done();
}

/// The files of the copy, as RECON says.
fn known(site: &Site) -> Vec<PathBuf> {
    let listed = on(SECRET, &["recon", "list", "--json", "-s"], &site.dir, &[]).done().json();
    let files = listed["image_copies"][0]["files"].as_array().unwrap().clone();
    files.iter().map(|file| PathBuf::from(file["path"].as_str().unwrap())).collect()
}

#[test]
fn a_file_that_is_said_to_be_moved_is_looked_for_and_the_other_one_keeps_its_place() {
    let site = site("copies-proven", 2);
    let before = known(&site);
    let name = before[0].file_name().unwrap();
    let moved = |folder: &Path| {
        let words = ["--copy", "1", "--moved-to", folder.to_str().unwrap()];
        on(SECRET, &["recon", "change", "-s"], &site.dir, &words)
    };
    // Both stand; in one of their places there is nothing new.
    moved(&site.away).failed("HFV018", &["still stands in", "--file FILE"]);
    moved(&site.copies[1]).done();
    assert_eq!(known(&site), before);
    // A typing error is told from a folder that has the file, and that from one with another file.
    site.unmount(false);
    moved(&site.away.join("no")).failed("HFV018", &["is not there"]);
    fs::create_dir(&site.copies[0]).unwrap();
    fs::write(site.copies[0].join("other.copy"), "none").unwrap();
    moved(&site.copies[0]).failed("HFV018", &["is not there"]);
    let whole = fs::read(site.away.join(name)).unwrap();
    crate::common::patch(&site.away.join(name), |bytes| bytes[200] ^= 1);
    moved(&site.away).failed("HFV004", &["does not prove itself"]);
    assert_eq!(known(&site), before);
    fs::write(site.away.join(name), whole).unwrap();
    moved(&site.away).done();
    assert_eq!(known(&site), [site.away.join(name), site.copies[1].join(name)]);
    site.verify(&[]).done();
}
