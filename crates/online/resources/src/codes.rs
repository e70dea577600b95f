//! The stable codes of definition files' diagnostics, each with its meaning.

base::codes! {
    MACRO = "HFG801", "this macro defines no resource of the online system and is passed over";
    OPERAND = "HFG802", "a macro has no such operand, or it has no meaning here";
    VALUE = "HFG803", "an operand or attribute does not take this value";
    NO_NAME = "HFG804", "a resource has no name, or one that is none";
    NO_PROGRAM = "HFG805", "a transaction or routing code stands before the first APPLCTN";
    SYNTAX = "HFG806", "this is no command";
    VERB = "HFG807", "only CREATE, UPDATE and DELETE define resources";
    KIND = "HFG808", "only DB, PGM, RTC and TRAN are resources";
    KEYWORD = "HFG809", "a command has no such keyword";
    ATTRIBUTE = "HFG810", "a resource has no such attribute";
    NO_END = "HFG811", "a parenthesis or a comment is not closed";
}
