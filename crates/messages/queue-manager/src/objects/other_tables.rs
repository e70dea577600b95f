//! The attribute tables of everything that is not a queue.

use super::tables::{
    ALTERATION, DISPOSITION, LONGEST, NO_YES, PUT_RESPONSE, SWITCH, Words, fixed, number, object,
    shown, text, with_default, word,
};
use super::value::{Access, Attribute, ValueKind};

const MOST: i64 = 999_999_999;
const AS_PARENT: Words = &[("ASPARENT", 0), ("DISABLED", 1), ("ENABLED", 2)];
const DURABLE: Words = &[("ASPARENT", 0), ("YES", 1), ("NO", 2)];
const TOPIC_PERSISTENCE: Words = &[("ASPARENT", -2), ("NO", 0), ("YES", 1)];
const TOPIC_RESPONSE: Words = &[("ASPARENT", 0), ("SYNC", 1), ("ASYNC", 2)];
const DELIVERY: Words = &[("ASPARENT", 0), ("ALL", 1), ("ALLDUR", 2), ("ALLAVAIL", 3)];
const TOPIC_SCOPE: Words = &[("ASPARENT", 1), ("ALL", 0), ("QMGR", 4)];
const WILDCARD: Words = &[("PASSTHRU", 2), ("BLOCK", 1)];
const PROXY: Words = &[("FIRSTUSE", 2), ("FORCE", 1)];
const USE_DEAD: Words = &[("ASPARENT", 0), ("NO", 1), ("YES", 2)];
const ROUTE: Words = &[("DIRECT", 0), ("TOPICHOST", 1)];
const LOCAL: Words = &[("LOCAL", 0), ("CLUSTER", 1)];
const EVENT: Words = &[("DISABLED", 0), ("ENABLED", 1), ("NODISPLAY", 3), ("EXCEPTION", 2)];
const DESTINATION: Words = &[("PROVIDED", 2), ("MANAGED", 1)];
const SUB_PROPERTIES: Words = &[("NONE", 0), ("COMPAT", 1), ("RFH2", 2), ("MSGPROP", 3)];
const SCHEMA: Words = &[("CHAR", 1), ("TOPIC", 2)];
const VARIABLE_USER: Words = &[("FIXED", 2), ("ANY", 1)];
const SUB_SCOPE: Words = &[("ALL", 1), ("QMGR", 2)];
const SUB_TYPE: Words = &[("ADMIN", 2), ("API", 1), ("PROXY", 3)];
const CONTROL: Words = &[("MANUAL", 2), ("QMGR", 0), ("STARTONLY", 1)];
const TRANSPORT: Words = &[("TCP", 2), ("LU62", 1), ("NETBIOS", 3), ("SPX", 4)];
const CHANNEL_TYPE: Words = &[
    ("SDR", 1),
    ("SVR", 2),
    ("RCVR", 3),
    ("RQSTR", 4),
    ("CLNTCONN", 6),
    ("SVRCONN", 7),
    ("CLUSRCVR", 8),
    ("CLUSSDR", 9),
    ("AMQP", 11),
];
const SPEED: Words = &[("FAST", 2), ("NORMAL", 1)];
const AUTHENTICATE: Words = &[("REQUIRED", 0), ("OPTIONAL", 1)];
const DATA_CONVERSION: Words = &[("NO", 0), ("YES", 1)];
const PUT_AUTHORITY: Words = &[("DEF", 1), ("CTX", 2), ("ONLYMCA", 3), ("ALTMCA", 4)];
const CHANNEL_STATISTICS: Words =
    &[("QMGR", -3), ("OFF", 0), ("LOW", 17), ("MEDIUM", 33), ("HIGH", 65)];
const AUTHENTICATION: Words = &[("CRLLDAP", 1), ("OCSP", 2), ("IDPWOS", 3), ("IDPWLDAP", 4)];
const CHECK: Words = &[("REQDADM", 3), ("NONE", 0), ("OPTIONAL", 1), ("REQUIRED", 2)];
const SYNCPOINT: Words = &[("NOTAVAIL", 0), ("AVAILABLE", 1)];
const PUB_SUB: Words = &[("ENABLED", 2), ("COMPAT", 1), ("DISABLED", 0)];
const MONITOR: Words = &[("OFF", 0), ("NONE", -1), ("LOW", 17), ("MEDIUM", 33), ("HIGH", 65)];
const STATISTICS: Words = &[("OFF", 0), ("NONE", -1), ("ON", 1)];
const COMPRESSION: Words = &[("NONE", 0), ("SYSTEM", 8), ("ANY", 0x0FFF_FFFF)];
const CHANNEL_PROPERTIES: Words = &[("COMPAT", 0), ("NONE", 1), ("ALL", 2)];
const AGENT: Words = &[("PROCESS", 1), ("THREAD", 2)];
const AFFINITY: Words = &[("NONE", 0), ("PREFERRED", 1)];
const RECONNECT: Words = &[("NO", 0), ("YES", 1), ("QMGR", 2), ("DISABLED", 3)];
const MAP_TYPE: Words = &[
    ("BLOCKUSER", 1),
    ("BLOCKADDR", 2),
    ("SSLPEERMAP", 3),
    ("ADDRESSMAP", 4),
    ("USERMAP", 5),
    ("QMGRMAP", 6),
];
const USER_SOURCE: Words = &[("MAP", 0), ("NOACCESS", 1), ("CHANNEL", 2)];
const CHECK_CHANNEL: Words = &[("ASQMGR", 4), ("REQUIRED", 2), ("REQDADM", 3)];
const ENTITY_TYPE: Words = &[("PRINCIPAL", 1), ("GROUP", 2)];
const UNIT_DEFAULT: Words = &[("NO", 0), ("YES", 1)];
const PLATFORM: Words = &[("UNIX", 3), ("MVS", 1)];
const SERVICE_TYPE: Words = &[("COMMAND", 0), ("SERVER", 1)];
const NAMELIST_TYPE: Words = &[("NONE", 0), ("QUEUE", 1), ("CLUSTER", 4), ("AUTHINFO", 5)];
const APPLICATION: Words = &[
    ("UNIX", 6),
    ("DEF", 6),
    ("CICS", 1),
    ("IMS", 3),
    ("MVS", 2),
    ("OS400", 8),
    ("WINDOWS", 9),
    ("WINDOWSNT", 11),
    ("DOS", 5),
    ("OS2", 4),
    ("NSK", 13),
    ("VMS", 12),
];

const fn list(name: &'static str, most: usize, selector: i32) -> Attribute {
    let kind = ValueKind::List(most);
    Attribute { name, kind, default: "", selector, access: Access::Settable }
}

pub(super) const PROCESS: &[Attribute] = &[
    text("DESCR", 64, 2011),
    word("APPLTYPE", APPLICATION, "UNIX", 1),
    text("APPLICID", 256, 2001),
    text("ENVRDATA", 128, 2007),
    text("USERDATA", 128, 2021),
    fixed(word("QSGDISP", DISPOSITION, "QMGR", 63)),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const NAMELIST: &[Attribute] = &[
    text("DESCR", 64, 2009),
    list("NAMES", 48, 2020),
    shown(number("NAMCOUNT", (0, 256), "0", 19)),
    word("NLTYPE", NAMELIST_TYPE, "NONE", 72),
    fixed(word("QSGDISP", DISPOSITION, "QMGR", 63)),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const TOPIC: &[Attribute] = &[
    text("DESCR", 64, 2093),
    fixed(text("TOPICSTR", 10_240, 2094)),
    fixed(word("TYPE", LOCAL, "LOCAL", 208)),
    word("PUB", AS_PARENT, "ASPARENT", 181),
    word("SUB", AS_PARENT, "ASPARENT", 182),
    word("DURSUB", DURABLE, "ASPARENT", 175),
    word("DEFPSIST", TOPIC_PERSISTENCE, "ASPARENT", 185),
    with_default(text("DEFPRTY", 8, 0), "ASPARENT"),
    word("DEFPRESP", TOPIC_RESPONSE, "ASPARENT", 184),
    word("PMSGDLV", DELIVERY, "ASPARENT", 195),
    word("NPMSGDLV", DELIVERY, "ASPARENT", 196),
    object("MDURMDL", 2096),
    object("MNDURMDL", 2097),
    word("PUBSCOPE", TOPIC_SCOPE, "ASPARENT", 219),
    word("SUBSCOPE", TOPIC_SCOPE, "ASPARENT", 218),
    word("WILDCARD", WILDCARD, "PASSTHRU", 216),
    word("PROXYSUB", PROXY, "FIRSTUSE", 199),
    word("USEDLQ", USE_DEAD, "ASPARENT", 234),
    object("CLUSTER", 2029),
    word("CLROUTE", ROUTE, "DIRECT", 255),
    with_default(text("CAPEXPRY", 12, 0), "NOLIMIT"),
    text("CUSTOM", 128, 2119),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const SUBSCRIPTION: &[Attribute] = &[
    fixed(text("TOPICSTR", 10_240, 0)),
    fixed(object("TOPICOBJ", 0)),
    object("DEST", 0),
    object("DESTQMGR", 0),
    fixed(word("DESTCLAS", DESTINATION, "PROVIDED", 0)),
    text("DESTCORL", 48, 0),
    fixed(text("SELECTOR", 10_240, 0)),
    number("SUBLEVEL", (0, 9), "1", 0),
    with_default(text("EXPIRY", 12, 0), "UNLIMITED"),
    word("PSPROP", SUB_PROPERTIES, "MSGPROP", 0),
    with_default(text("PUBPRTY", 8, 0), "ASPUB"),
    text("PUBACCT", 64, 0),
    text("PUBAPPID", 32, 0),
    word("REQONLY", NO_YES, "NO", 0),
    fixed(word("SUBSCOPE", SUB_SCOPE, "ALL", 0)),
    text("SUBUSER", 64, 0),
    text("USERDATA", 10_240, 0),
    word("VARUSER", VARIABLE_USER, "ANY", 0),
    fixed(word("WSCHEMA", SCHEMA, "TOPIC", 0)),
    shown(word("DURABLE", NO_YES, "YES", 0)),
    shown(word("SUBTYPE", SUB_TYPE, "ADMIN", 0)),
    shown(text("SUBID", 48, 0)),
    shown(text("CRDATE", 12, 0)),
    shown(text("CRTIME", 8, 0)),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const CHANNEL: &[Attribute] = &[
    fixed(word("CHLTYPE", CHANNEL_TYPE, "SVRCONN", 1511)),
    text("DESCR", 64, 3502),
    word("TRPTYPE", TRANSPORT, "TCP", 1501),
    text("CONNAME", 264, 3506),
    text("LOCLADDR", 48, 3520),
    object("XMITQ", 3505),
    text("MCAUSER", 64, 3527),
    text("MCANAME", 20, 3507),
    text("MODENAME", 8, 3503),
    text("TPNAME", 64, 3504),
    object("QMNAME", 2015),
    text("USERID", 12, 3517),
    text("PASSWORD", 12, 3518),
    number("MAXINST", (0, MOST), "999999999", 1618),
    number("MAXINSTC", (0, MOST), "999999999", 1619),
    number("MAXMSGL", (0, LONGEST), "4194304", 1510),
    number("HBINT", (0, 999_999), "300", 1563),
    with_default(text("KAINT", 8, 1566), "AUTO"),
    number("DISCINT", (0, 999_999), "0", 1503),
    number("SHARECNV", (0, MOST), "10", 1615),
    number("BATCHSZ", (1, 9_999), "50", 1502),
    number("BATCHINT", (0, MOST), "0", 1564),
    number("BATCHLIM", (0, 999_999), "5000", 1624),
    number("BATCHHB", (0, 999_999), "0", 1567),
    word("NPMSPEED", SPEED, "FAST", 1562),
    number("SEQWRAP", (100, MOST), "999999999", 1509),
    number("SHORTRTY", (0, MOST), "10", 1505),
    number("SHORTTMR", (0, MOST), "60", 1504),
    number("LONGRTY", (0, MOST), "999999999", 1507),
    number("LONGTMR", (0, MOST), "1200", 1506),
    number("MRRTY", (0, MOST), "10", 1544),
    number("MRTMR", (0, MOST), "1000", 1545),
    word("CONVERT", DATA_CONVERSION, "NO", 1515),
    word("PUTAUT", PUT_AUTHORITY, "DEF", 1508),
    text("SSLCIPH", 256, 3544),
    text("SSLPEER", 1_024, 3545),
    word("SSLCAUTH", AUTHENTICATE, "REQUIRED", 1568),
    text("CERTLABL", 64, 2121),
    word("MONCHL", CHANNEL_STATISTICS, "QMGR", 122),
    word("STATCHL", CHANNEL_STATISTICS, "QMGR", 129),
    word("USEDLQ", NO_YES, "YES", 234),
    text("RCVDATA", 32, 3516),
    text("RCVEXIT", 128, 3511),
    text("SCYDATA", 32, 3513),
    text("SCYEXIT", 128, 3508),
    text("SENDDATA", 32, 3515),
    text("SENDEXIT", 128, 3510),
    text("MSGDATA", 32, 3514),
    text("MSGEXIT", 128, 3509),
    number("PORT", (0, 65_535), "5672", 1522),
    with_default(object("TMPMODEL", 3572), "SYSTEM.DEFAULT.MODEL.QUEUE"),
    with_default(text("TMPQPRFX", 33, 3573), "AMQP.*"),
    with_default(text("AMQPKA", 8, 1644), "AUTO"),
    word("COMPHDR", COMPRESSION, "NONE", 1575),
    word("COMPMSG", COMPRESSION, "NONE", 1576),
    word("PROPCTL", CHANNEL_PROPERTIES, "COMPAT", 190),
    word("MCATYPE", AGENT, "PROCESS", 1517),
    text("MRDATA", 32, 3535),
    text("MREXIT", 128, 3534),
    word("AFFINITY", AFFINITY, "PREFERRED", 1621),
    number("CLNTWGHT", (0, 99), "0", 1620),
    word("DEFRECON", RECONNECT, "NO", 1640),
    object("CLUSNL", 2030),
    object("CLUSTER", 2029),
    number("CLWLPRTY", (0, 9), "0", 1578),
    number("CLWLRANK", (0, 9), "0", 1577),
    number("CLWLWGHT", (1, 99), "50", 1579),
    number("NETPRTY", (0, 9), "0", 1565),
    with_default(object("TPROOT", 3571), "SYSTEM.BASE.TOPIC"),
    word("USECLTID", NO_YES, "NO", 1629),
    text("CUSTOM", 128, 2119),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const LISTENER: &[Attribute] = &[
    text("DESCR", 64, 3555),
    fixed(word("TRPTYPE", TRANSPORT, "TCP", 1501)),
    number("PORT", (0, 65_535), "1414", 1522),
    text("IPADDR", 48, 3552),
    number("BACKLOG", (0, MOST), "0", 1602),
    word("CONTROL", CONTROL, "MANUAL", 1601),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const CHANNEL_AUTHORITY: &[Attribute] = &[
    fixed(text("CHLAUTH", 20, 3501)),
    fixed(word("TYPE", MAP_TYPE, "ADDRESSMAP", 1352)),
    text("DESCR", 64, 2118),
    fixed(text("ADDRESS", 264, 3506)),
    fixed(text("CLNTUSER", 64, 3567)),
    fixed(object("QMNAME", 2017)),
    fixed(text("SSLPEER", 1_024, 3545)),
    fixed(text("SSLCERTI", 1_024, 2130)),
    word("USERSRC", USER_SOURCE, "MAP", 1638),
    text("MCAUSER", 64, 3527),
    list("USERLIST", 64, 3568),
    list("ADDRLIST", 264, 3566),
    word("WARN", NO_YES, "NO", 1639),
    word("CHCKCLNT", CHECK_CHANNEL, "ASQMGR", 258),
    text("CUSTOM", 128, 2119),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const AUTHORITY_RECORD: &[Attribute] = &[
    fixed(text("PROFILE", 48, 3067)),
    fixed(text("OBJTYPE", 12, 1016)),
    fixed(text("ENTITY", 64, 3068)),
    fixed(word("ENTTYPE", ENTITY_TYPE, "PRINCIPAL", 1118)),
    list("AUTHLIST", 12, 1115),
];

pub(super) const SERVICE: &[Attribute] = &[
    text("DESCR", 64, 2078),
    word("CONTROL", CONTROL, "MANUAL", 139),
    fixed(word("SERVTYPE", SERVICE_TYPE, "COMMAND", 121)),
    text("STARTCMD", 256, 2079),
    text("STARTARG", 256, 2080),
    text("STOPCMD", 256, 2081),
    text("STOPARG", 256, 2082),
    text("STDOUT", 256, 2083),
    text("STDERR", 256, 2084),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const AUTHENTICATION_INFORMATION: &[Attribute] = &[
    fixed(word("AUTHTYPE", AUTHENTICATION, "IDPWOS", 66)),
    text("DESCR", 64, 2046),
    word("CHCKCLNT", CHECK, "REQDADM", 258),
    word("CHCKLOCL", CHECK, "OPTIONAL", 257),
    word("ADOPTCTX", NO_YES, "YES", 260),
    number("FAILDLAY", (0, 60), "1", 259),
    text("CONNAME", 264, 2053),
    text("LDAPUSER", 256, 2047),
    text("LDAPPWD", 32, 2048),
    text("OCSPURL", 256, 2109),
    text("BASEDNU", 1_024, 2126),
    text("BASEDNG", 1_024, 2132),
    text("SHORTUSR", 128, 2127),
    text("USRFIELD", 128, 2129),
    text("CLASSUSR", 128, 2128),
    ALTERATION[0],
    ALTERATION[1],
];

pub(super) const QUEUE_MANAGER: &[Attribute] = &[
    text("DESCR", 64, 2014),
    object("DEADQ", 2006),
    object("DEFXMITQ", 2025),
    with_default(shown(object("COMMANDQ", 2003)), "SYSTEM.ADMIN.COMMAND.QUEUE"),
    number("CCSID", (1, 65_535), "1208", 2),
    number("MAXMSGL", (32_768, LONGEST), "104857600", 13),
    number("MAXHANDS", (1, MOST), "256", 11),
    number("MAXUMSGS", (1, MOST), "10000", 33),
    number("MAXPROPL", (-1, LONGEST), "-1", 192),
    number("TRIGINT", (0, MOST), "999999999", 25),
    shown(number("MAXPRTY", (0, 9), "9", 14)),
    shown(word("SYNCPT", SYNCPOINT, "AVAILABLE", 30)),
    word("DEFSYNCP", UNIT_DEFAULT, "NO", 0),
    word("BOMOVE", NO_YES, "NO", 0),
    word("CHLAUTH", SWITCH, "ENABLED", 248),
    object("CONNAUTH", 2125),
    with_default(text("EXPRYINT", 9, 0), "60"),
    number("MARKINT", (-1, MOST), "5000", 68),
    word("MONQ", MONITOR, "OFF", 123),
    word("MONCHL", MONITOR, "OFF", 122),
    word("STATQ", STATISTICS, "OFF", 128),
    word("STATMQI", SWITCH2, "OFF", 127),
    number("STATINT", (0, 604_800), "1800", 131),
    word("ACCTQ", STATISTICS, "OFF", 134),
    word("ACCTMQI", SWITCH2, "OFF", 133),
    number("ACCTINT", (0, 604_800), "1800", 135),
    word("AUTHOREV", SWITCH, "DISABLED", 47),
    word("INHIBTEV", SWITCH, "DISABLED", 48),
    word("LOCALEV", SWITCH, "DISABLED", 49),
    word("REMOTEEV", SWITCH, "DISABLED", 50),
    word("PERFMEV", SWITCH, "DISABLED", 53),
    word("STRSTPEV", SWITCH, "ENABLED", 52),
    word("CONFIGEV", SWITCH, "DISABLED", 51),
    word("CMDEV", EVENT, "DISABLED", 99),
    word("CHLEV", EVENT, "DISABLED", 73),
    word("SSLEV", SWITCH, "DISABLED", 75),
    word("PSMODE", PUB_SUB, "ENABLED", 187),
    number("TREELIFE", (0, 604_000), "1800", 183),
    word("DEFPRESP", PUT_RESPONSE, "SYNC", 0),
    object("REPOS", 2035),
    object("REPOSNL", 2036),
    text("SSLKEYR", 256, 2049),
    text("CERTLABL", 64, 2121),
    text("CUSTOM", 128, 2119),
    shown(text("QMID", 48, 2032)),
    shown(word("PLATFORM", PLATFORM, "UNIX", 32)),
    with_default(shown(number("CMDLEVEL", (0, MOST), "940", 31)), "940"),
    with_default(shown(text("VERSION", 8, 2120)), "09040000"),
    shown(text("CRDATE", 12, 0)),
    shown(text("CRTIME", 8, 0)),
    ALTERATION[0],
    ALTERATION[1],
];

const SWITCH2: Words = &[("OFF", 0), ("ON", 1)];
