//! A shop's databases over a store in memory, and programs that call by hand.
#![allow(dead_code)] // each test uses a part
#![allow(clippy::disallowed_methods)] // tests write and read files as their users do

pub(crate) mod memory_messages;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use definitions::resolve::Definitions;
use definitions::{Dbd, DbdName, Function, MemberName, Psb, PsbName};
use dli_model::Setup;
use gsam::FileSpec;
use hierarchy::Database;
use holdfast_schedule::{
    Catalogs, Environment, Intents, Options, PoolFigures, Pools, Schedule, ScheduleError,
};
use placement::{PartitionSettings, Placement, Settings};
use region::{Abend, Client, DirectAnswer, DirectCall, Embedded, Ending};
use seam::Seam;
use store::{Read, Store, Unit, UnitOptions};
use store_suite::model::ModelStore;

/// The databases of the shop.
const DBDS: &str = "
         DBD   NAME=SHOPDB,ACCESS=(HDAM,OSAM),RMNAME=(HASHER,1,10)
         DATASET DD1=SHOPDD
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=20
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=4
         SEGM  NAME=ORDER,PARENT=CUSTOMER,BYTES=10
         FIELD NAME=(ORDNO,SEQ,U),START=1,BYTES=2
         DBDGEN
         DBD   NAME=HISTDB,ACCESS=(PHIDAM,OSAM)
         SEGM  NAME=DAY,PARENT=0,BYTES=6
         FIELD NAME=(DATE,SEQ,U),START=1,BYTES=3
         FIELD NAME=KIND,START=4,BYTES=3
         LCHILD NAME=(KINDKEY,KINDIX),PTR=INDX
         XDFLD NAME=XKIND,SRCH=KIND
         SEGM  NAME=DEED,PARENT=DAY,BYTES=2
         FIELD NAME=(NUMBER,SEQ,U),START=1,BYTES=2
         DBDGEN
         DBD   NAME=KINDIX,ACCESS=(PSINDEX,VSAM)
         SEGM  NAME=KINDKEY,PARENT=0,BYTES=3
         FIELD NAME=(KEY,SEQ,U),START=1,BYTES=3
         LCHILD NAME=(DAY,HISTDB),INDEX=XKIND
         DBDGEN
         DBD   NAME=ORDERS,ACCESS=(GSAM,BSAM)
         DATASET DD1=INFILE,RECFM=F,RECORD=4
         DBDGEN
         DBD   NAME=BILLS,ACCESS=(GSAM,BSAM)
         DATASET DD2=OUTFILE,RECFM=F,RECORD=4
         DBDGEN
";

/// PCB 1 the database, PCB 2 the orders, PCB 3 the bills.
pub(crate) const CLERK: &str = "
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ORDER,PARENT=CUSTOMER
         PCB   TYPE=GSAM,DBDNAME=ORDERS,PROCOPT=G
         PCB   TYPE=GSAM,DBDNAME=BILLS,PROCOPT=LS
         PSBGEN LANG=COBOL,PSBNAME=CLERK,CMPAT=YES
";

/// The database alone, and an alternate PCB as number 1.
pub(crate) const ALONE: &str = "
         PCB   TYPE=TP,LTERM=PRINTER
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=AP,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ORDER,PARENT=CUSTOMER
         PSBGEN LANG=COBOL,PSBNAME=ALONE
";

/// A load.
pub(crate) const LOADER: &str = "
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=L,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ORDER,PARENT=CUSTOMER
         PSBGEN LANG=COBOL,PSBNAME=LOADER
";

/// A database of days in four partitions: named PCBs, with an alternate one in front of them, and
/// one over the index of kinds, which has partitions of its own.
pub(crate) const HISTORY: &str = "
         PCB   TYPE=TP,LTERM=PRINTER
DAYS     PCB   TYPE=DB,DBDNAME=HISTDB,PROCOPT=AP,KEYLEN=5
         SENSEG NAME=DAY,PARENT=0
         SENSEG NAME=DEED,PARENT=DAY
         PCB   TYPE=DB,DBDNAME=SHOPDB,PROCOPT=G,KEYLEN=6
         SENSEG NAME=CUSTOMER,PARENT=0
KINDS    PCB   TYPE=DB,DBDNAME=HISTDB,PROCOPT=G,KEYLEN=5,PROCSEQ=KINDIX
         SENSEG NAME=DAY,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=HISTORY
";

struct Members(Vec<Arc<Dbd>>, Arc<Psb>);

impl Definitions for Members {
    fn dbd(&self, name: DbdName) -> Option<Arc<Dbd>> {
        self.0.iter().find(|dbd| dbd.name == name).cloned()
    }

    fn psb(&self, name: PsbName) -> Option<Arc<Psb>> {
        Some(&self.1).filter(|psb| psb.name == name).cloned()
    }

    fn referring(&self, _dbd: DbdName) -> Vec<MemberName> {
        Vec::new()
    }
}

/// Two pools that have done something.
struct TwoPools;

impl Pools for TwoPools {
    fn figures(&self) -> Vec<PoolFigures> {
        let pool = |name: &str, reads| PoolFigures {
            name: name.to_owned(),
            reads,
            ..PoolFigures::default()
        };
        vec![pool("small", 7), pool("large", 35)]
    }
}

/// The shop.
pub(crate) struct Shop {
    pub(crate) store: ModelStore,
    pub(crate) folder: PathBuf,
    pub(crate) intents: Arc<Intents>,
    pub(crate) catalogs: Arc<Catalogs<ModelStore>>,
    /// What PSBGEN says besides the PCBs.
    pub(crate) limits: fn(&mut Psb),
}

impl Shop {
    /// An empty one, with a folder of its own.
    pub(crate) fn new(test: &str) -> Shop {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("schedule-{test}"));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Shop {
            store: ModelStore::new(),
            folder,
            intents: Arc::default(),
            catalogs: Arc::default(),
            limits: |_| (),
        }
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.folder.join(name), bytes).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap_or_default()
    }

    /// Schedules a PSB.
    pub(crate) fn schedule(
        &self,
        psb: &str,
        options: Options,
    ) -> Result<Schedule<ModelStore>, ScheduleError> {
        let setup = Setup::from_source(&format!("{DBDS}{psb}")).expect("sources");
        let mut source = Psb::new(setup.psb.name);
        (self.limits)(&mut source);
        let members = Members(setup.dbds.clone(), Arc::new(source));
        let mut opened: BTreeMap<DbdName, Arc<Database>> = BTreeMap::new();
        let mut open = |name: DbdName| {
            if let Some(known) = opened.get(&name) {
                return Ok(Arc::clone(known));
            }
            let mut database = Database::open(&self.store, name, &members, &mut placed)?;
            database.heed_offline(&self.store)?;
            Ok(Arc::clone(opened.entry(name).or_insert_with(|| Arc::new(database))))
        };
        let file = |dd: &str| {
            let name = match dd {
                "INFILE" => "orders",
                "OUTFILE" => "bills",
                "DFSHALDB" if self.folder.join("haldb").exists() => "haldb",
                _ => return None,
            };
            Some(FileSpec { path: self.folder.join(name), text: false })
        };
        let environment = Environment {
            store: &self.store,
            seam: &Seam::real(),
            psb: &setup.psb,
            definitions: &members,
            open: &mut open,
            files: &file,
            pools: Arc::new(TwoPools),
            intents: &self.intents,
            catalogs: &self.catalogs,
        };
        Schedule::new(environment, options)
    }

    /// A database, as utilities see it.
    pub(crate) fn open(&self, psb: &str, name: &str) -> Database {
        let setup = Setup::from_source(&format!("{DBDS}{psb}")).expect("sources");
        let members = Members(setup.dbds.clone(), Arc::new(Psb::new(setup.psb.name)));
        let name = DbdName::new(name).expect("a name");
        Database::open(&self.store, name, &members, &mut placed).expect("a database")
    }

    /// A program with a PSB.
    pub(crate) fn program(&self, psb: &str) -> Caller {
        self.program_with(psb, Options::default())
    }

    pub(crate) fn program_with(&self, psb: &str, options: Options) -> Caller {
        let schedule = self.schedule(psb, options).expect("a schedule");
        Caller(Client::new(Box::new(Embedded::new(Box::new(schedule)))))
    }

    /// Everything in a set.
    pub(crate) fn entries(&self, set: &str) -> Vec<Vec<u8>> {
        let Some(set) = self.store.set(set).expect("a store") else { return Vec::new() };
        let mut unit = self.store.begin(UnitOptions::READ_ONLY).expect("a unit");
        let mut cursor = self.store.cursor(set).expect("a cursor");
        let mut entries = Vec::new();
        while let Some(entry) = unit.next(&mut cursor, Read::Shared).expect("an entry") {
            entries.push(entry.value.to_vec());
        }
        entries
    }

    /// The keys of the customers.
    pub(crate) fn customers(&self) -> Vec<String> {
        let mut caller = self.program(ALONE);
        let mut keys = Vec::new();
        loop {
            let answer = caller.get(2, b"GN  ", &[b"CUSTOMER "]);
            if answer.status != *b"  " {
                caller.end().expect("an end");
                keys.sort();
                return keys;
            }
            keys.push(String::from_utf8_lossy(&answer.key).into_owned());
        }
    }
}

/// Where partitions of days and of kinds end.
const ENDS: [(&str, [&str; 4]); 2] =
    [("HISTDB", ["200", "400", "600", "800"]), ("KINDIX", ["K20", "K40", "K60", "K80"])];

fn placed(dbd: &Dbd) -> hierarchy::Result<Placement> {
    let mut none = |_: &str| Err(std::io::Error::other("no files here"));
    let mut settings = Settings::default();
    for (database, ends) in ENDS {
        let own = settings.databases.entry(database.into()).or_default();
        let partition = |(number, end): (usize, &&str)| PartitionSettings {
            name: format!("{}{}", &database[..1], number + 1),
            high_key: Some((*end).to_owned()),
            ..PartitionSettings::default()
        };
        own.partitions = ends.iter().enumerate().map(partition).collect();
    }
    let placement = Placement::new(dbd, &settings, &mut none);
    placement.map_err(|error| Arc::new(error).into())
}

/// A program that calls.
pub(crate) struct Caller(pub(crate) Client);

impl Caller {
    pub(crate) fn call(
        &mut self,
        pcb: usize,
        function: &[u8; 4],
        area: Option<&[u8]>,
        (ssas, more): (&[&[u8]], &[&[u8]]),
    ) -> Result<DirectAnswer, Abend> {
        let room = area.map_or(0, <[u8]>::len);
        self.0.call(&DirectCall { function: Function::of(*function), pcb, ssas, more, area, room })
    }

    pub(crate) fn get(&mut self, pcb: usize, function: &[u8; 4], ssas: &[&[u8]]) -> DirectAnswer {
        self.call(pcb, function, Some(&[b'.'; 64]), (ssas, &[])).expect("an answer")
    }

    /// The status of a call of the I/O PCB.
    #[track_caller]
    pub(crate) fn service(&mut self, function: &[u8; 4], area: &[u8], more: &[&[u8]]) -> String {
        self.status(0, function, Some(area), more)
    }

    #[track_caller]
    pub(crate) fn status(
        &mut self,
        pcb: usize,
        function: &[u8; 4],
        area: Option<&[u8]>,
        more: &[&[u8]],
    ) -> String {
        match self.call(pcb, function, area, (&[], more)) {
            Ok(answer) => String::from_utf8_lossy(&answer.status).into_owned(),
            Err(abend) => abend.code,
        }
    }

    /// Inserts a customer.
    #[track_caller]
    pub(crate) fn customer(&mut self, pcb: usize, key: &str) {
        assert_eq!(self.customer_status(pcb, key), "  ");
    }

    pub(crate) fn customer_status(&mut self, pcb: usize, key: &str) -> String {
        let area = format!("{key:<20}");
        let answer = self.call(pcb, b"ISRT", Some(area.as_bytes()), (&[b"CUSTOMER "], &[]));
        match answer {
            Ok(answer) => String::from_utf8_lossy(&answer.status).into_owned(),
            Err(abend) => abend.code,
        }
    }

    pub(crate) fn end(&mut self) -> Result<(), Abend> {
        self.0.end(Ending::Normal)
    }

    pub(crate) fn abend(mut self) {
        self.0.end(Ending::Abend).expect("a backout");
    }
}
