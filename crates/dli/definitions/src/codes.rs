//! The stable codes of this crate's diagnostics, each with its meaning.
//!
//! Invariants:
//! 1. A code keeps its meaning; scripts and documentation rely on it.
//! 2. Every code is in [`CODES`], and a test provokes every one of them.

base::codes! {
    // Statements and operands.
    OUTSIDE = "HFG101", "a statement stands outside of the DBD or PCB that it belongs to";
    FOREIGN = "HFG102", "statements that are neither DBD nor PSB were skipped";
    UNCLOSED = "HFG103", "a member does not end with DBDGEN or PSBGEN";
    STRANGE = "HFG104", "a statement has no meaning within this member";
    UNKNOWN_OPERAND = "HFG105", "an operand is not known";
    TWICE = "HFG106", "an operand stands twice";
    MISSING = "HFG107", "an operand is missing";
    NO_EFFECT = "HFG108", "an operand or a statement is accepted but has no effect here";
    TOO_MANY_VALUES = "HFG109", "a list has too many values, or is nested too deep";
    BAD_NAME = "HFG110", "this is no name";
    BAD_NUMBER = "HFG111", "this is no number";
    OUT_OF_RANGE = "HFG112", "a number is too small or too large";
    BAD_CHOICE = "HFG113", "a word is none of those that can stand here";
    CONFLICT = "HFG114", "values exclude each other";
    POSITIONAL = "HFG115", "a value stands without a keyword";
    NAME_TWICE = "HFG116", "a name is given twice";
    // Databases.
    NOT_HERE = "HFG120", "a statement or operand is not for this organization";
    PARENT_UNKNOWN = "HFG121", "the parent is not a segment that stands before";
    ORDER = "HFG122", "segments do not stand in hierarchic order";
    TOO_DEEP = "HFG123", "more than 15 levels";
    TOO_MANY = "HFG124", "more segments, fields or data sets than there can be";
    NO_SEGMENT = "HFG125", "a database has no segment";
    LENGTHS = "HFG126", "lengths do not fit each other";
    FIELD_OUTSIDE = "HFG127", "a field reaches over the end of its segment";
    KEY_NOT_FIRST = "HFG128", "the sequence field is not the first field";
    KEY_TWICE = "HFG129", "a segment has two sequence fields";
    KEY_MISSING = "HFG130", "the root needs a unique sequence field";
    KEY_BEYOND = "HFG131", "the key of a segment of variable length may be cut off";
    XDFLD_ALONE = "HFG132", "an XDFLD does not follow its LCHILD";
    INDEX_FIELD = "HFG133", "a field of a secondary index is not one of its source segment";
    SYSTEM_FIELD = "HFG134", "a system field is used wrongly";
    INDEX_SOURCE = "HFG135", "the source segment is neither the target nor one of its dependents";
    UNUSUAL_LENGTH = "HFG136", "a field's length is unusual for its type";
    NO_DATA_SET = "HFG137", "the database has no data set";
    // Programs.
    PCB_ORDER = "HFG150", "PCBs do not stand in the order TP, DB, GSAM";
    BAD_OPTIONS = "HFG151", "these are no processing options";
    SENSEG_PARENT = "HFG152", "the parent of a SENSEG does not stand before it";
    NO_SENSEG = "HFG153", "a database PCB sees no segment";
    // Fitting them together.
    NO_DBD = "HFG201", "a database definition does not exist";
    NO_SUCH_SEGMENT = "HFG202", "the database has no such segment";
    OTHER_PARENT = "HFG203", "a SENSEG has another parent in the database";
    NO_SUCH_FIELD = "HFG204", "the segment has no such field";
    NOT_ITS_INDEX = "HFG205", "this is no index of that database";
    PRIMARY_INDEX = "HFG206", "a HIDAM database has no primary index, or one that does not fit";
    INDEX_PAIR = "HFG207", "an index and its target do not name each other";
    INDEX_KEY = "HFG208", "an index segment is too short or its key has the wrong length";
    LOGICAL_PARENT = "HFG209", "a logical child and its logical parent do not name each other";
    PAIRING = "HFG210", "a paired logical child does not fit";
    SOURCE = "HFG211", "a source segment does not exist or does not fit";
    LOGICAL_PATH = "HFG212", "a logical database follows no path of its physical databases";
    KEYLEN = "HFG213", "KEYLEN is not the length of the longest concatenated key";
    LOAD_SEQUENTIAL = "HFG214", "PROCOPT=L is taken as LS";
    REDUCED = "HFG215", "processing options were reduced";
    GSAM_ONLY = "HFG216", "a GSAM PCB and its database do not fit";
    KEY_UNSEEN = "HFG217", "a program that inserts does not see the key";
    WRONG_SEQUENCE = "HFG218", "PROCSEQ and PROCSEQD were exchanged";
    SUBSET = "HFG219", "the segment has no such subset pointer";
    HSAM_OPTION = "HFG220", "a HSAM database can only be read or loaded";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
    }
}
