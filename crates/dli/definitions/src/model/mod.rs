//! The types of the definitions: what a DBD and a PSB say, after their words were understood.
//!
//! Everything that decides how a call behaves is a field of its own; what only describes (external
//! names, data types of Java, remarks) is kept as [`Attribute`]s in the order of the source.

mod dbd;
mod field;
mod names;
mod options;
mod psb;
mod segment;
mod words;

pub use dbd::{Area, DataSet, Dbd, Exit, Pair, Randomizer};
pub use field::{Field, FieldKind, IndexedField, NullValue};
pub use names::{
    DbdName, DdName, FieldName, GroupName, ModuleName, PcbName, PsbName, SegmentName, TerminalName,
};
pub use options::{OptionError, ProcessingOptions};
pub use psb::{
    DatabasePcb, GsamPcb, IoError, Pcb, PcbKind, Psb, Sensitive, SensitiveField, SubsetUse,
    TerminalPcb,
};
pub use segment::{
    Compression, LogicalChild, LogicalParent, Pointers, Rules, Segment, SourceSegment,
};
pub use words::{
    AccessMethod, ChildPointer, DeleteRule, FieldType, KeyStorage, LchildPointer, Organization,
    ProgramLanguage, Protection, Rule, SegmentPart, SubsetUsage, TwinPlace,
};

/// A keyword and its value that only describe, as they were written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// The keyword in upper case.
    pub keyword: String,
    /// The value as text, with its parentheses and quotes.
    pub value: String,
}

/// A whole statement that only describes: DFSMARSH, DFSMAP, DFSCASE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extra {
    /// The operation, such as `DFSMAP`.
    pub statement: String,
    /// Its operands.
    pub attributes: Vec<Attribute>,
}
