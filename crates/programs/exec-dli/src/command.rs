//! A command: what one EXEC DLI asks for, as the translator writes it and the region reads it.
//!
//! A command refers to what only the running program knows by number: a *parameter* is an item of
//! the program that is passed by reference, a *number* one that was computed right before the call
//! (a length, the number of a PCB). Everything else stands in the command itself.
//!
//! Invariants:
//!
//! 1. Parameters and numbers count from 0, in the order in which the translation passes them.
//! 2. Names of segments and fields have at most eight bytes and no blanks at their end.

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Verb {
    /// GU, GET UNIQUE.
    GetUnique = 1,
    /// GN, GET NEXT.
    GetNext = 2,
    /// GNP, GET NEXT IN PARENT.
    GetNextInParent = 3,
    /// ISRT, INSERT.
    Insert = 4,
    /// REPL, REPLACE.
    Replace = 5,
    /// DLET, DELETE.
    Delete = 6,
    /// LOAD: an insert into an empty database.
    Load = 7,
    /// POS, POSITION.
    Position = 8,
    /// STAT, STATISTICS.
    Statistics = 9,
    /// QUERY: the state of a PCB's database.
    Query = 10,
    /// REFRESH DBQUERY.
    Refresh = 11,
    /// ACCEPT STATUSGROUP.
    Accept = 12,
    /// CHKP, CHECKPOINT.
    Checkpoint = 13,
    /// SYMCHKP.
    SymbolicCheckpoint = 14,
    /// XRST.
    Restart = 15,
    /// ROLL.
    Roll = 16,
    /// ROLB.
    RollBack = 17,
    /// ROLS.
    RollToPoint = 18,
    /// SETS.
    SetPoint = 19,
    /// SETU.
    SetPointUnconditional = 20,
    /// LOG.
    Log = 21,
    /// DEQ.
    Dequeue = 22,
    /// SCHD, SCHEDULE.
    Schedule = 23,
    /// TERM, TERMINATE.
    Terminate = 24,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Verb; 24] = [
        Verb::GetUnique,
        Verb::GetNext,
        Verb::GetNextInParent,
        Verb::Insert,
        Verb::Replace,
        Verb::Delete,
        Verb::Load,
        Verb::Position,
        Verb::Statistics,
        Verb::Query,
        Verb::Refresh,
        Verb::Accept,
        Verb::Checkpoint,
        Verb::SymbolicCheckpoint,
        Verb::Restart,
        Verb::Roll,
        Verb::RollBack,
        Verb::RollToPoint,
        Verb::SetPoint,
        Verb::SetPointUnconditional,
        Verb::Log,
        Verb::Dequeue,
        Verb::Schedule,
        Verb::Terminate,
    ];

    /// Whether it is a GU, GN or GNP.
    #[must_use]
    pub fn is_get(self) -> bool {
        matches!(self, Verb::GetUnique | Verb::GetNext | Verb::GetNextInParent)
    }
}

/// A number: a literal, or one of the numbers that are computed before the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// This number.
    Literal(i32),
    /// The number at this index.
    Slot(u8),
}

/// An item of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// The index of the parameter.
    pub parameter: u8,
    /// How long it is.
    pub length: Number,
}

/// A value that goes in: a literal, or an item of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Text {
    /// These bytes.
    Literal(Vec<u8>),
    /// What stands in this item.
    Area(Area),
}

/// How a field compares with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Operator {
    /// `=`, EQ.
    Equal = 1,
    /// `>`, GT.
    Greater = 2,
    /// `>=`, GE.
    GreaterOrEqual = 3,
    /// `<`, LT.
    Less = 4,
    /// `<=`, LE.
    LessOrEqual = 5,
    /// `^=`, NE.
    NotEqual = 6,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Operator; 6] = [
        Operator::Equal,
        Operator::Greater,
        Operator::GreaterOrEqual,
        Operator::Less,
        Operator::LessOrEqual,
        Operator::NotEqual,
    ];

    /// As it stands in an SSA.
    #[must_use]
    pub fn in_ssa(self) -> &'static [u8; 2] {
        match self {
            Operator::Equal => b"EQ",
            Operator::Greater => b"GT",
            Operator::GreaterOrEqual => b"GE",
            Operator::Less => b"LT",
            Operator::LessOrEqual => b"LE",
            Operator::NotEqual => b"NE",
        }
    }
}

/// What joins a condition to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Join {
    /// AND.
    And = b'&',
    /// OR: a new set of conditions begins.
    Or = b'|',
    /// `#`: an AND that another source segment of a secondary index may meet.
    Independent = b'#',
}

impl Join {
    /// Every join.
    pub const ALL: [Join; 3] = [Join::And, Join::Or, Join::Independent];
}

/// One condition of a WHERE.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// How it is joined to the one before; of no meaning for the first.
    pub join: Join,
    /// The name of the field.
    pub field: Vec<u8>,
    /// How the field compares.
    pub operator: Operator,
    /// With what.
    pub value: Text,
}

/// A subset pointer option of a Fast Path segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subset {
    /// Its command code: M (MOVENEXT), R (GETFIRST), S (SET), W (SETCOND), Z (SETZERO).
    pub code: u8,
    /// The numbers of the pointers, as digits.
    pub pointers: Text,
}

/// One SEGMENT with its options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Its name.
    pub name: Text,
    /// VARIABLE: the area begins with a length.
    pub is_variable: bool,
    /// FIRST.
    pub is_first: bool,
    /// LAST.
    pub is_last: bool,
    /// CURRENT.
    pub is_current: bool,
    /// SETPARENT.
    pub sets_parent: bool,
    /// INTO or FROM.
    pub area: Option<Area>,
    /// OFFSET: where the destination parent begins in a concatenated segment.
    pub offset: Option<Number>,
    /// LOCKED (class A) or LOCKCLASS.
    pub lock: Option<Text>,
    /// Subset pointer options.
    pub subsets: Vec<Subset>,
    /// KEYS: the concatenated key.
    pub keys: Option<Text>,
    /// WHERE.
    pub conditions: Vec<Condition>,
}

impl Default for Text {
    fn default() -> Text {
        Text::Literal(Vec::new())
    }
}

/// A command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// What it does.
    pub verb: Verb,
    /// USING PCB.
    pub pcb: Option<Number>,
    /// An argument of its own: ID, TOKEN, PSB, LOCKCLASS, STATUSGROUP; of STAT the function.
    pub name: Option<Text>,
    /// An area that belongs to no segment: INTO, FROM, AREA.
    pub area: Option<Area>,
    /// MAXLENGTH.
    pub most: Option<Number>,
    /// KEYFEEDBACK.
    pub feedback: Option<Area>,
    /// The areas of a symbolic checkpoint.
    pub saved: Vec<Area>,
    /// Segments, from the top.
    pub segments: Vec<Segment>,
}

impl Command {
    /// One without options.
    #[must_use]
    pub fn new(verb: Verb) -> Command {
        Command {
            verb,
            pcb: None,
            name: None,
            area: None,
            most: None,
            feedback: None,
            saved: Vec::new(),
            segments: Vec::new(),
        }
    }
}
