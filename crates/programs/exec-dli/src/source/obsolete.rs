//! What programs of OS/VS COBOL have and no compiler of today knows: said with the line and with
//! what to write, where the compiler would speak of a syntax error at some other word.
//!
//! Invariants:
//! 1. A word of that name which a program uses as a name of its own is not taken for one of these:
//!    what stands around it has to fit, too.

use super::words::{Kind, Token};

/// What to write in place of a word.
pub(crate) struct Obsolete {
    pub(crate) what: &'static str,
    pub(crate) help: &'static str,
}

/// Words that `MOVE` takes in OS/VS COBOL, and what to write.
const REGISTERS: [(&str, &str); 2] = [
    (
        "CURRENT-DATE",
        "ACCEPT an item of 6 digits FROM DATE, and compose MM/DD/YY of it; FUNCTION CURRENT-DATE \
         begins with YYYYMMDD.",
    ),
    ("TIME-OF-DAY", "ACCEPT an item of 8 digits FROM TIME: its first 6 are hours to seconds."),
];

/// Whether the word at this place of a PROCEDURE DIVISION is of OS/VS COBOL.
pub(crate) fn obsolete(tokens: &[Token], at: usize) -> Option<Obsolete> {
    let before = at.checked_sub(1).and_then(|at| tokens.get(at));
    let behind = tokens.get(at + 1)?;
    let word = &tokens[at];
    if word.is("EXAMINE") {
        return is_examined(&tokens[at + 1..]).then_some(Obsolete {
            what: "EXAMINE is a statement",
            help: "Write INSPECT: REPLACING stays as it is, and TALLYING becomes MOVE ZERO TO \
                   TALLY and INSPECT item TALLYING TALLY FOR; UNTIL FIRST becomes CHARACTERS \
                   BEFORE.",
        });
    }
    if word.is("NOTE") {
        let begins = before.is_some_and(|token| token.kind == Kind::Period);
        let is_name = behind.kind == Kind::Period || behind.is("SECTION");
        return (begins && !is_name).then_some(Obsolete {
            what: "NOTE is a statement",
            help: "Make comments of its lines: an asterisk in column 7. As the first sentence of a \
                   paragraph it goes to the end of the paragraph.",
        });
    }
    let is_moved = before.is_some_and(|token| token.is("MOVE")) && behind.is("TO");
    let register = REGISTERS.iter().find(|(name, _)| is_moved && word.is(name));
    register.map(|(_, help)| Obsolete { what: "this is a special register", help })
}

/// Whether these are an item and what EXAMINE does with it.
fn is_examined(tokens: &[Token]) -> bool {
    let does = |token: &Token| token.is("TALLYING") || token.is("REPLACING");
    let Some((first, mut rest)) = tokens.split_first() else { return false };
    if first.kind != Kind::Word || does(first) {
        return false;
    }
    while let [of, name, behind @ ..] = rest
        && (of.is("OF") || of.is("IN"))
        && name.kind == Kind::Word
    {
        rest = behind;
    }
    if rest.first().is_some_and(|token| token.is_mark("(")) {
        let end = rest.iter().position(|token| token.is_mark(")"));
        rest = end.map_or(&[], |end| &rest[end + 1..]);
    }
    rest.first().is_some_and(does)
}
