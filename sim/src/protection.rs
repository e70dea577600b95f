//! What is bound in the control file, against somebody who can write to the disk and has no key.
//!
//! - A sealed log has crashed. The attacker says `format = "plain"` in the configuration and puts
//!   a plain group behind the log, which takes no key: well chained, well numbered, with a record
//!   that ends a data set. No start may believe it, with either configuration.
//! - A log is plain, a data set is sealed. The attacker writes a definition into the log that says
//!   that the data set is in clear, or becomes so. No start may write it in clear.
//! - A plain log becomes sealed when its configuration says so. It crashes at every write on the
//!   way; nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use base::{CiNumber, DataSetId, GroupNumber, KeyGeneration, Lsn, SystemId};
use log::{GROUP_HEADER, GroupHead, KeyBook, Purpose};
use seal::{Format, KdfCost, KeyProvider, Passphrase, Salt, TestKeys};
use seam::Seam;
use seam::fresh::replace_small;
use seam::sim::{CrashStyle, Rng, SimDisk};
use space::Conversion;
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use system::{Bytes, CONFIG_FILE, InitOptions, OpenOptions, PoolSettings, System, SystemConfig};
use uow::record::{CatalogRecord, KernelRecord};
use uow::{Kernel, UowError};

use crate::machine::Make;
use crate::media::{self, Rested};
use crate::recovery::said;
use crate::verify;

const LOG_FILE: &str = "/log1/segment-000.stripe-0";
/// The data set that the forged record ends.
const VICTIM: u32 = 2;
/// Bytes of a group's header that its tag covers.
const COVERED: usize = GROUP_HEADER - 16;

/// Forges the tail of a log; see the head of this file.
///
/// # Errors
/// If it is believed.
pub fn a_forged_tail_is_refused() -> Result<(), String> {
    for seed in 1..=4 {
        let make = Make { segment_bytes: 1 << 20, checkpoint_bytes: 1 << 30, ..Make::small() };
        let rested = media::crashed(&make, seed);
        let disk = rested.disk.snapshot();
        forge(&disk)?;
        // As its owner has it: the group is no part of a sealed log.
        let honest = Rested { disk: disk.snapshot(), ..rested };
        media::meet(&honest, &disk.snapshot(), seed)?;
        // As the attacker has it.
        let plain = Make { sealed: false, ..make };
        let opened = verify::run(seed, &disk, move |seam| {
            let opened = Kernel::open(plain.parts(seam.clone()), plain.config());
            Ok(match opened {
                Err(UowError::Protection { lowered, .. }) => lowered.len(),
                Err(error) => return Err(error.to_string().into()),
                Ok(_) => 0,
            })
        });
        match opened {
            Ok(1) => {}
            Ok(number) => return Err(format!("seed {seed}: {number} settings were refused")),
            Err(why) => return Err(format!("seed {seed}: {why}")),
        }
    }
    Ok(())
}

/// Puts a plain group behind the last one of a log: its checksum takes no key.
fn forge(disk: &SimDisk) -> Result<(), String> {
    let blocks = (1..disk.len_raw(LOG_FILE) / 4096).map(|block| block * 4096);
    let heads = blocks.filter_map(|at| {
        let head = GroupHead::decode(&disk.read_raw(LOG_FILE, at, GROUP_HEADER)).ok()?;
        Some((head.number, at, head))
    });
    let (_, at, last) = heads.max_by_key(|one| one.0).ok_or("there is no log")?;
    let payload = record(&CatalogRecord::Gone(DataSetId(VICTIM)).into());
    let head = GroupHead {
        format: Format::Plain,
        first_of_salt: true,
        generation: KeyGeneration(0),
        payload_len: payload.len() as u32,
        salt: Salt([0x66; 16]),
        number: GroupNumber(last.number.0 + 1),
        first: last.end(),
        durable: last.end(),
        previous: last.tag,
        first_record: Some(0),
        undurable: GroupNumber(last.number.0 + 1),
        ..last
    };
    let mut bytes = vec![0; head.disk_len()];
    let (header, rest) = bytes.split_at_mut(GROUP_HEADER);
    head.encode(header);
    let sealed = &mut rest[..payload.len()];
    sealed.copy_from_slice(&payload);
    // Whatever keys the attacker has, none is asked for.
    let keys: Arc<dyn KeyProvider> = Arc::new(TestKeys::new(1));
    let key = KeyBook::new(keys, "log", last.system)
        .working(Purpose::Group, Format::Plain, KeyGeneration(0), &head.salt)
        .map_err(|error| error.to_string())?;
    let tag = key.seal(head.number.0, &header[..COVERED], sealed);
    header[COVERED..].copy_from_slice(&tag.0);
    disk.write_raw(LOG_FILE, at + last.disk_len() as u64, &bytes);
    Ok(())
}

fn record(forged: &KernelRecord<'_>) -> Vec<u8> {
    let body = forged.encode().concat();
    let mut record = vec![0; log::RECORD_HEADER];
    record[..4].copy_from_slice(&((log::RECORD_HEADER + body.len()) as u32).to_le_bytes());
    record[4] = forged.kind();
    record.extend_from_slice(&body);
    record
}

const DIR: &str = "/system";
const UNIT: u64 = 4096;
const STYLES: [CrashStyle; 4] =
    [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];

fn phrase() -> Passphrase {
    Passphrase::from("of the simulator")
}

/// Has a plain log become sealed, with a crash at each write; see the head of this file.
///
/// # Errors
/// What was lost, or how the log ended up.
pub fn a_plain_log_becomes_sealed() -> Result<(), String> {
    let base = SimDisk::new();
    verify::run_to_crash(1, &base, |seam| {
        begin_plain(seam)?.close().map_err(said)?;
        let mut config = SystemConfig::read(seam.disk.as_ref(), Path::new(DIR)).map_err(said)?;
        config.log.format = Format::Sealed;
        let path = Path::new(DIR).join(CONFIG_FILE);
        replace_small(seam.disk.as_ref(), &path, config.to_text().as_bytes())
            .map_err(|error| error.to_string())
    })?
    .ok_or("the machine crashed by itself")?;
    base.settle();
    for n in 1.. {
        let disk = base.snapshot();
        disk.crash_after(n);
        if verify::run_to_crash(n, &disk, sealed_life)?.is_some() {
            return Ok(());
        }
        for (turn, style) in STYLES.into_iter().enumerate() {
            let seed = n * 8 + turn as u64;
            let image = disk.crash_image(&mut Rng::new(seed), style);
            verify::run_to_crash(seed, &image, sealed_life)
                .and_then(|ended| ended.ok_or("the machine crashed by itself".into()))
                .map_err(|why| format!("crash at write {n}, {style:?}: {why}"))?;
        }
    }
    Ok(())
}

/// Has a definition without a permit in a plain log, as a record or in a checkpoint; see the head
/// of this file.
///
/// # Errors
/// If a start believes it.
pub fn nobody_without_the_key_has_a_data_set_written_in_clear() -> Result<(), String> {
    let base = SimDisk::new();
    verify::run_to_crash(1, &base, |seam| begin_plain(seam)?.close().map_err(said))?
        .ok_or("the machine crashed by itself")?;
    base.settle();
    for (converts, is_checkpoint) in [(true, true), (true, false), (false, true), (false, false)] {
        let disk = base.snapshot();
        let forged = verify::run_to_crash(2, &disk, |seam| {
            let system = open(seam)?;
            let kernel = Arc::clone(system.kernel());
            let set = kernel.all_sets().into_iter().find(|set| set.name() == "one");
            let set = set.ok_or("the data set is gone")?;
            let said_plain = kernel.redefine_set(&set, |one| {
                let (from, next, paused) = (one.form(), CiNumber(0), false);
                let conversion = Conversion { from, next, bytes_per_second: 0, paused };
                one.conversion = converts.then_some(conversion);
                one.format = Format::Plain;
                Ok(())
            });
            kernel.log().wait_durable(said_plain.map_err(said)?).map_err(said)?;
            if is_checkpoint {
                return system.close().map_err(said);
            }
            std::mem::forget(system);
            seam.clock.sleep(Duration::from_millis(1));
            Ok(())
        });
        drop(forged);
        disk.settle();
        let opened = verify::run_to_crash(3, &disk, |seam| match open(seam) {
            Err(why) if why.contains("in clear") => Ok(()),
            Err(why) => Err(why),
            Ok(_) => Err(format!("converts {converts}, checkpoint {is_checkpoint}: believed")),
        })?;
        opened.ok_or("the machine crashed by itself")?;
    }
    Ok(())
}

/// Makes a system whose log is plain, with one record in a sealed data set.
fn begin_plain(seam: &Seam) -> Result<System, String> {
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config: plain(), cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &phrase(), &options).map_err(said)?;
    let system = open(seam)?;
    system.store().create_set("one", &SetAttributes::default()).map_err(said)?;
    put(&system, 0)?;
    Ok(system)
}

/// Starts, finds everything, works, stops; what is bound then is a sealed log.
fn sealed_life(seam: &Seam) -> Result<(), String> {
    let system = open(seam)?;
    let bound = system.kernel().protection();
    if bound.log != Format::Sealed || bound.plain.until == Lsn::NONE {
        return Err(format!("{bound:?} is bound"));
    }
    let set = the_set(&system)?;
    let mut unit = system.store().begin(UnitOptions::default()).map_err(said)?;
    if !unit.get(set, b"key", Read::Shared, &mut Vec::new()).map_err(said)? {
        return Err("what was committed before is gone".into());
    }
    unit.commit().map_err(said)?;
    put(&system, 1)?;
    system.close().map_err(said)
}

fn put(system: &System, value: u8) -> Result<(), String> {
    let set = the_set(system)?;
    let mut unit = system.store().begin(UnitOptions::default()).map_err(said)?;
    unit.put(set, b"key", &[value; 100]).map_err(said)?;
    unit.commit().map_err(said).map(drop)
}

fn the_set(system: &System) -> Result<SetId, String> {
    system.store().set("one").map_err(said)?.ok_or_else(|| "the data set is gone".into())
}

fn open(seam: &Seam) -> Result<System, String> {
    let options = OpenOptions { serve: false, ..OpenOptions::default() };
    System::open(seam, Path::new(DIR), &phrase(), options).map_err(said)
}

/// A small system whose log is plain.
fn plain() -> SystemConfig {
    let mut config = SystemConfig::new(SystemId::default());
    config.log.format = Format::Plain;
    config.log.segment_bytes = Bytes(64 << 10);
    config.log.segments_min = 2;
    config.log.group_bytes_max = Bytes(8 << 10);
    config.log.ring_bytes = Bytes(32 << 10);
    config.data.interval_bytes = Bytes(UNIT);
    let pool = PoolSettings { unit: Bytes(UNIT), bytes: Bytes(64 * UNIT), data_sets: vec![] };
    config.pools = BTreeMap::from([("default".to_owned(), pool)]);
    config
}
