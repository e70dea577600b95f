//! The attribute tables of queues, and the words that several kinds of objects share.

use super::value::{Access, Attribute, ValueKind};

const MOST: i64 = 999_999_999;
/// Bytes of the longest message.
pub(super) const LONGEST: i64 = crate::MESSAGE_BYTES_MAX as i64;

pub(super) const fn number(
    name: &'static str,
    (low, high): (i64, i64),
    default: &'static str,
    selector: i32,
) -> Attribute {
    let kind = ValueKind::Number(low, high);
    Attribute { name, kind, default, selector, access: Access::Settable }
}

pub(super) const fn text(name: &'static str, most: usize, selector: i32) -> Attribute {
    let kind = ValueKind::Text(most);
    Attribute { name, kind, default: "", selector, access: Access::Settable }
}

pub(super) const fn object(name: &'static str, selector: i32) -> Attribute {
    let kind = ValueKind::Name(48);
    Attribute { name, kind, default: "", selector, access: Access::Settable }
}

pub(super) const fn word(
    name: &'static str,
    words: &'static [(&'static str, i32)],
    default: &'static str,
    selector: i32,
) -> Attribute {
    let kind = ValueKind::Word(words);
    Attribute { name, kind, default, selector, access: Access::Settable }
}

pub(super) const fn with_default(attribute: Attribute, default: &'static str) -> Attribute {
    Attribute { default, ..attribute }
}

pub(super) const fn shown(attribute: Attribute) -> Attribute {
    Attribute { access: Access::Shown, ..attribute }
}

pub(super) const fn fixed(attribute: Attribute) -> Attribute {
    Attribute { access: Access::Fixed, ..attribute }
}

pub(super) type Words = &'static [(&'static str, i32)];

pub(super) const ENABLED: Words = &[("ENABLED", 0), ("DISABLED", 1)];
pub(super) const SWITCH: Words = &[("DISABLED", 0), ("ENABLED", 1)];
pub(super) const NO_YES: Words = &[("NO", 0), ("YES", 1)];
pub(super) const PUT_RESPONSE: Words = &[("SYNC", 1), ("ASYNC", 2)];
const OPEN_OPTION: Words = &[("SHARED", 2), ("EXCL", 4)];
const SEQUENCE: Words = &[("PRIORITY", 0), ("FIFO", 1)];
const USAGE: Words = &[("NORMAL", 0), ("XMITQ", 1)];
const TRIGGER: Words = &[("NONE", 0), ("FIRST", 1), ("EVERY", 2), ("DEPTH", 3)];
const SERVICE_EVENT: Words = &[("NONE", 0), ("HIGH", 1), ("OK", 2)];
pub(super) const MONITORING: Words =
    &[("QMGR", -3), ("NONE", -1), ("OFF", 0), ("LOW", 17), ("MEDIUM", 33), ("HIGH", 65)];
const STATISTICS: Words = &[("QMGR", -3), ("NONE", -1), ("OFF", 0), ("ON", 1)];
const NPM_CLASS: Words = &[("NORMAL", 0), ("HIGH", 10)];
const READ_AHEAD: Words = &[("NO", 0), ("YES", 1), ("DISABLED", 2)];
pub(super) const BIND: Words = &[("OPEN", 0), ("NOTFIXED", 1), ("GROUP", 2)];
const PROPERTIES: Words = &[("COMPAT", 0), ("NONE", 1), ("ALL", 2), ("FORCE", 3), ("V6COMPAT", 4)];
const SCOPE: Words = &[("QMGR", 1), ("CELL", 2)];
const USE_QUEUE: Words = &[("QMGR", -3), ("LOCAL", 0), ("ANY", 1)];
const IMAGE: Words = &[("QMGR", -3), ("NO", 0), ("YES", 1)];
const STREAM: Words = &[("BESTEF", 0), ("MUSTDUP", 1)];
const INDEX: Words = &[("NONE", 0), ("MSGID", 1), ("CORRELID", 2), ("MSGTOKEN", 4), ("GROUPID", 5)];
pub(super) const DISPOSITION: Words =
    &[("QMGR", 0), ("COPY", 1), ("SHARED", 2), ("GROUP", 3), ("PRIVATE", 4)];
const DEFINITION: Words = &[("PREDEFINED", 1), ("PERMDYN", 2), ("TEMPDYN", 3), ("SHAREDYN", 4)];
const DYNAMIC: Words = &[("TEMPDYN", 3), ("PERMDYN", 2), ("SHAREDYN", 4)];
const SHARE: Words = &[("NOSHARE", 0), ("SHARE", 1)];
const HARDEN: Words = &[("NOHARDENBO", 0), ("HARDENBO", 1)];
const TRIGGER_CONTROL: Words = &[("NOTRIGGER", 0), ("TRIGGER", 1)];
const EXPANSION: Words = &[("USER", 1), ("SYSTEM", 2), ("NONE", 3)];
const LOCATION: Words = &[("BELOW", 0), ("ABOVE", 1)];
const PAGE_CLASS: Words = &[("4KB", 0), ("FIXED4KB", 1)];
const TARGET: Words = &[("QUEUE", 1), ("TOPIC", 8)];

pub(super) const ALTERATION: [Attribute; 2] =
    [shown(text("ALTDATE", 12, 2027)), shown(text("ALTTIME", 8, 2028))];

const DESCRIPTION: Attribute = text("DESCR", 64, 2013);
const PUT: Attribute = word("PUT", ENABLED, "ENABLED", 10);
const GET: Attribute = word("GET", ENABLED, "ENABLED", 9);
const PRIORITY: Attribute = number("DEFPRTY", (0, 9), "0", 6);
const PERSISTENCE: Attribute = word("DEFPSIST", NO_YES, "NO", 5);
const RESPONSE: Attribute = word("DEFPRESP", PUT_RESPONSE, "SYNC", 184);
const SCOPED: Attribute = word("SCOPE", SCOPE, "QMGR", 45);
const CUSTOM: Attribute = text("CUSTOM", 128, 2119);
const CLUSTER: Attribute = object("CLUSTER", 2029);
const CLUSTERS: Attribute = object("CLUSNL", 2030);
const WORK_PRIORITY: Attribute = number("CLWLPRTY", (0, 9), "0", 96);
const WORK_RANK: Attribute = number("CLWLRANK", (0, 9), "0", 95);
const BINDING: Attribute = word("DEFBIND", BIND, "OPEN", 61);
const PROPERTY_CONTROL: Attribute = word("PROPCTL", PROPERTIES, "COMPAT", 190);
const AHEAD: Attribute = word("DEFREADA", READ_AHEAD, "NO", 188);
const DISPOSED: Attribute = fixed(word("QSGDISP", DISPOSITION, "QMGR", 63));
const CAPPED: Attribute = with_default(text("CAPEXPRY", 12, 0), "NOLIMIT");

/// What local and model queues have in common.
macro_rules! local {
    ($($more:expr),* $(,)?) => {
        &[
            DESCRIPTION, PUT, GET, PRIORITY, PERSISTENCE,
            number("MAXDEPTH", (0, MOST), "5000", 15),
            number("MAXMSGL", (0, LONGEST), "4194304", 13),
            word("MSGDLVSQ", SEQUENCE, "PRIORITY", 16),
            word("SHARE", SHARE, "SHARE", 23),
            word("DEFSOPT", OPEN_OPTION, "SHARED", 4),
            number("BOTHRESH", (0, MOST), "0", 22),
            object("BOQNAME", 2019),
            word("HARDENBO", HARDEN, "HARDENBO", 8),
            number("RETINTVL", (0, MOST), "999999999", 21),
            word("USAGE", USAGE, "NORMAL", 12),
            word("TRIGGER", TRIGGER_CONTROL, "NOTRIGGER", 24),
            word("TRIGTYPE", TRIGGER, "FIRST", 28),
            number("TRIGDPTH", (1, MOST), "1", 29),
            number("TRIGMPRI", (0, 9), "0", 26),
            text("TRIGDATA", 64, 2023),
            object("PROCESS", 2012),
            object("INITQ", 2008),
            number("QDEPTHHI", (0, 100), "80", 40),
            number("QDEPTHLO", (0, 100), "20", 41),
            word("QDPMAXEV", SWITCH, "ENABLED", 42),
            word("QDPHIEV", SWITCH, "DISABLED", 43),
            word("QDPLOEV", SWITCH, "DISABLED", 44),
            word("QSVCIEV", SERVICE_EVENT, "NONE", 46),
            number("QSVCINT", (0, MOST), "999999999", 54),
            word("ACCTQ", STATISTICS, "QMGR", 134),
            word("MONQ", MONITORING, "QMGR", 123),
            word("STATQ", STATISTICS, "QMGR", 128),
            word("NPMCLASS", NPM_CLASS, "NORMAL", 78),
            RESPONSE, AHEAD, BINDING, PROPERTY_CONTROL,
            word("DISTL", NO_YES, "NO", 34),
            SCOPED, CLUSTER, CLUSTERS, WORK_PRIORITY, WORK_RANK,
            word("CLWLUSEQ", USE_QUEUE, "QMGR", 98),
            text("CLCHNAME", 20, 2124),
            CUSTOM,
            word("IMGRCOVQ", IMAGE, "QMGR", 272),
            with_default(text("MAXFSIZE", 12, 0), "DEFAULT"),
            object("STREAMQ", 2138),
            word("STRMQOS", STREAM, "BESTEF", 275),
            CAPPED,
            with_default(text("STGCLASS", 8, 2022), "DEFAULT"),
            word("INDXTYPE", INDEX, "NONE", 57),
            text("CFSTRUCT", 12, 2039),
            DISPOSED,
            $($more,)*
            ALTERATION[0], ALTERATION[1],
        ]
    };
}

pub(super) const QLOCAL: &[Attribute] = local![
    shown(word("DEFTYPE", DEFINITION, "PREDEFINED", 7)),
    shown(text("CRDATE", 12, 2004)),
    shown(text("CRTIME", 8, 2005)),
    shown(number("CURDEPTH", (0, i64::MAX), "0", 3)),
    shown(number("IPPROCS", (0, i64::MAX), "0", 17)),
    shown(number("OPPROCS", (0, i64::MAX), "0", 18)),
];

pub(super) const QMODEL: &[Attribute] = local![
    word("DEFTYPE", DYNAMIC, "TEMPDYN", 7),
    shown(text("CRDATE", 12, 2004)),
    shown(text("CRTIME", 8, 2005)),
];

pub(super) const QALIAS: &[Attribute] = &[
    DESCRIPTION,
    PUT,
    GET,
    PRIORITY,
    PERSISTENCE,
    RESPONSE,
    AHEAD,
    BINDING,
    PROPERTY_CONTROL,
    SCOPED,
    CLUSTER,
    CLUSTERS,
    WORK_PRIORITY,
    WORK_RANK,
    CUSTOM,
    DISPOSED,
    CAPPED,
    object("TARGET", 2002),
    word("TARGTYPE", TARGET, "QUEUE", 193),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const QREMOTE: &[Attribute] = &[
    DESCRIPTION,
    PUT,
    PRIORITY,
    PERSISTENCE,
    RESPONSE,
    BINDING,
    SCOPED,
    CLUSTER,
    CLUSTERS,
    WORK_PRIORITY,
    WORK_RANK,
    CUSTOM,
    DISPOSED,
    CAPPED,
    object("RNAME", 2018),
    object("RQMNAME", 2017),
    object("XMITQ", 2024),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const STORAGE_CLASS: &[Attribute] = &[
    text("DESCR", 64, 2042),
    number("PSID", (0, 99), "0", 62),
    text("XCFGNAME", 8, 2043),
    text("XCFMNAME", 16, 2044),
    text("PASSTKTA", 8, 2086),
    DISPOSED,
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const PAGE_SET: &[Attribute] = &[
    fixed(number("BUFFPOOL", (0, 99), "0", 0)),
    text("DSN", 44, 0),
    word("EXPAND", EXPANSION, "USER", 0),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const BUFFER_POOL: &[Attribute] = &[
    number("BUFFERS", (0, MOST), "0", 0),
    word("LOCATION", LOCATION, "ABOVE", 0),
    word("PAGECLAS", PAGE_CLASS, "4KB", 0),
    ALTERATION[0],
    ALTERATION[1],
];
