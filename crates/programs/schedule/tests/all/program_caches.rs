//! Programs by name, and what they call, while people change their sources.
#![allow(clippy::disallowed_methods)] // tests write files as their users do

use std::path::PathBuf;

use crate::message_regions::have;
use region::Preprocessor;
use region::program::{Found, ProgramCache};
use seam::Seam;

const CALLER: &str = "int CALLER(void) { return 0; }\n";

struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Folder {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("program-cache-{test}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Folder(folder)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("a file");
    }

    fn program_cache(&self) -> ProgramCache {
        let disk = Seam::real().disk;
        ProgramCache::new(&disk, vec![self.0.clone()], Vec::new(), self.0.join("cache"))
    }
}

fn find(program_cache: &ProgramCache) -> Found {
    program_cache.find(&Preprocessor::default(), "CALLER").unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_subprogram_that_changes_alone_is_noticed() {
    if !have("cc") {
        return;
    }
    let folder = Folder::new("subprogram");
    folder.write("CALLER.c", CALLER);
    folder.write("SUB.c", "int SUB(void) { return 1; }\n");
    let program_cache = folder.program_cache();
    assert!(!program_cache.library_has_changed(), "nobody has wanted anything");
    let first = find(&program_cache);
    assert!(first.library.programs.iter().any(|name| name == "SUB"), "{:?}", first.library);
    assert!(!program_cache.library_has_changed());
    assert_eq!(find(&program_cache).library, first.library);

    folder.write("SUB.c", "int SUB(void) { return 22; }\n");
    assert!(!program_cache.has_changed("CALLER"));
    assert!(program_cache.library_has_changed());
    let second = find(&program_cache);
    assert_ne!(second.library.folder, first.library.folder);
    assert!(!program_cache.library_has_changed());

    folder.write("SUB.c", "int SUB(void) { return; this is no program }\n");
    assert!(program_cache.library_has_changed());
    let third = find(&program_cache);
    assert_eq!(third.library.folder, second.library.folder, "what was there goes on");
    assert!(third.warnings.iter().any(|printed| printed.contains("SUB.c is left out")));
    assert!(!program_cache.library_has_changed(), "it is said once");
    assert!(find(&program_cache).warnings.is_empty());

    std::fs::remove_file(folder.0.join("SUB.c")).expect("it is there");
    assert!(program_cache.library_has_changed());
    assert!(!find(&program_cache).library.programs.iter().any(|name| name == "SUB"));
}
