//! An index whose keys are not unique comes to a database with data, and the machine is crashed
//! while it is built: segments that lack an identity are written again, batch by batch.
//!
//! Checked after every crash:
//! 1. nobody is let into the database before the index is there;
//! 2. the build, run again, comes to its end: every segment says what it said, and every source
//!    has its entry.

use std::sync::Arc;

use dli_model::Setup;
use hierarchy::{Database, HierarchyError, TypeAt, state};
use parking_lot::Mutex;
use seam::Seam;
use seam::sim::{CrashStyle, EventKind, Rng, SimDisk};
use store::{Store, Unit as _, UnitOptions};

use super::Site;
use super::life::created;
use crate::machine::Make;
use crate::verify::{self, Wrong};

/// Partners; every second one is of one town.
const BEFORE: &str = "
         DBD   NAME=PARTDB,ACCESS=(HDAM,OSAM),RMNAME=(RANDOM,1,50,500)
         DATASET DD1=PARTDD
         SEGM  NAME=PARTNER,PARENT=0,BYTES=200
         FIELD NAME=(PNO,SEQ,U),START=1,BYTES=3
         FIELD NAME=TOWN,START=4,BYTES=4
         DBDGEN
         PCB   TYPE=DB,DBDNAME=PARTDB,PROCOPT=A
         SENSEG NAME=PARTNER,PARENT=0
         PSBGEN LANG=COBOL,PSBNAME=PARTPGM
         END
";

/// What the index adds to the partners.
const INDEXED: &str = "START=4,BYTES=4
         LCHILD NAME=(TOWNKEY,TOWNIX),POINTER=INDX
         XDFLD NAME=XTOWN,SRCH=TOWN
";

const INDEX: &str = "         DBD   NAME=TOWNIX,ACCESS=(INDEX,VSAM)
         DATASET DD1=TOWNDD,OVFLW=TOWNOV
         SEGM  NAME=TOWNKEY,PARENT=0,BYTES=4
         FIELD NAME=(KEY,SEQ,M),START=1,BYTES=4
         LCHILD NAME=(PARTNER,PARTDB),INDEX=XTOWN
         DBDGEN
         PCB ";

const PARTNERS: usize = 40;
const BATCH_BYTES: usize = 2_000;

fn setups() -> Result<[Arc<Setup>; 2], Wrong> {
    let after =
        BEFORE.replacen("START=4,BYTES=4\n", INDEXED, 1).replacen("         PCB ", INDEX, 1);
    let compiled = |text: &str| {
        Setup::from_source(text).map(Arc::new).map_err(|error| Wrong::Broken(error.to_string()))
    };
    Ok([compiled(BEFORE)?, compiled(&after)?])
}

/// What the database holds, by path.
type Held = Vec<(Vec<u8>, Vec<u8>)>;

/// Builds the index and crashes the machine at every write; on every image the build is run to its
/// end. Answers how many images there were.
///
/// # Errors
/// The first image that does not prove itself.
pub fn every_crash(seed: u64) -> Result<usize, String> {
    sweep(seed).map_err(|why| why.to_string())
}

fn sweep(seed: u64) -> Result<usize, Wrong> {
    let make = Make { frames: 64, segments_max: 16, redo_bytes_max: 6 << 10, ..Make::dual() };
    let [before, after] = setups()?;
    let disk = created(&make, seed)?;
    let filled = {
        let make = make.clone();
        verify::run(seed, &disk, move |seam| fill(&make, &before, seam))?
    };
    disk.settle();
    let filled = Arc::new(filled);
    let points = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&points);
    disk.observe(move |disk, event| {
        if matches!(event.kind, EventKind::Write | EventKind::Sync | EventKind::SyncDir) {
            let what = format!("{:?} of {}", event.kind, event.path.display());
            into.lock().push((what, disk.snapshot()));
        }
    });
    let run = |disk: &SimDisk, seed: u64| {
        let (make, after, filled) = (make.clone(), Arc::clone(&after), Arc::clone(&filled));
        verify::run(seed, disk, move |seam| build(&make, &after, &filled, seam))
    };
    run(&disk, seed)?;
    disk.stop_observing();
    let mut rng = Rng::stream(seed, "numbered");
    let points = std::mem::take(&mut *points.lock());
    let images = points.len();
    for (number, (what, disk)) in points.into_iter().enumerate() {
        let style = [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random][rng.index(3)];
        let image = disk.crash_image(&mut rng, style);
        run(&image, rng.word() >> 1).map_err(|why| {
            why.when(&format!("seed {seed}, crashed at event {number}, {what} ({style:?})"))
        })?;
    }
    Ok(images)
}

/// Fills the database under its old definition.
fn fill(make: &Make, setup: &Arc<Setup>, seam: &Seam) -> Result<Held, Wrong> {
    let kernel = make.open(seam)?;
    let site = Site::open(&kernel, make, setup)?;
    let database = only(&site);
    state::admit(&site.store, database).map_err(|error| Wrong::refused(&error))?;
    let mut unit =
        site.store.begin(UnitOptions::default()).map_err(|error| Wrong::refused(&error))?;
    let mut work = hierarchy::Work::default();
    for number in 0..PARTNERS {
        let town = if number.is_multiple_of(2) { "ROME".into() } else { format!("T{number:03}") };
        let partner = format!("{number:03}{town}{:<193}", "SOMEBODY");
        let (mut path, key) = (Vec::new(), &partner.as_bytes()[..3]);
        database.put_front(key, &mut path);
        database.schema.put_key(TypeAt::ROOT, key, &mut path);
        let mut insert = |path: &[u8], data: &[u8]| {
            let levels = database.parse(path)?;
            let target = hierarchy::Target { store: &site.store, unit: &mut unit };
            let at = hierarchy::SegmentPath { path, levels: &levels };
            database.insert(target, at, data, &[], &mut work).map(drop)
        };
        insert(&path, partner.as_bytes()).map_err(|error| Wrong::refused(&error))?;
    }
    unit.commit().map_err(|error| Wrong::refused(&error))?;
    let held = held(&site, database)?;
    drop(site);
    verify::wait_for_quiet(&kernel)?;
    kernel.close()?;
    Ok(held)
}

fn only(site: &Site) -> &Arc<Database> {
    // There is one, as the source says.
    &site.databases[site.databases.keys().next().expect("a database")]
}

fn held(site: &Site, database: &Database) -> Result<Held, Wrong> {
    let mut held = Vec::new();
    let mut others = |_| Ok(Arc::clone(only(site)));
    let give = |of: TypeAt, _, data: &[u8]| {
        held.push((vec![of.code()], data.to_vec()));
        Ok(())
    };
    database.unload(&site.store, &mut others, give).map_err(|error| Wrong::refused(&error))?;
    Ok(held)
}

/// Builds the index where it is not built, and proves what is there.
fn build(make: &Make, setup: &Arc<Setup>, filled: &Held, seam: &Seam) -> Result<(), Wrong> {
    let kernel =
        make.open(seam).map_err(|error| Wrong::refused(&error).when("it does not start"))?;
    let site = Site::open(&kernel, make, setup)?;
    let index = only(&site).indexes[0].index.dbd;
    match state::admit_whole(&site.store, only(&site)) {
        Ok(()) => proven(&site, filled)?,
        Err(HierarchyError::IndexDue { .. } | HierarchyError::Numbering(_)) => {
            state::set_due(&site.store, index, true).map_err(|error| Wrong::refused(&error))?;
            only(&site)
                .build_indexes_in(&site.store, Some(index), BATCH_BYTES, |_| {})
                .map_err(|error| Wrong::refused(&error))?;
        }
        Err(error) => return Err(Wrong::refused(&error)),
    }
    drop(site);
    // Opened again it is as the build has left it.
    let site = Site::open(&kernel, make, setup)?;
    state::admit_whole(&site.store, only(&site)).map_err(|error| Wrong::refused(&error))?;
    proven(&site, filled)?;
    drop(site);
    verify::check_sets(&kernel)?;
    verify::wait_for_quiet(&kernel)?;
    kernel.close().map_err(|error| Wrong::refused(&error).when("it does not stop"))
}

fn proven(site: &Site, filled: &Held) -> Result<(), Wrong> {
    site.verify()?;
    let database = only(site);
    if held(site, database)? != *filled {
        return Err(Wrong::Broken("segments are not what they were".into()));
    }
    let counts = database.count_indexes(&site.store).map_err(|error| Wrong::refused(&error))?;
    match counts[0].entries {
        entries if entries == PARTNERS as u64 => Ok(()),
        entries => Err(Wrong::Broken(format!("the index has {entries} entries"))),
    }
}
