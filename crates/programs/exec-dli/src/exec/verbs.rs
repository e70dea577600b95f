//! Which commands there are, and which options each has.
//!
//! Invariants:
//!
//! 1. An option that is in no list here is unknown everywhere.
//! 2. A longer spelling of a verb stands before one that it begins with.

use crate::command::Verb;

/// A verb and how it is written.
pub(crate) const VERBS: &[(&str, Verb)] = &[
    ("GET UNIQUE", Verb::GetUnique),
    ("GET NEXT IN PARENT", Verb::GetNextInParent),
    ("GET NEXT", Verb::GetNext),
    ("GU", Verb::GetUnique),
    ("GHU", Verb::GetUnique),
    ("GN", Verb::GetNext),
    ("GHN", Verb::GetNext),
    ("GNP", Verb::GetNextInParent),
    ("GHNP", Verb::GetNextInParent),
    ("INSERT", Verb::Insert),
    ("ISRT", Verb::Insert),
    ("REPLACE", Verb::Replace),
    ("REPL", Verb::Replace),
    ("DELETE", Verb::Delete),
    ("DLET", Verb::Delete),
    ("LOAD", Verb::Load),
    ("POSITION", Verb::Position),
    ("POS", Verb::Position),
    ("STATISTICS", Verb::Statistics),
    ("STAT", Verb::Statistics),
    ("QUERY", Verb::Query),
    ("REFRESH", Verb::Refresh),
    ("ACCEPT", Verb::Accept),
    ("CHECKPOINT", Verb::Checkpoint),
    ("CHKP", Verb::Checkpoint),
    ("SYMCHKP", Verb::SymbolicCheckpoint),
    ("XRST", Verb::Restart),
    ("ROLL", Verb::Roll),
    ("ROLB", Verb::RollBack),
    ("ROLS", Verb::RollToPoint),
    ("SETS", Verb::SetPoint),
    ("SETU", Verb::SetPointUnconditional),
    ("LOG", Verb::Log),
    ("DEQ", Verb::Dequeue),
    ("DEQUEUE", Verb::Dequeue),
    ("SCHEDULE", Verb::Schedule),
    ("SCHD", Verb::Schedule),
    ("TERMINATE", Verb::Terminate),
    ("TERM", Verb::Terminate),
];

impl std::fmt::Display for Verb {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let written = VERBS.iter().find(|(_, verb)| verb == self);
        out.write_str(written.map_or("", |(words, _)| words))
    }
}

/// Options without an argument.
const FLAGS: &[&str] = &[
    "VARIABLE",
    "FIRST",
    "LAST",
    "CURRENT",
    "LOCKED",
    "SETPARENT",
    "VSAM",
    "NONVSAM",
    "FORMATTED",
    "UNFORMATTED",
    "SUMMARY",
    "SYSSERVE",
    "NODHABEND",
    "DBQUERY",
];

/// Options that open the next segment's group.
pub(crate) const PREFIXES: &[&str] = &["VARIABLE", "FIRST", "LAST", "CURRENT", "SEGMENT"];

/// Options that belong to the command wherever they stand.
pub(crate) const OF_THE_COMMAND: &[&str] = &["PCB", "KEYFEEDBACK", "FEEDBACKLEN"];

/// Options that speak of the SEGMENT in front of them (DLI-5).
pub(crate) const BEHIND_A_SEGMENT: &[&str] = &[
    "INTO",
    "FROM",
    "SEGLENGTH",
    "LOCKED",
    "LOCKCLASS",
    "SETPARENT",
    "MOVENEXT",
    "GETFIRST",
    "SET",
    "SETCOND",
    "SETZERO",
    "KEYS",
    "WHERE",
];

/// Those of them that mean nothing where there is no SEGMENT at all.
pub(crate) const OF_A_SEGMENT: &[&str] = &["KEYS", "WHERE"];

/// Options of which only one can stand.
pub(crate) const EXCLUSIVE: &[(&str, &str)] = &[
    ("FIRST", "LAST"),
    ("FIRST", "CURRENT"),
    ("LAST", "CURRENT"),
    ("WHERE", "KEYS"),
    ("LOCKED", "LOCKCLASS"),
    ("VSAM", "NONVSAM"),
    ("FORMATTED", "UNFORMATTED"),
    ("FORMATTED", "SUMMARY"),
    ("UNFORMATTED", "SUMMARY"),
];

/// Options that mean nothing without another.
pub(crate) const NEEDS: &[(&str, &str)] = &[
    ("FIELDLENGTH", "WHERE"),
    ("KEYLENGTH", "KEYS"),
    ("FEEDBACKLEN", "KEYFEEDBACK"),
    ("OFFSET", "SEGMENT"),
];

const GET: &[&str] = &[
    "PCB",
    "KEYFEEDBACK",
    "FEEDBACKLEN",
    "VARIABLE",
    "FIRST",
    "LAST",
    "CURRENT",
    "SEGMENT",
    "SEGLENGTH",
    "OFFSET",
    "INTO",
    "LOCKED",
    "LOCKCLASS",
    "MOVENEXT",
    "GETFIRST",
    "SET",
    "SETCOND",
    "SETZERO",
    "SETPARENT",
    "WHERE",
    "FIELDLENGTH",
    "KEYS",
    "KEYLENGTH",
];
const INSERT: &[&str] = &[
    "PCB",
    "KEYFEEDBACK",
    "FEEDBACKLEN",
    "VARIABLE",
    "FIRST",
    "LAST",
    "CURRENT",
    "SEGMENT",
    "SEGLENGTH",
    "OFFSET",
    "FROM",
    "LOCKED",
    "LOCKCLASS",
    "MOVENEXT",
    "GETFIRST",
    "SET",
    "SETCOND",
    "SETZERO",
    "SETPARENT",
    "WHERE",
    "FIELDLENGTH",
    "KEYS",
    "KEYLENGTH",
];
const REPLACE: &[&str] = &[
    "PCB",
    "VARIABLE",
    "SEGMENT",
    "SEGLENGTH",
    "OFFSET",
    "FROM",
    "MOVENEXT",
    "SET",
    "SETCOND",
    "SETZERO",
];
const DELETE: &[&str] = &["PCB", "VARIABLE", "SEGMENT", "SEGLENGTH", "FROM", "SETZERO"];
const LOAD: &[&str] = &["PCB", "VARIABLE", "SEGMENT", "SEGLENGTH", "FROM", "WHERE", "FIELDLENGTH"];
const POSITION: &[&str] =
    &["PCB", "KEYFEEDBACK", "FEEDBACKLEN", "INTO", "LENGTH", "SEGMENT", "WHERE", "FIELDLENGTH"];
const STATISTICS: &[&str] =
    &["PCB", "INTO", "LENGTH", "VSAM", "NONVSAM", "FORMATTED", "UNFORMATTED", "SUMMARY"];

/// The options that a verb has.
pub(crate) fn options(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::GetUnique | Verb::GetNext | Verb::GetNextInParent => GET,
        Verb::Insert => INSERT,
        Verb::Replace => REPLACE,
        Verb::Delete => DELETE,
        Verb::Load => LOAD,
        Verb::Position => POSITION,
        Verb::Statistics => STATISTICS,
        Verb::Query => &["PCB"],
        Verb::Refresh => &["DBQUERY"],
        Verb::Accept => &["STATUSGROUP"],
        Verb::Checkpoint => &["ID"],
        Verb::SymbolicCheckpoint | Verb::Restart => &["ID", "MAXLENGTH", "AREA#", "LENGTH#"],
        Verb::Roll | Verb::RollBack | Verb::Terminate => &[],
        Verb::RollToPoint => &["PCB", "TOKEN", "AREA"],
        Verb::SetPoint | Verb::SetPointUnconditional => &["TOKEN", "AREA"],
        Verb::Log => &["FROM", "LENGTH"],
        Verb::Dequeue => &["LOCKCLASS"],
        Verb::Schedule => &["PSB", "SYSSERVE", "NODHABEND"],
    }
}

/// The options that a verb cannot do without.
pub(crate) fn required(verb: Verb) -> &'static [&'static str] {
    match verb {
        Verb::GetUnique | Verb::GetNext | Verb::GetNextInParent | Verb::Query => &["PCB"],
        Verb::Insert | Verb::Replace | Verb::Delete | Verb::Load => &["PCB"],
        Verb::Position | Verb::Statistics => &["PCB", "INTO"],
        Verb::Refresh => &["DBQUERY"],
        Verb::Accept => &["STATUSGROUP"],
        Verb::Checkpoint | Verb::SymbolicCheckpoint => &["ID"],
        Verb::SetPointUnconditional | Verb::SetPoint => &[],
        Verb::Log => &["FROM"],
        Verb::Dequeue => &["LOCKCLASS"],
        Verb::Schedule => &["PSB"],
        Verb::Restart | Verb::Roll | Verb::RollBack | Verb::RollToPoint | Verb::Terminate => &[],
    }
}

/// The name under which a word stands in the lists: `AREA3` is an `AREA#`.
pub(crate) fn keyword(word: &str) -> Option<&'static str> {
    let listed = |name: &str| {
        let all = Verb::ALL.iter().flat_map(|verb| options(*verb));
        all.copied().find(|known| *known == name)
    };
    let numbered = |stem: &str| {
        let digit = word.strip_prefix(stem)?;
        (digit.len() == 1 && ("1"..="7").contains(&digit)).then_some(())
    };
    if numbered("AREA").is_some() {
        return listed("AREA#");
    }
    if numbered("LENGTH").is_some() {
        return listed("LENGTH#");
    }
    listed(word)
}

/// Whether an option has no argument.
pub(crate) fn is_flag(keyword: &str) -> bool {
    FLAGS.contains(&keyword)
}
