//! COBOL programs over clusters of the catalog: their files and their calls in one unit of work.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use holdfast_schedule::{Options, RegionKind};
use region::bmp::{self, Connection, Door};
use region::host::{self, Ended};
use region::program::{Library, Prepared, Workshop};
use region::{Dd, Failure, Files, Preprocessor, Server, guest};
use seam::Seam;
use vsam::{
    AlternateIndexAttributes, ClusterAttributes, DataSetName, Definition, KeyField, PathAttributes,
};

use crate::support::{ALONE, Shop};

const FOLDER: &str = "HOLDFAST_TEST_DATA_SETS";
/// Longer than any program of a test takes on any machine.
const LONG: Duration = Duration::from_secs(600);

/// Not a test: what the process of the program does.
#[test]
fn program_process() {
    let Some(folder) = std::env::var_os(FOLDER).map(PathBuf::from) else { return };
    let connection = Connection::open(&folder.join("socket"), b"ledger").expect("a connection");
    let program = ledger();
    let (entry, order, parm, trace, commands) = (None, None, None, None, None);
    guest::run(Box::new(connection), guest::Job { program, entry, order, parm, trace, commands })
}

fn ledger() -> Prepared {
    let disk = Seam::real().disk;
    let cache = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schedule-data-sets");
    disk.create_dir(&cache).expect("a cache");
    let workshop = Workshop {
        disk: &*disk,
        cache,
        copy_folders: Vec::new(),
        translate: &Preprocessor::default(),
        options: Vec::new(),
    };
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/ledger.cbl");
    workshop.prepare(&source).unwrap_or_else(|error| panic!("{error}"))
}

/// The shop as a system that programs connect to.
struct Hall(Shop);

impl bmp::Schedule for Hall {
    fn schedule(&self, _job: &[u8]) -> Result<Box<dyn Server>, Failure> {
        let options = Options { kind: RegionKind::Bmp, owner: 1, ..Options::default() };
        let schedule = self.0.schedule(ALONE, options).map_err(|error| error.failure())?;
        Ok(Box::new(schedule))
    }
}

fn named(name: &str) -> DataSetName {
    DataSetName::parse(name).expect("a name")
}

/// A cluster with an index by name, which no DD names.
fn define(shop: &Shop) {
    let catalog = shop.catalogs.get(&shop.store, &Seam::real().clock).expect("a catalog");
    let define = |name: &str, definition| {
        catalog.define(&named(name), definition, None).unwrap_or_else(|error| panic!("{error}"));
    };
    let cluster = ClusterAttributes::keyed(KeyField { offset: 0, bytes: 4 }, 20);
    define("SHOP.ACCOUNT", Definition::Cluster(cluster));
    let key = KeyField { offset: 4, bytes: 4 };
    let index = AlternateIndexAttributes::new(named("SHOP.ACCOUNT"), key);
    let index = AlternateIndexAttributes { unique: false, upgrade: true, ..index };
    define("SHOP.BYNAME", Definition::AlternateIndex(index));
    catalog.build_index(&named("SHOP.BYNAME")).expect("an index");
    let path = PathAttributes { entry: named("SHOP.BYNAME"), update: true };
    define("SHOP.NAMES", Definition::Path(path));
}

struct Stage {
    hall: Arc<Hall>,
    folder: PathBuf,
}

impl Stage {
    fn new(test: &str) -> Stage {
        let shop = Shop::new(test);
        define(&shop);
        let folder = shop.folder.clone();
        Stage { hall: Arc::new(Hall(shop)), folder }
    }

    /// Runs the program with these cards; what it displayed, and how it ended.
    fn run(&self, cards: &[&str]) -> (String, Ended) {
        let seam = Seam::real();
        let door = Door::open(&self.folder.join("socket"), Arc::clone(&self.hall) as _);
        let door = door.expect("a door");
        let path = |name: &str| self.folder.join(name);
        let text = cards.join("\n") + "\n";
        seam::fresh::replace_small(&*seam.disk, &path("sysin"), text.as_bytes()).expect("cards");
        let dds = [
            format!("SYSIN={}", path("sysin").display()),
            format!("SYSOUT={}", path("sysout").display()),
            format!("LISTING={}", path("listing").display()),
            format!("SLOTS={}", path("slots").display()),
            format!("PAGES={}", path("pages").display()),
            "ACCOUNT=//SHOP.ACCOUNT".to_owned(),
        ];
        let dds: Vec<Dd> = dds.iter().map(|dd| Dd::parse(dd).expect("a DD")).collect();
        let library = Library::default();
        let files = Files::prepare(&*seam.disk, &dds, &[], &library, &self.folder).expect("files");
        let mut command = Command::new(std::env::current_exe().expect("this executable"));
        let name = "data_sets::program_process";
        command.args([name, "--exact", "--nocapture", "--test-threads=1"]);
        command.env(FOLDER, &self.folder);
        let mut watch = None;
        let begun = |process| watch = Some(seam::process::Watch::over(process, LONG));
        let report = host::run(&mut command, &files, begun).expect("a process");
        drop(watch);
        door.close();
        let printed = read(&path("sysout"));
        // The harness of the tests writes to the same output.
        let from = printed.find("running 1 test").map_or(0, |at| at + "running 1 test\n".len());
        let printed =
            printed[from..].trim_start().replace("test data_sets::program_process ... ", "");
        let lines = printed.lines().map(|line| format!("{}\n", line.trim_end()));
        (lines.collect(), report.ended)
    }
}

fn read(path: &Path) -> String {
    let bytes = seam::disk::read_small(&*Seam::real().disk, path, 1 << 20).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn have_cobol() -> bool {
    seam::process::output(Command::new("cobc").arg("--version"), LONG).is_ok()
}

#[test]
fn files_and_calls_are_committed_and_backed_out_together() {
    if !have_cobol() {
        return;
    }
    let stage = Stage::new("data-sets-one");
    let cards = [
        "O",
        "N",
        "O",
        "W AA01ANNA",
        "C",
        "W BB01BERT",
        "B",
        "W CC01ANNA",
        "L",
        "R     ANNA",
        "X",
        "X",
        "Q",
        "E",
    ];
    let (printed, ended) = stage.run(&cards);
    let expected = "\
OPEN 35
NEW 00
OPEN 35
";
    assert!(printed.starts_with(expected), "{printed}");
    assert_eq!(ended, Ended::Normal { return_code: 0 });
}

#[test]
fn a_program_changes_clusters_and_databases_in_one_unit_of_work() {
    if !have_cobol() {
        return;
    }
    let stage = Stage::new("data-sets-two");
    let catalog = stage.hall.0.catalogs.get(&stage.hall.0.store, &Seam::real().clock);
    seed(&catalog.expect("a catalog"));
    let cards = ["O", "W AA01ANNA", "C", "W BB01BERT", "B", "W CC01ANNA", "L", "E"];
    let (printed, ended) = stage.run(&cards);
    let expected = "\
OPEN 00
WRITE 00 ISRT <  >
CHKP <  >
WRITE 00 ISRT <  >
ROLB <  >
WRITE 02 ISRT <  >
HAS 0000SEED
HAS AA01ANNA
HAS CC01ANNA
";
    assert_eq!(printed, expected);
    assert_eq!(ended, Ended::Normal { return_code: 0 });
    assert_eq!(stage.hall.0.customers().len(), 2);
    // An abend takes back what came after the last commit, of both.
    let (printed, ended) = stage.run(&["O", "W DD01DORA", "A", "E"]);
    assert_eq!(printed, "OPEN 00\nWRITE 00 ISRT <  >\n");
    let Ended::Abend(abend) = ended else { panic!("{ended:?}") };
    assert_eq!(abend.code, "U0778");
    let (printed, _) = stage.run(&["O", "L", "R     ANNA", "X", "X", "R     DORA", "Q", "S", "E"]);
    let expected = "\
OPEN 00
HAS 0000SEED
HAS AA01ANNA
HAS CC01ANNA
READ 02 AA01ANNA
NEXT 00 CC01ANNA
NEXT 00 0000SEED
READ 23 0000DORA
CLOSE 00
SORTED CC01ANNA
SORTED AA01ANNA
SORTED 0000SEED
";
    assert_eq!(printed, expected);
    assert_eq!(stage.hall.0.customers().len(), 2);
}

/// A cluster without records is no file yet: it gets one.
fn seed(catalog: &vsam::Catalog<store_suite::model::ModelStore>) {
    use store::{Store as _, Unit as _, UnitOptions};
    let options = vsam::OpenOptions::default();
    let file = catalog.open_file(&named("SHOP.ACCOUNT"), vsam::OpenMode::InputOutput, &options);
    let file = file.expect("a file");
    let mut unit = catalog.store().begin(UnitOptions::default()).expect("a unit of work");
    let mut position = file.position().expect("a position");
    file.put(&mut unit, &mut position, b"0000SEEDtext        ").expect("a record");
    unit.commit().expect("a commit");
    drop(position);
    file.close().expect("closed");
}

#[test]
fn files_of_the_machine_are_closed_at_the_programs_end() {
    if !have_cobol() {
        return;
    }
    let stage = Stage::new("data-sets-machine");
    let (printed, ended) = stage.run(&["M", "E"]);
    let expected = "\
SLOT 00 two
DELETE 00
FOOT
FOOT
FOOT
GONE 00
GONE 35
";
    assert_eq!(printed, expected);
    assert_eq!(ended, Ended::Normal { return_code: 0 });
    assert_eq!(read(&stage.folder.join("listing")), "left open\n");
}
