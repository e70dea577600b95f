//! Headers and copybooks stand in the repository as the tables make them.
//!
//! `HOLDFAST_WRITE=1 cargo test -p holdfast-mqi headers` writes them again.

use std::path::PathBuf;

use mqi::{copybook, header};

fn include() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../mqm/include")
}

fn made() -> Vec<(PathBuf, String)> {
    let mut all = vec![
        (include().join("cmqc.h"), header::cmqc()),
        (include().join("cmqxc.h"), header::cmqxc()),
        (include().join("cmqcfc.h"), header::cmqcfc()),
        (include().join("cmqstrc.h"), header::cmqstrc()),
    ];
    let books = copybook::copybooks().into_iter();
    all.extend(books.map(|(name, text)| (include().join(format!("cobol/{name}.cpy")), text)));
    all
}

#[test]
fn headers_and_copybooks_are_made_from_the_tables() {
    for (path, text) in made() {
        if std::env::var_os("HOLDFAST_WRITE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, &text).unwrap();
        }
        let written = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            written == text,
            "{} is not what the tables say; HOLDFAST_WRITE=1 writes it again",
            path.display()
        );
    }
}

#[test]
fn no_line_of_a_copybook_is_longer_than_cobol_reads() {
    for (name, text) in copybook::copybooks() {
        for line in text.lines() {
            assert!(line.len() <= 72, "{name}: {line}");
        }
    }
}
