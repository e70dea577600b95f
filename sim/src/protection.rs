//! What is bound in the control file, against somebody who can write to the disk and has no key.
//!
//! - A sealed log has crashed. The attacker says `format = "plain"` in the configuration and puts
//!   a plain group behind the log, which takes no key: well chained, well numbered, with a record
//!   that ends a data set. No start may believe it, with either configuration.
//! - A log is plain, a data set is sealed. The attacker writes a definition into the log that says
//!   that the data set is in clear, becomes so, or was so until now. No start may believe it.
//! - A log is plain again that was sealed, as if files of another time had been put back. Its
//!   checkpoint is given a unit of work whose undo removes a record of a sealed data set, by its
//!   key alone. No start may write into the log what that record holds.
//! - A plain log becomes sealed when its configuration says so. It crashes at every write on the
//!   way; nothing is lost.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use base::bytes::push_string16;
use base::{CiNumber, DataSetId, GroupNumber, KeyGeneration, Lsn, SystemId};
use btree::Tree;
use seal::{Form, Format, KdfCost, KeyProvider, Passphrase, Salt, TestKeys};
use seam::Seam;
use seam::fresh::replace_small;
use seam::sim::{CrashStyle, Rng, SimDisk};
use space::Conversion;
use store::{Read, SetAttributes, SetId, Store, Unit, UnitOptions};
use system::{Bytes, CONFIG_FILE, InitOptions, OpenOptions, PoolSettings, System, SystemConfig};
use uow::checkpoint::Checkpoint;
use uow::control::ControlKeys;
use uow::record::{CatalogRecord, KernelRecord, Part};
use uow::{Kernel, KernelConfig, Protection, UowError, UowOptions};
use wal::{GROUP_HEADER, GroupHead, KeyBook, Purpose};

use crate::machine::Make;
use crate::media::{self, Rested};
use crate::recovery::coded;
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
    let (at, last) = groups(disk).pop().ok_or("there is no log")?;
    let payload = record(&CatalogRecord::Gone(DataSetId(VICTIM)).into());
    let head = GroupHead {
        first_of_salt: true,
        salt: Salt([0x66; 16]),
        number: GroupNumber(last.number.0 + 1),
        first: last.end(),
        durable: last.end(),
        previous: last.tag,
        undurable: GroupNumber(last.number.0 + 1),
        ..last
    };
    write_plain(disk, at + last.disk_len() as u64, head, &payload).map(drop)
}

/// Puts a plain group where one is or may be. Whatever keys the attacker has, none is asked for.
fn write_plain(
    disk: &SimDisk,
    at: u64,
    head: GroupHead,
    payload: &[u8],
) -> Result<GroupHead, String> {
    let head = GroupHead {
        format: Format::Plain,
        generation: KeyGeneration(0),
        payload_len: payload.len() as u32,
        first_record: Some(0),
        ..head
    };
    let mut bytes = vec![0; head.disk_len()];
    let (header, rest) = bytes.split_at_mut(GROUP_HEADER);
    head.encode(header);
    let sealed = &mut rest[..payload.len()];
    sealed.copy_from_slice(payload);
    let keys: Arc<dyn KeyProvider> = Arc::new(TestKeys::new(1));
    let key = KeyBook::new(keys, "log", head.system)
        .working(Purpose::Group, Format::Plain, KeyGeneration(0), &head.salt)
        .map_err(|error| error.to_string())?;
    let tag = key.seal(head.number.0, &header[..COVERED], sealed);
    header[COVERED..].copy_from_slice(&tag.0);
    disk.write_raw(LOG_FILE, at, &bytes);
    Ok(GroupHead { tag, ..head })
}

/// The groups of a log, and where they stand.
fn groups(disk: &SimDisk) -> Vec<(u64, GroupHead)> {
    let blocks = (1..disk.len_raw(LOG_FILE) / 4096).map(|block| block * 4096);
    let heads = blocks.filter_map(|at| {
        Some((at, GroupHead::decode(&disk.read_raw(LOG_FILE, at, GROUP_HEADER)).ok()?))
    });
    let mut groups: Vec<_> = heads.collect();
    groups.sort_by_key(|(_, head)| head.number);
    groups
}

fn payload_of(disk: &SimDisk, at: u64, head: &GroupHead) -> Vec<u8> {
    disk.read_raw(LOG_FILE, at + GROUP_HEADER as u64, head.payload_len as usize)
}

fn record(forged: &KernelRecord<'_>) -> Vec<u8> {
    let body = forged.encode().concat();
    let mut record = vec![0; wal::RECORD_HEADER];
    record[..4].copy_from_slice(&((wal::RECORD_HEADER + body.len()) as u32).to_le_bytes());
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
        begin_plain(seam)?.close().map_err(coded)?;
        let mut config = SystemConfig::read(seam.disk.as_ref(), Path::new(DIR)).map_err(coded)?;
        (config.log.format, config.data.format) = (Format::Sealed, Format::Sealed);
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
    let make = Make { sealed: false, ..Make::small() };
    let (sealed, plain) = (Form::sealed(KeyGeneration(1)), Form::PLAIN);
    verify::run_to_crash(1, &base, |seam| {
        make.create(seam).map_err(coded)?;
        let kernel = make.open(seam).map_err(coded)?;
        with_sealed_set(&kernel, &make)?;
        kernel.close().map_err(coded)
    })?
    .ok_or("the machine crashed by itself")?;
    base.settle();
    // What the definition says that the data set is, and was before.
    let forged = [(plain, Some(sealed)), (plain, None), (sealed, Some(plain))];
    for ((to, from), is_checkpoint) in
        forged.into_iter().flat_map(|one| [(one, true), (one, false)])
    {
        let disk = base.snapshot();
        verify::run_to_crash(2, &disk, |seam| {
            let kernel = make.open(seam).map_err(coded)?;
            let set = kernel.set_named("one").ok_or("the data set is gone")?;
            let redefined = kernel.redefine_set(&set, |one| {
                let (next, paused) = (CiNumber(0), true);
                let converts = |from| Conversion { from, next, bytes_per_second: 0, paused };
                one.conversion = from.map(converts);
                (one.format, one.generation) = (to.format, to.generation);
                Ok(())
            });
            kernel.log().wait_durable(redefined.map_err(coded)?).map_err(coded)?;
            match is_checkpoint {
                true => kernel.close().map_err(coded),
                false => {
                    kernel.abandon();
                    Ok(())
                }
            }
        })?
        .ok_or("the machine crashed by itself")?;
        disk.settle();
        let opened = verify::run_to_crash(3, &disk, |seam| match make.open(seam) {
            Err(UowError::NotPermitted { .. }) => Ok(()),
            Err(error) => Err(coded(error)),
            Ok(_) => Err(format!("{from:?} to {to:?}, checkpoint {is_checkpoint}: believed")),
        })?;
        opened.ok_or("the machine crashed by itself")?;
    }
    Ok(())
}

const KEY: &[u8] = b"of the secret";
const SECRET: &[u8] = b"what nobody reads without a key";

/// Has a checkpoint of a plain log forged over a sealed data set; see the head of this file.
///
/// # Errors
/// If a start believes it, or has what is sealed written in clear.
pub fn what_is_sealed_gets_into_no_plain_log() -> Result<(), String> {
    let base = SimDisk::new();
    let sealed = Make::small();
    let plain = Make { sealed: false, ..Make::small() };
    verify::run_to_crash(1, &base, |seam| {
        sealed.create(seam).map_err(coded)?;
        let kernel = sealed.open(seam).map_err(coded)?;
        with_sealed_set(&kernel, &sealed)?;
        kernel.close().map_err(coded)?;
        drop(kernel);
        let (parts, config) = (plain.parts(seam.clone()), plain.config());
        let keys = ControlKeys {
            keys: parts.keys,
            label: config.system_label.clone(),
            system: parts.system,
        };
        let asked = Protection::asked(&config, &parts.home);
        uow::control::accept(seam, &parts.home, &keys, &asked).map(drop).map_err(coded)
    })?
    .ok_or("the machine crashed by itself")?;
    base.settle();
    for orderly in [true, false] {
        let disk = base.snapshot();
        verify::run_to_crash(2, &disk, |seam| {
            let kernel = plain.open(seam).map_err(coded)?;
            match orderly {
                true => kernel.close().map_err(coded),
                false => {
                    kernel.abandon();
                    Ok(())
                }
            }
        })?
        .ok_or("the machine crashed by itself")?;
        disk.settle();
        forge_checkpoint(&disk)?;
        let config = KernelConfig { sealed_needs_sealed_log: true, ..plain.config() };
        let opened = verify::run_to_crash(3, &disk, |seam| {
            match Kernel::open(plain.parts(seam.clone()), config) {
                Err(UowError::Control { why, .. }) if orderly && why.contains("in flight") => {
                    Ok(())
                }
                Err(UowError::SealedUnderPlainLog { .. }) if !orderly => Ok(()),
                Err(error) => Err(coded(error)),
                Ok(_) => Err(format!("in order {orderly}: believed")),
            }
        });
        let log = disk.read_raw(LOG_FILE, 0, disk.len_raw(LOG_FILE) as usize);
        if log.windows(SECRET.len()).any(|bytes| bytes == SECRET) {
            return Err(format!("in order {orderly}: the secret is in the log, in clear"));
        }
        opened?.ok_or("the machine crashed by itself")?;
    }
    Ok(())
}

/// Makes a sealed data set with a secret in it.
fn with_sealed_set(kernel: &Arc<Kernel>, make: &Make) -> Result<(), String> {
    let form = Make { sealed: true, ..make.clone() };
    let set = form.create_set(kernel, "one").map_err(coded)?;
    let mut uow = kernel.begin(UowOptions::default()).map_err(coded)?;
    Tree::new(kernel, &set).put(&mut uow, KEY, SECRET).map_err(coded)?;
    uow.commit().map_err(coded).map(drop)
}

/// Gives the newest checkpoint of a plain log a unit of work that has put a record into
/// the first data set: of it undo needs the key alone, and takes it out of the tree.
fn forge_checkpoint(disk: &SimDisk) -> Result<(), String> {
    // Behind version, two positions, the next unit's number, the next data set's, the batch.
    const ACTIVE_AT: usize = 2 + 3 * 8 + 4 + 8;
    // From the end: units' records, data sets that are built or offline; none of each.
    const RECORDS_AT: usize = 3 * 4;
    const PUT: u8 = 32;
    const CHECKPOINT: u8 = 8;
    let groups = groups(disk);
    let is_checkpoint =
        |(at, head): &(u64, GroupHead)| payload_of(disk, *at, head)[4] == CHECKPOINT;
    let newest = groups.iter().rposition(is_checkpoint).ok_or("there is no checkpoint")?;
    let (at, head) = groups[newest];
    let group = payload_of(disk, at, &head);
    // Behind the record's header, and number and count of the part.
    let whole = &group[wal::RECORD_HEADER + 8..];
    let checkpoint = Checkpoint::decode(whole)?;
    let (unit, put_at) = (checkpoint.next_uow, head.first.0 + 1);
    let before = Checkpoint { next_uow: unit + 1, ..checkpoint }.encode();
    let (front, rest) = before.split_at(ACTIVE_AT);
    let (sets, behind) = rest[4..].split_at(rest.len() - 4 - RECORDS_AT);
    let mut forged = front.to_vec();
    forged.extend_from_slice(&1_u32.to_le_bytes());
    // It began nowhere, so that no log is missed.
    for word in [unit, u64::MAX, put_at] {
        forged.extend_from_slice(&word.to_le_bytes());
    }
    forged.extend_from_slice(sets);
    forged.extend_from_slice(&1_u32.to_le_bytes());
    for word in [unit, put_at, 0] {
        forged.extend_from_slice(&word.to_le_bytes());
    }
    forged.extend_from_slice(&1_u32.to_le_bytes());
    forged.push(PUT);
    // The interval, the place in it, no flags, the key with its length.
    let mut put = space::ROOT.0.to_le_bytes().to_vec();
    put.extend_from_slice(&[0, 0, 0]);
    push_string16(&mut put, KEY);
    push_string16(&mut forged, &put);
    forged.extend_from_slice(&behind[4..]);
    let part = Part { number: 0, count: 1, bytes: &forged };
    let mut last = write_plain(disk, at, head, &record(&KernelRecord::Checkpoint(part)))?;
    for (at, head) in &groups[newest + 1..] {
        let payload = payload_of(disk, *at, head);
        let head = GroupHead { first: last.end(), previous: last.tag, ..*head };
        last = write_plain(disk, *at, head, &payload)?;
    }
    Ok(())
}

/// Makes a system whose log is plain, with one record in a plain data set.
fn begin_plain(seam: &Seam) -> Result<System, String> {
    let cost = KdfCost { memory_kib: 64, passes: 1, lanes: 1 };
    let options = InitOptions { config: plain(), cost, ..InitOptions::default() };
    System::init(seam, Path::new(DIR), &phrase(), &options).map_err(coded)?;
    let system = open(seam)?;
    system.store().create_set("one", &SetAttributes::default()).map_err(coded)?;
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
    let mut unit = system.store().begin(UnitOptions::default()).map_err(coded)?;
    if !unit.get(set, b"key", Read::Shared, &mut Vec::new()).map_err(coded)? {
        return Err("what was committed before is gone".into());
    }
    unit.commit().map_err(coded)?;
    put(&system, 1)?;
    system.close().map_err(coded)
}

fn put(system: &System, value: u8) -> Result<(), String> {
    let set = the_set(system)?;
    let mut unit = system.store().begin(UnitOptions::default()).map_err(coded)?;
    unit.put(set, b"key", &[value; 100]).map_err(coded)?;
    unit.commit().map_err(coded).map(drop)
}

fn the_set(system: &System) -> Result<SetId, String> {
    system.store().set("one").map_err(coded)?.ok_or_else(|| "the data set is gone".into())
}

fn open(seam: &Seam) -> Result<System, String> {
    let options = OpenOptions { serve: false, ..OpenOptions::default() };
    System::open(seam, Path::new(DIR), &phrase(), options).map_err(coded)
}

/// A small system whose log is plain.
fn plain() -> SystemConfig {
    let mut config = SystemConfig::new(SystemId::default());
    (config.log.format, config.data.format) = (Format::Plain, Format::Plain);
    config.log.segment_bytes = Bytes(64 << 10);
    config.log.segments_min = 2;
    config.log.group_bytes_max = Bytes(8 << 10);
    config.log.ring_bytes = Bytes(32 << 10);
    config.data.interval_bytes = Bytes(UNIT);
    let pool = PoolSettings { unit: Bytes(UNIT), bytes: Bytes(64 * UNIT), data_sets: vec![] };
    config.pools = BTreeMap::from([("default".to_owned(), pool)]);
    config
}
