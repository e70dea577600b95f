//! The objects that every queue manager has.
//!
//! 1. One that is deleted is made again when the queue manager is opened.
//! 2. The channel authentication records with which a queue manager begins are made with it, and
//!    never again: who removes one wants to.

use crate::objects::Kind;

type Attributes = &'static [(&'static str, &'static str)];

/// Kind, name and attributes that differ from the defaults.
pub(crate) const OBJECTS: &[(Kind, &str, Attributes)] = &[
    (Kind::QueueLocal, "SYSTEM.DEFAULT.LOCAL.QUEUE", &[]),
    (Kind::QueueAlias, "SYSTEM.DEFAULT.ALIAS.QUEUE", &[]),
    (Kind::QueueRemote, "SYSTEM.DEFAULT.REMOTE.QUEUE", &[]),
    (Kind::QueueModel, "SYSTEM.DEFAULT.MODEL.QUEUE", &[("SHARE", "NOSHARE"), ("DEFSOPT", "EXCL")]),
    (Kind::QueueLocal, "SYSTEM.DEAD.LETTER.QUEUE", &[("MAXDEPTH", "999999999")]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.COMMAND.QUEUE", &[("MAXDEPTH", "3000"), ("MAXMSGL", "32762")]),
    (Kind::QueueModel, "SYSTEM.MQSC.REPLY.QUEUE", &[("MAXDEPTH", "3000")]),
    (Kind::QueueModel, "SYSTEM.COMMAND.REPLY.MODEL", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.QMGR.EVENT", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.PERFM.EVENT", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.CHANNEL.EVENT", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.CONFIG.EVENT", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.COMMAND.EVENT", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.STATISTICS.QUEUE", &[]),
    (Kind::QueueLocal, "SYSTEM.ADMIN.ACCOUNTING.QUEUE", &[]),
    (Kind::QueueLocal, "SYSTEM.DEFAULT.INITIATION.QUEUE", &[]),
    (Kind::QueueLocal, "SYSTEM.CHANNEL.INITQ", &[]),
    (
        Kind::QueueLocal,
        "SYSTEM.RETAINED.PUB.QUEUE",
        &[("MAXDEPTH", "999999999"), ("MAXMSGL", "104857600"), ("MSGDLVSQ", "FIFO")],
    ),
    (
        Kind::QueueModel,
        "SYSTEM.DURABLE.MODEL.QUEUE",
        &[
            ("DEFTYPE", "PERMDYN"),
            ("MAXDEPTH", "999999999"),
            ("SHARE", "SHARE"),
            ("DEFSOPT", "SHARED"),
        ],
    ),
    (
        Kind::QueueModel,
        "SYSTEM.NDURABLE.MODEL.QUEUE",
        &[("MAXDEPTH", "999999999"), ("SHARE", "SHARE"), ("DEFSOPT", "SHARED")],
    ),
    (Kind::Process, "SYSTEM.DEFAULT.PROCESS", &[]),
    (Kind::Namelist, "SYSTEM.DEFAULT.NAMELIST", &[]),
    (Kind::Topic, "SYSTEM.DEFAULT.TOPIC", &[]),
    (
        Kind::Topic,
        "SYSTEM.BASE.TOPIC",
        &[
            ("PUB", "ENABLED"),
            ("SUB", "ENABLED"),
            ("DURSUB", "YES"),
            ("DEFPSIST", "NO"),
            ("DEFPRTY", "0"),
            ("DEFPRESP", "SYNC"),
            ("PMSGDLV", "ALLDUR"),
            ("NPMSGDLV", "ALLAVAIL"),
            ("MDURMDL", "SYSTEM.DURABLE.MODEL.QUEUE"),
            ("MNDURMDL", "SYSTEM.NDURABLE.MODEL.QUEUE"),
            ("USEDLQ", "YES"),
        ],
    ),
    (Kind::Channel, "SYSTEM.DEF.SVRCONN", &[("CHLTYPE", "SVRCONN")]),
    (Kind::Channel, "SYSTEM.DEF.SENDER", &[("CHLTYPE", "SDR"), ("DISCINT", "6000")]),
    (Kind::Channel, "SYSTEM.DEF.SERVER", &[("CHLTYPE", "SVR"), ("DISCINT", "6000")]),
    (Kind::Channel, "SYSTEM.DEF.RECEIVER", &[("CHLTYPE", "RCVR")]),
    (Kind::Channel, "SYSTEM.DEF.REQUESTER", &[("CHLTYPE", "RQSTR")]),
    (Kind::Listener, "SYSTEM.DEFAULT.LISTENER.TCP", &[]),
    (Kind::Service, "SYSTEM.DEFAULT.SERVICE", &[]),
    (Kind::AuthenticationInformation, "SYSTEM.DEFAULT.AUTHINFO.IDPWOS", &[]),
    (Kind::BufferPool, "00", &[]),
    (Kind::PageSet, "00", &[]),
    (Kind::StorageClass, "DEFAULT", &[]),
];

/// The channel authentication records of a queue manager that is new: no program comes in as an
/// administrator, and nobody by channels of the system. Names are composed as `SET CHLAUTH` does.
pub(crate) const RECORDS: &[(&str, Attributes)] = &[
    (
        "%2A/BLOCKUSER/////",
        &[
            ("CHLAUTH", "*"),
            ("TYPE", "BLOCKUSER"),
            ("DESCR", "No program comes in as an administrator"),
            ("USERLIST", "*MQADMIN"),
        ],
    ),
    (
        "SYSTEM.%2A/ADDRESSMAP/%2A////",
        &[
            ("CHLAUTH", "SYSTEM.*"),
            ("TYPE", "ADDRESSMAP"),
            ("DESCR", "Nobody comes in by channels of the system"),
            ("ADDRESS", "*"),
            ("USERSRC", "NOACCESS"),
        ],
    ),
    (
        "SYSTEM.ADMIN.SVRCONN/ADDRESSMAP/%2A////",
        &[
            ("CHLAUTH", "SYSTEM.ADMIN.SVRCONN"),
            ("TYPE", "ADDRESSMAP"),
            ("DESCR", "Tools of administrators, as the channel says"),
            ("ADDRESS", "*"),
            ("USERSRC", "CHANNEL"),
        ],
    ),
];

/// The object whose values a definition of that kind begins with.
pub(crate) fn object_of(kind: Kind) -> Option<&'static str> {
    Some(match kind {
        Kind::QueueLocal => "SYSTEM.DEFAULT.LOCAL.QUEUE",
        Kind::QueueAlias => "SYSTEM.DEFAULT.ALIAS.QUEUE",
        Kind::QueueRemote => "SYSTEM.DEFAULT.REMOTE.QUEUE",
        Kind::QueueModel => "SYSTEM.DEFAULT.MODEL.QUEUE",
        Kind::Process => "SYSTEM.DEFAULT.PROCESS",
        Kind::Namelist => "SYSTEM.DEFAULT.NAMELIST",
        Kind::Topic => "SYSTEM.DEFAULT.TOPIC",
        Kind::Listener => "SYSTEM.DEFAULT.LISTENER.TCP",
        Kind::Service => "SYSTEM.DEFAULT.SERVICE",
        _ => return None,
    })
}
