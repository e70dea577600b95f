//! The commands and their keywords: which there are, how they are abbreviated, what they take.
//!
//! Keywords that say where and how data lies on a mainframe's volumes are taken and mean nothing
//! here; they stand in [`PLACES`].

use crate::table::{Keyword, MANY, Table, flag, many, one, rows, sub, two};

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// DEFINE.
    Define,
    /// ALTER.
    Alter,
    /// DELETE.
    Delete,
    /// BLDINDEX.
    BuildIndex,
    /// REPRO.
    Repro,
    /// PRINT.
    Print,
    /// LISTCAT.
    ListCatalog,
    /// VERIFY.
    Verify,
    /// EXPORT.
    Export,
    /// IMPORT.
    Import,
    /// BACKUP.
    Backup,
    /// RESTORE.
    Restore,
    /// SNAP.
    Snap,
}

impl Verb {
    /// Its name in full.
    #[must_use]
    pub fn name(self) -> &'static str {
        let row = COMMANDS.iter().find(|row| row.verb == self);
        row.and_then(|row| row.names.first()).copied().unwrap_or_default()
    }
}

/// A command with its table.
pub(crate) struct Row {
    pub(crate) names: &'static [&'static str],
    pub(crate) verb: Verb,
    pub(crate) table: &'static Table,
}

/// Keywords of every definition that mean nothing here: places on volumes, passwords, classes.
static PLACES: &[Keyword] = &[
    two("CYLINDERS", &["CYL"]),
    two("TRACKS", &["TRK"]),
    two("RECORDS", &["REC"]),
    two("KILOBYTES", &["KB"]),
    two("MEGABYTES", &["MB"]),
    one("BUFFERSPACE", &["BUFSP", "BUFSPC"]),
    one("DEVICETYPES", &["DEVT", "DEVICETYPE"]),
    one("FILE", &[]),
    many("KEYRANGES", &["KRNG"]),
    flag("UNIQUE", &["UNQ"]),
    flag("SUBALLOCATION", &["SUBAL"]),
    many("USECLASS", &["USCL"]),
    many("DEFAULTVOLUMES", &["DFVOL"]),
    flag("NODEFAULTVOLUMES", &["NDFVOL"]),
    flag("REPLICATE", &["REPL"]),
    flag("NOREPLICATE", &["NREPL"]),
    flag("IMBED", &["IMBD"]),
    flag("NOIMBED", &["NIMBD"]),
    flag("ORDERED", &["ORD"]),
    flag("UNORDERED", &["UNORD"]),
    flag("WRITECHECK", &["WCK"]),
    flag("NOWRITECHECK", &["NWCK"]),
    flag("COMPRESSED", &["CMP"]),
    flag("NOCOMPRESS", &["NCMP"]),
    flag("STAGE", &[]),
    flag("BIND", &[]),
    one("ATTEMPTS", &["ATT"]),
    many("AUTHORIZATION", &["AUTH"]),
    one("CONTROLPW", &["CTLPW"]),
    one("MASTERPW", &["MRPW"]),
    one("READPW", &["RDPW"]),
    one("UPDATEPW", &["UPDPW"]),
    one("CODE", &[]),
    one("EXCEPTIONEXIT", &["EEXT"]),
    one("DATACLASS", &["DATACLAS"]),
    one("STORAGECLASS", &["STORCLAS"]),
    one("MANAGEMENTCLASS", &["MGMTCLAS"]),
    one("LOG", &[]),
    one("LOGSTREAMID", &["LSID"]),
    one("BWO", &[]),
    flag("RECATALOG", &["RCTLG"]),
    flag("NORECATALOG", &["NRCTLG"]),
    one("TO", &[]),
    one("FOR", &[]),
    many("CATALOG", &["CAT"]),
];

/// What a cluster, an alternate index and their parts have.
static ATTRIBUTES: &[Keyword] = &[
    one("NAME", &[]),
    two("KEYS", &[]),
    two("RECORDSIZE", &["RECSZ"]),
    one("CONTROLINTERVALSIZE", &["CISZ", "CNVSZ"]),
    two("FREESPACE", &["FSPC"]),
    two("SHAREOPTIONS", &["SHR"]),
    flag("REUSE", &["RUS"]),
    flag("NOREUSE", &["NRUS"]),
    flag("SPANNED", &["SPND"]),
    flag("NONSPANNED", &["NSPND"]),
    flag("SPEED", &[]),
    flag("RECOVERY", &["RCVY"]),
    flag("ERASE", &["ERAS"]),
    flag("NOERASE", &["NERAS"]),
    many("VOLUMES", &["VOL", "VOLUME"]),
    one("OWNER", &[]),
    many("MODEL", &[]),
];

static ATTRIBUTES_EXCLUDE: &[&[&str]] = &[
    &["INDEXED", "NONINDEXED", "NUMBERED", "LINEAR"],
    &["REUSE", "NOREUSE"],
    &["SPANNED", "NONSPANNED"],
    &["SPEED", "RECOVERY"],
    &["ERASE", "NOERASE"],
    &["CYLINDERS", "TRACKS", "RECORDS", "KILOBYTES", "MEGABYTES"],
    &["UNIQUEKEY", "NONUNIQUEKEY"],
    &["UPGRADE", "NOUPGRADE"],
    &["TO", "FOR"],
];

static ORGANIZATIONS: &[Keyword] = &[
    flag("INDEXED", &["IXD"]),
    flag("NONINDEXED", &["NIXD"]),
    flag("NUMBERED", &["NUMD"]),
    flag("LINEAR", &["LIN"]),
    one("RECORDMAP", &["RECMAP"]),
];

static INDEXES: &[Keyword] = &[
    one("RELATE", &["REL"]),
    flag("UNIQUEKEY", &["UNQK"]),
    flag("NONUNIQUEKEY", &["NUNQK"]),
    flag("UPGRADE", &["UPG"]),
    flag("NOUPGRADE", &["NUPG"]),
];

static CLUSTER: Table = Table {
    positional: (0, 0),
    keywords: &[ATTRIBUTES, ORGANIZATIONS, PLACES],
    exclusive: ATTRIBUTES_EXCLUDE,
    required: &[&["NAME"]],
};

static PART: Table = Table {
    positional: (0, 0),
    keywords: &[ATTRIBUTES, PLACES],
    exclusive: ATTRIBUTES_EXCLUDE,
    required: &[],
};

static ALTERNATE_INDEX: Table = Table {
    positional: (0, 0),
    keywords: &[ATTRIBUTES, INDEXES, PLACES],
    exclusive: ATTRIBUTES_EXCLUDE,
    required: &[&["NAME"], &["RELATE"]],
};

static PATH: Table = Table {
    positional: (0, 0),
    keywords: &[
        &[
            one("NAME", &[]),
            one("PATHENTRY", &["PENT"]),
            flag("UPDATE", &["UPD"]),
            flag("NOUPDATE", &["NUPD"]),
            one("OWNER", &[]),
            many("MODEL", &[]),
        ],
        PLACES,
    ],
    exclusive: &[&["UPDATE", "NOUPDATE"], &["TO", "FOR"]],
    required: &[&["NAME"], &["PATHENTRY"]],
};

static NONVSAM: Table = Table {
    positional: (0, 0),
    keywords: &[
        &[
            one("NAME", &[]),
            many("VOLUMES", &["VOL", "VOLUME"]),
            one("PATHNAME", &[]),
            many("FILESEQUENCENUMBERS", &["FSEQN"]),
            flag("COLLECTION", &["CLN"]),
            one("OWNER", &[]),
        ],
        PLACES,
    ],
    exclusive: &[&["TO", "FOR"]],
    required: &[&["NAME"]],
};

static GROUP: Table = Table {
    positional: (0, 0),
    keywords: &[
        &[
            one("NAME", &[]),
            one("LIMIT", &["LIM"]),
            flag("EMPTY", &["EMP"]),
            flag("NOEMPTY", &["NEMP"]),
            flag("SCRATCH", &["SCR"]),
            flag("NOSCRATCH", &["NSCR"]),
            flag("LIFO", &[]),
            flag("FIFO", &[]),
            flag("PURGE", &["PRG"]),
            flag("NOPURGE", &["NPRG"]),
            flag("EXTENDED", &["EXT"]),
            flag("NOEXTENDED", &["NOEXT"]),
            one("OWNER", &[]),
        ],
        PLACES,
    ],
    exclusive: &[&["EMPTY", "NOEMPTY"], &["SCRATCH", "NOSCRATCH"], &["LIFO", "FIFO"]],
    required: &[&["NAME"], &["LIMIT"]],
};

static CATALOG: Table = Table {
    positional: (0, 0),
    keywords: &[
        ATTRIBUTES,
        &[flag("ICFCATALOG", &["ICFCAT"]), flag("VSAMCATALOG", &["VSAMCAT"])],
        PLACES,
    ],
    exclusive: ATTRIBUTES_EXCLUDE,
    required: &[&["NAME"]],
};

static ALIAS: Table = Table {
    positional: (0, 0),
    keywords: &[
        &[one("NAME", &[]), one("RELATE", &["REL"]), one("SYMBOLICRELATE", &["SYMREL"])],
        PLACES,
    ],
    exclusive: &[&["RELATE", "SYMBOLICRELATE"]],
    required: &[&["NAME"], &["RELATE"]],
};

static SPACE: Table = Table {
    positional: (0, 0),
    keywords: &[
        ATTRIBUTES,
        &[flag("CANDIDATE", &["CAN"]), many("RECORDFORMAT", &["RECFM"])],
        PLACES,
    ],
    exclusive: &[],
    required: &[],
};

const IN_CATALOG: Keyword = many("CATALOG", &["CAT"]);

macro_rules! definitions {
    ($($table:ident $name:literal $short:expr, $of:ident;)*) => {
        $(static $table: Table = Table {
            positional: (0, 0),
            keywords: &[&[
                sub($name, $short, &$of),
                sub("DATA", &[], &PART),
                sub("INDEX", &["IX"], &PART),
                IN_CATALOG,
            ]],
            exclusive: &[],
            required: &[&[$name]],
        };)*
        static DEFINITIONS: &[(&str, &[&str], &Table)] = &[$(($name, $short, &$table)),*];
    };
}

definitions! {
    DEFINE_CLUSTER "CLUSTER" &["CL"], CLUSTER;
    DEFINE_INDEX "ALTERNATEINDEX" &["AIX"], ALTERNATE_INDEX;
    DEFINE_PATH "PATH" &[], PATH;
    DEFINE_NONVSAM "NONVSAM" &["NVSAM"], NONVSAM;
    DEFINE_GROUP "GENERATIONDATAGROUP" &["GDG"], GROUP;
    DEFINE_CATALOG "USERCATALOG" &["UCAT", "MASTERCATALOG", "MCAT"], CATALOG;
    DEFINE_ALIAS "ALIAS" &[], ALIAS;
    DEFINE_SPACE "SPACE" &["SPC"], SPACE;
}

/// The table for what DEFINE is followed by.
pub(crate) fn define_table(word: &str) -> Option<(&'static str, &'static Table)> {
    let mut all = DEFINITIONS.iter();
    all.find(|(name, short, _)| *name == word || short.contains(&word))
        .map(|(name, _, table)| (*name, *table))
}

/// A file by its DD name, with what VSE says of its form.
static OF_FILE: Table = Table {
    positional: (1, 1),
    keywords: &[&[sub("ENVIRONMENT", &["ENV"], &ENVIRONMENT)]],
    exclusive: &[],
    required: &[],
};

static ENVIRONMENT: Table = Table {
    positional: (0, 0),
    keywords: &[&[
        one("RECORDFORMAT", &["RECFM"]),
        two("RECORDSIZE", &["RECSZ"]),
        one("BLOCKSIZE", &["BLKSZ"]),
        one("PRIMEDATADEVICE", &["PDEV"]),
        flag("NOLABEL", &["NLBL"]),
        flag("STDLABEL", &["SLBL"]),
        flag("NOREWIND", &["NRWND"]),
        flag("REWIND", &["RWND"]),
        flag("UNLOAD", &["UNLD"]),
        flag("DUMMY", &["DUM"]),
    ]],
    exclusive: &[],
    required: &[],
};

static INPUT: &[Keyword] = &[sub("INFILE", &["IFILE"], &OF_FILE), one("INDATASET", &["IDS"])];

static OUTPUT: &[Keyword] = &[sub("OUTFILE", &["OFILE"], &OF_FILE), one("OUTDATASET", &["ODS"])];

/// Which records, of REPRO and PRINT.
static RANGES: &[Keyword] = &[
    one("FROMKEY", &["FKEY"]),
    one("FROMADDRESS", &["FADDR"]),
    one("FROMNUMBER", &["FNUM"]),
    one("SKIP", &[]),
    one("TOKEY", &["TKEY"]),
    one("TOADDRESS", &["TADDR"]),
    one("TONUMBER", &["TNUM"]),
    one("COUNT", &[]),
];

static FROM: &[&str] = &["FROMKEY", "FROMADDRESS", "FROMNUMBER", "SKIP"];
static TO: &[&str] = &["TOKEY", "TOADDRESS", "TONUMBER", "COUNT"];
static IN: &[&str] = &["INFILE", "INDATASET"];
static OUT: &[&str] = &["OUTFILE", "OUTDATASET"];

static BLDINDEX: Table = Table {
    positional: (0, 0),
    keywords: &[
        INPUT,
        &[
            many("OUTFILE", &["OFILE"]),
            many("OUTDATASET", &["ODS"]),
            flag("EXTERNALSORT", &["ESORT"]),
            flag("INTERNALSORT", &["ISORT"]),
            many("WORKFILES", &["WFILE"]),
            many("WORKVOLUMES", &["WVOL"]),
            flag("SORTCALL", &[]),
            flag("NOSORTCALL", &[]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[IN, OUT, &["EXTERNALSORT", "INTERNALSORT"]],
    required: &[IN, OUT],
};

static REPRO: Table = Table {
    positional: (0, 0),
    keywords: &[
        INPUT,
        OUTPUT,
        RANGES,
        &[
            flag("REPLACE", &["REP"]),
            flag("NOREPLACE", &["NREP"]),
            flag("REUSE", &["RUS"]),
            flag("NOREUSE", &["NRUS"]),
            one("ERRORLIMIT", &["ELIMIT"]),
            flag("FROMEBCDIC", &[]),
            flag("TOEBCDIC", &[]),
            one("RECORDMAP", &["RECMAP"]),
            one("CODEPAGE", &[]),
            one("COMMIT", &[]),
        ],
    ],
    exclusive: &[
        IN,
        OUT,
        FROM,
        TO,
        &["REPLACE", "NOREPLACE"],
        &["REUSE", "NOREUSE"],
        &["FROMEBCDIC", "TOEBCDIC"],
    ],
    required: &[IN, OUT],
};

static PRINT: Table = Table {
    positional: (0, 0),
    keywords: &[
        INPUT,
        RANGES,
        &[
            one("OUTFILE", &["OFILE"]),
            flag("CHARACTER", &["CHAR"]),
            flag("HEX", &[]),
            flag("DUMP", &[]),
            flag("FIELDS", &[]),
            one("CODEPAGE", &[]),
        ],
    ],
    exclusive: &[IN, FROM, TO, &["CHARACTER", "HEX", "DUMP", "FIELDS"]],
    required: &[IN],
};

/// Kinds of entries, of LISTCAT and DELETE.
static KINDS: &[Keyword] = &[
    flag("ALIAS", &[]),
    flag("ALTERNATEINDEX", &["AIX"]),
    flag("CLUSTER", &["CL"]),
    flag("GENERATIONDATAGROUP", &["GDG"]),
    flag("NONVSAM", &["NVSAM"]),
    flag("PATH", &[]),
    flag("SPACE", &["SPC"]),
    flag("USERCATALOG", &["UCAT"]),
];

/// The names of [`KINDS`].
pub(crate) static KIND_NAMES: &[&str] = &[
    "ALIAS",
    "ALTERNATEINDEX",
    "CLUSTER",
    "GENERATIONDATAGROUP",
    "NONVSAM",
    "PATH",
    "SPACE",
    "USERCATALOG",
];

static LISTCAT: Table = Table {
    positional: (0, 0),
    keywords: &[
        KINDS,
        &[
            flag("DATA", &[]),
            flag("INDEX", &["IX"]),
            many("ENTRIES", &["ENT"]),
            many("LEVEL", &["LVL"]),
            one("OUTFILE", &["OFILE"]),
            one("FILE", &[]),
            flag("NAME", &[]),
            flag("HISTORY", &["HIST"]),
            flag("VOLUME", &["VOL"]),
            flag("ALLOCATION", &["ALLOC"]),
            flag("ALL", &[]),
            one("CREATION", &["CREAT"]),
            one("EXPIRATION", &["EXPIR"]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[&["ENTRIES", "LEVEL"], &["NAME", "HISTORY", "VOLUME", "ALLOCATION", "ALL"]],
    required: &[],
};

static VERIFY: Table = Table {
    positional: (0, 0),
    keywords: &[&[one("FILE", &[]), one("DATASET", &["DS"]), flag("RECOVER", &[]), IN_CATALOG]],
    exclusive: &[&["FILE", "DATASET"]],
    required: &[&["FILE", "DATASET"]],
};

static DELETE: Table = Table {
    positional: (1, MANY),
    keywords: &[
        KINDS,
        &[
            flag("ERASE", &["ERAS"]),
            flag("NOERASE", &["NERAS"]),
            flag("FORCE", &["FRC"]),
            flag("NOFORCE", &["NFRC"]),
            flag("PURGE", &["PRG"]),
            flag("NOPURGE", &["NPRG"]),
            flag("SCRATCH", &["SCR"]),
            flag("NOSCRATCH", &["NSCR"]),
            flag("MASK", &[]),
            flag("NOMASK", &[]),
            flag("IGNORERROR", &["IGNERR", "IGNOREERROR"]),
            one("FILE", &[]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[
        KIND_NAMES,
        &["ERASE", "NOERASE"],
        &["FORCE", "NOFORCE"],
        &["PURGE", "NOPURGE"],
        &["SCRATCH", "NOSCRATCH"],
        &["MASK", "NOMASK"],
    ],
    required: &[],
};

/// What NULLIFY takes back.
static NULLIFY: Table = Table {
    positional: (0, 0),
    keywords: &[&[
        flag("OWNER", &[]),
        flag("RETENTION", &["RETN"]),
        flag("RECORDMAP", &["RECMAP"]),
        flag("AUTHORIZATIONMODULE", &["AUTHMOD"]),
        flag("CODE", &[]),
        flag("CONTROLPW", &["CTLPW"]),
        flag("EXCEPTIONEXIT", &["EEXT"]),
        flag("MASTERPW", &["MRPW"]),
        flag("READPW", &["RDPW"]),
        flag("STRING", &["STRG"]),
        flag("UPDATEPW", &["UPDPW"]),
    ]],
    exclusive: &[],
    required: &[],
};

static ALTER: Table = Table {
    positional: (1, 1),
    keywords: &[
        ATTRIBUTES,
        INDEXES,
        &[
            one("NEWNAME", &["NEWNM"]),
            sub("NULLIFY", &["NULL"], &NULLIFY),
            many("ADDVOLUMES", &["AVOL"]),
            many("REMOVEVOLUMES", &["RVOL"]),
            flag("UPDATE", &["UPD"]),
            flag("NOUPDATE", &["NUPD"]),
            flag("INHIBIT", &["INH"]),
            flag("UNINHIBIT", &["UNINH"]),
            one("LIMIT", &["LIM"]),
            flag("EMPTY", &["EMP"]),
            flag("NOEMPTY", &["NEMP"]),
            flag("SCRATCH", &["SCR"]),
            flag("NOSCRATCH", &["NSCR"]),
            one("RECORDMAP", &["RECMAP"]),
        ],
        PLACES,
    ],
    exclusive: &[
        &["INHIBIT", "UNINHIBIT"],
        &["UPDATE", "NOUPDATE"],
        &["UPGRADE", "NOUPGRADE"],
        &["UNIQUEKEY", "NONUNIQUEKEY"],
        &["EMPTY", "NOEMPTY"],
        &["SCRATCH", "NOSCRATCH"],
        &["ERASE", "NOERASE"],
        &["TO", "FOR"],
    ],
    required: &[],
};

static EXPORT: Table = Table {
    positional: (1, 1),
    keywords: &[
        OUTPUT,
        &[
            flag("DISCONNECT", &["DCON"]),
            flag("TEMPORARY", &["TEMP"]),
            flag("PERMANENT", &["PERM"]),
            flag("ERASE", &["ERAS"]),
            flag("NOERASE", &["NERAS"]),
            flag("PURGE", &["PRG"]),
            flag("NOPURGE", &["NPRG"]),
            flag("INHIBITSOURCE", &["INHS"]),
            flag("NOINHIBITSOURCE", &["NINHS"]),
            flag("INHIBITTARGET", &["INHT"]),
            flag("NOINHIBITTARGET", &["NINHT"]),
            flag("CIMODE", &["CIM"]),
            flag("RECORDMODE", &["RECM"]),
            one("INFILE", &["IFILE"]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[
        &["OUTFILE", "OUTDATASET", "DISCONNECT"],
        &["TEMPORARY", "PERMANENT"],
        &["INHIBITSOURCE", "NOINHIBITSOURCE"],
        &["INHIBITTARGET", "NOINHIBITTARGET"],
    ],
    required: &[&["OUTFILE", "OUTDATASET", "DISCONNECT"]],
};

/// An object with a new name.
static OBJECT: Table = Table {
    positional: (1, 1),
    keywords: &[&[
        one("NEWNAME", &["NEWNM"]),
        many("VOLUMES", &["VOL", "VOLUME"]),
        one("DEVICETYPE", &["DEVT"]),
        many("KEYRANGES", &["KRNG"]),
        one("FILE", &[]),
        flag("ORDERED", &["ORD"]),
        flag("UNORDERED", &["UNORD"]),
    ]],
    exclusive: &[],
    required: &[],
};

static IMPORT: Table = Table {
    positional: (0, 0),
    keywords: &[
        INPUT,
        OUTPUT,
        &[
            flag("CONNECT", &["CON"]),
            flag("INTOEMPTY", &["IEMPTY"]),
            rows("OBJECTS", &["OBJ"], &OBJECT),
            flag("ERASE", &["ERAS"]),
            flag("NOERASE", &["NERAS"]),
            flag("PURGE", &["PRG"]),
            flag("NOPURGE", &["NPRG"]),
            flag("ALIAS", &[]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[&["INFILE", "INDATASET", "CONNECT"], OUT],
    required: &[&["INFILE", "INDATASET", "CONNECT"]],
};

/// A name and the one that takes its place.
static PAIR: Table = Table { positional: (2, 2), keywords: &[], exclusive: &[], required: &[] };

static BACKUP: Table = Table {
    positional: (1, MANY),
    keywords: &[OUTPUT, &[many("EXCLUDE", &["EXCL"]), IN_CATALOG]],
    exclusive: &[OUT],
    required: &[OUT],
};

static RESTORE: Table = Table {
    positional: (0, 0),
    keywords: &[
        INPUT,
        &[
            rows("OBJECTS", &["OBJ"], &OBJECT),
            rows("SYNONYM", &["SYN"], &PAIR),
            many("EXCLUDE", &["EXCL"]),
            flag("REPLACE", &["REP"]),
            flag("NOREPLACE", &["NREP"]),
            IN_CATALOG,
        ],
    ],
    exclusive: &[IN, &["REPLACE", "NOREPLACE"]],
    required: &[IN],
};

static SNAP: Table = Table {
    positional: (0, 0),
    keywords: &[&[
        many("SOURCE", &["SRC"]),
        rows("SYNONYM", &["SYN"], &PAIR),
        many("EXCLUDE", &["EXCL"]),
        flag("REPLACE", &["REP"]),
        flag("NOREPLACE", &["NREP"]),
        IN_CATALOG,
    ]],
    exclusive: &[&["REPLACE", "NOREPLACE"]],
    required: &[&["SOURCE"], &["SYNONYM"]],
};

/// Every command.
pub(crate) static COMMANDS: &[Row] = &[
    Row { names: &["DEFINE", "DEF"], verb: Verb::Define, table: &DEFINE_CLUSTER },
    Row { names: &["ALTER"], verb: Verb::Alter, table: &ALTER },
    Row { names: &["DELETE", "DEL"], verb: Verb::Delete, table: &DELETE },
    Row { names: &["BLDINDEX", "BIX"], verb: Verb::BuildIndex, table: &BLDINDEX },
    Row { names: &["REPRO"], verb: Verb::Repro, table: &REPRO },
    Row { names: &["PRINT"], verb: Verb::Print, table: &PRINT },
    Row { names: &["LISTCAT", "LISTC"], verb: Verb::ListCatalog, table: &LISTCAT },
    Row { names: &["VERIFY", "VFY"], verb: Verb::Verify, table: &VERIFY },
    Row { names: &["EXPORT", "EXP"], verb: Verb::Export, table: &EXPORT },
    Row { names: &["IMPORT", "IMP"], verb: Verb::Import, table: &IMPORT },
    Row { names: &["BACKUP"], verb: Verb::Backup, table: &BACKUP },
    Row { names: &["RESTORE"], verb: Verb::Restore, table: &RESTORE },
    Row { names: &["SNAP"], verb: Verb::Snap, table: &SNAP },
];
