//! The stable codes of this crate's diagnostics, each with its meaning.
//!
//! Invariants:
//!
//! 1. A code keeps its meaning; scripts and documentation rely on it.
//! 2. Every code is in [`CODES`] once, and a test provokes every one of them.

macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every code with its meaning.
        pub const CODES: &[(&str, &str)] = &[$(($code, $meaning)),*];
    };
}

codes! {
    TABS = "HFA001", "the file has tabs";
    LOWER_CASE = "HFA002", "the file has small letters outside of apostrophes";
    NOT_UTF8 = "HFA003", "the file is neither ASCII nor UTF-8 nor EBCDIC";
    CONTROL_CHARACTERS = "HFA004", "the file has control characters";
    LONG_CARD = "HFA005", "a card has more than 80 columns";
    SHORT_LAST_CARD = "HFA006", "an EBCDIC file does not end with a full card";
    JOB_CONTROL = "HFA007", "job control among the source is skipped";
    TOO_LARGE = "HFA008", "the file is too large";

    BEFORE_COLUMN_16 = "HFA010", "a continued card has text before column 16";
    COMMENT_INSIDE = "HFA011", "a comment stands between cards of one statement";
    ENDS_CONTINUED = "HFA012", "the file ends where another card should follow";
    COMMA_WITHOUT_MARK = "HFA013", "operands end in a comma, and column 72 has no mark";
    READ_AS_COMMENT = "HFA014", "what looks like operands is read as a comment";
    TOO_MANY_CARDS = "HFA015", "a statement has too many cards";
    COMMENT_CONTINUED = "HFA016", "a card is a part of the comment before it";

    LABEL = "HFA020", "this is no label";
    NO_OPERATION = "HFA021", "a statement has no operation";
    OPERATION = "HFA022", "this is no operation";
    INCLUDE = "HFA023", "a source library's include";

    QUOTE = "HFA030", "a text has no closing apostrophe";
    PARENTHESIS = "HFA031", "a parenthesis is not closed";
    STRAY_TEXT = "HFA032", "text follows a value without a comma";
    TOO_DEEP = "HFA033", "parentheses nest too deep";

    COPY_NAME = "HFA040", "COPY does not name one member";
    COPY_MISSING = "HFA041", "the member of a COPY is in no folder";
    COPY_RECURSION = "HFA042", "a member copies itself";
    COPY_LIMIT = "HFA043", "too much is copied";

    UNSUPPORTED = "HFA050", "an assembler has this, this reader has not";
    UNDEFINED = "HFA051", "a variable is not defined";
    EXPRESSION = "HFA052", "an expression of conditional assembly is wrong";
    SEQUENCE_SYMBOL = "HFA053", "no statement has this sequence symbol";
    LOOP = "HFA054", "a loop has no end, or expanding takes too long";
    MACRO = "HFA055", "a macro's definition is wrong";
    CALL_DEPTH = "HFA056", "calls of macros nest too deep";
    VALUE_SIZE = "HFA057", "a value becomes too long";
    PARAMETER = "HFA058", "a macro has no such parameter";
    VARIABLE = "HFA059", "a variable is declared or set against its kind";

    MNOTE = "HFA060", "what a macro says by MNOTE";

    MORE = "HFA099", "there are more diagnostics than are kept";
}
