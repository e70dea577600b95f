//! Programs that cannot be run here, told by what they are: other languages, and programs for CICS.
//!
//! Invariants:
//! 1. A source with a PROGRAM-ID is COBOL, whatever its file is called.
//! 2. What is not recognised is left to the compiler.

use std::path::Path;

/// Languages by what files are called that are written in them.
const EXTENSIONS: [(&str, &str); 31] = [
    ("asm", "assembler"),
    ("bms", "macros of BMS maps"),
    ("cc", "C++"),
    ("cpp", "C++"),
    ("cxx", "C++"),
    ("ezt", "Easytrieve"),
    ("f", "Fortran"),
    ("f90", "Fortran"),
    ("for", "Fortran"),
    ("go", "Go"),
    ("hlasm", "assembler"),
    ("jar", "Java"),
    ("java", "Java"),
    ("jcl", "job control language"),
    ("js", "JavaScript"),
    ("mac", "assembler"),
    ("mfs", "macros of MFS formats"),
    ("mlc", "assembler"),
    ("pas", "Pascal"),
    ("pl", "Perl"),
    ("pl1", "PL/I"),
    ("pli", "PL/I"),
    ("plinc", "PL/I"),
    ("py", "Python"),
    ("rex", "REXX"),
    ("rexx", "REXX"),
    ("rpg", "RPG"),
    ("rs", "Rust"),
    ("s", "assembler"),
    ("sh", "a shell's language"),
    ("sql", "SQL"),
];

/// Modules that translators put into programs, and for whom.
const MODULES: [(&str, &str); 6] = [
    ("DFHEI1", "CICS"),
    ("DFHEI14", "CICS"),
    ("DFHECP1", "CICS"),
    ("DSNHLI", "Db2"),
    ("DSNELI", "Db2"),
    ("DSNALI", "Db2"),
];

/// How much of a file is looked at.
const LOOKED_AT: usize = 1 << 20;

/// The language of a source that is not COBOL; nothing if it may be.
pub(super) fn language(path: &Path, source: &[u8]) -> Option<&'static str> {
    let text = source[..source.len().min(LOOKED_AT)].to_ascii_uppercase();
    if has(&text, b"PROGRAM-ID") {
        return None;
    }
    let extension = path.extension().and_then(|one| one.to_str()).map(str::to_ascii_lowercase);
    let extension = extension.unwrap_or_default();
    let named = EXTENSIONS.iter().find(|(known, _)| *known == extension);
    named.map(|(_, language)| *language).or_else(|| by_text(&text))
}

/// The language by what stands in the file, in upper case.
fn by_text(text: &[u8]) -> Option<&'static str> {
    let words: Vec<&[u8]> =
        text.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let follow =
        |pair: [&[u8]; 2]| words.windows(2).any(|two| two[0] == pair[0] && two[1] == pair[1]);
    let first = text.trim_ascii_start();
    let begins = |text: &[u8]| first.starts_with(text);
    if follow([b"OPTIONS", b"MAIN"]) || follow([b"PROC", b"OPTIONS"]) {
        return Some("PL/I");
    }
    if begins(b"!<ARCH>") {
        return Some("objects of a static library");
    }
    if begins(b"\xCA\xFE\xBA\xBE") {
        return Some("Java");
    }
    if begins(b"#!") {
        return Some("a script's language");
    }
    if begins(b"/*") && has(&first[..first.len().min(80)], b"REXX") {
        return Some("REXX");
    }
    if begins(b"//") && (follow([b"EXEC", b"PGM"]) || words.get(1) == Some(&&b"JOB"[..])) {
        return Some("job control language");
    }
    if has(text, b"#INCLUDE") {
        return Some("C, in a file whose name does not end with .c");
    }
    if words.contains(&&b"DFHMSD"[..]) {
        return Some("macros of BMS maps");
    }
    if follow([b"DBD", b"NAME"]) || follow([b"PCB", b"TYPE"]) {
        return Some("macros of DBDs and PSBs, which `holdfast gen` takes");
    }
    let is_assembler = [&b"CSECT"[..], b"RSECT", b"DSECT"].iter().any(|word| words.contains(word));
    is_assembler.then_some("assembler")
}

/// The system that a program was translated for, and the module that tells it.
pub(super) fn translated_for(calls: &[String]) -> Option<(&'static str, &'static str)> {
    let called = |(module, _): &&(&str, &str)| calls.iter().any(|name| name == module);
    MODULES.iter().find(called).map(|(module, system)| (*module, *system))
}

fn has(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_told_by_name_or_by_text() {
        let of = |name: &str, text: &str| language(Path::new(name), text.as_bytes());
        assert_eq!(of("teller.pli", ""), Some("PL/I"));
        assert_eq!(of("TELLER", " TELLER: PROC (IOPCB)\n   OPTIONS ( MAIN );"), Some("PL/I"));
        assert_eq!(of("TELLER", "TELLER   CSECT\n         USING *,12"), Some("assembler"));
        assert_eq!(of("teller", "//TELLER JOB (1),'A'\n"), Some("job control language"));
        assert_eq!(of("teller", "/* REXX */ say 1"), Some("REXX"));
        assert_eq!(of("teller.txt", "#include <stdio.h>\n").map(|text| &text[..1]), Some("C"));
        assert_eq!(of("teller.pli", "       PROGRAM-ID. TELLER."), None);
        assert_eq!(of("teller.cbl", "       MOVE A TO B."), None);
        assert_eq!(of("", ""), None);
    }

    #[test]
    fn what_translators_leave_tells_for_whom() {
        let calls = |name: &str| vec!["CBLTDLI".to_owned(), name.to_owned()];
        assert_eq!(translated_for(&calls("DFHEI1")), Some(("DFHEI1", "CICS")));
        assert_eq!(translated_for(&calls("DFHELP")), None);
    }
}
