//! The stable codes of this crate's diagnostics, each with its meaning.
//!
//! Invariants:
//! 1. A code keeps its meaning; scripts and documentation rely on it.
//! 2. Every code is in [`CODES`], and a test provokes every one of them.

base::codes! {
    // The source.
    FOREIGN = "HFX001", "a command of another system, such as EXEC CICS or EXEC SQL";
    UNCLOSED = "HFX002", "a command has no END-EXEC";
    MISPLACED = "HFX003", "a command stands outside of a PROCEDURE DIVISION";
    TOO_MANY_COMMANDS = "HFX004", "more commands than there are names for their translations";
    COPY_CYCLE = "HFX005", "COPY members copy each other without end";
    BROKEN_WORD = "HFX006", "a word that must stand whole is continued on the next line";
    PATH_NAME = "HFX007", "a member with commands is copied by a path, not by its name";
    COPY_LIMIT = "HFX008", "COPY members are nested too deeply, or copied too often";
    OLD = "HFX009", "a statement or register of OS/VS COBOL, which the compiler does not know";
    // One command.
    NO_VERB = "HFX020", "this is no command of DL/I";
    UNKNOWN_OPTION = "HFX021", "this is no option of a command";
    NOT_HERE = "HFX022", "the command has no such option";
    TWICE = "HFX023", "an option stands twice";
    MISSING = "HFX024", "the command needs an option that is not there";
    ARGUMENT = "HFX025", "an option has no argument, or one that it cannot have";
    NAME = "HFX026", "this is no name of a segment, a field or a PSB";
    CONDITION = "HFX027", "a WHERE cannot be understood";
    LENGTHS = "HFX028", "there are more lengths than values";
    PATH = "HFX029", "the segments with areas do not form a path";
    CONFLICT = "HFX030", "options exclude each other";
    TOO_MUCH = "HFX031", "a command has more segments, areas or numbers than it can have";
    PARENTHESIS = "HFX032", "a parenthesis is not closed";
    SAVED = "HFX033", "the areas of a symbolic checkpoint have gaps in their numbers";
    BEFORE = "HFX034", "an option of a segment stands in front of its SEGMENT";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
}
