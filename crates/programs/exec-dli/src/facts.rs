//! What a region must know about a program before it enters it.

/// One program of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramFacts {
    /// The name in PROGRAM-ID, in upper case; empty if there is none.
    pub program_id: String,
    /// Whether PROCEDURE DIVISION has USING: the program is then entered at its name.
    pub has_using: bool,
    /// How many parameters stand behind that USING.
    pub using_count: usize,
    /// Whether it has `ENTRY 'DLITCBL'`.
    pub has_entry_dlitcbl: bool,
    /// Whether it has EXEC DLI commands, its own or copied.
    pub uses_exec_dli: bool,
}
