//! Random machines: layouts, schedules, record sizes, crashes, slow and dying disks, damage at
//! rest. Whatever happens, a restart gives back what was promised, or says what is damaged.

#![allow(clippy::unwrap_used)] // also in helpers, which are not tests by name

use crate::machine::{Machine, Script, crashed, small};
use holdfast_wal::{Log, LogError, LogStart};
use seal::Format;
use seam::sim::{self, CrashStyle, End, Fault, FaultKind, Rng, SimConfig, When};
use std::time::Duration;

fn machine(rng: &mut Rng) -> Machine {
    let copies = 1 + rng.index(2);
    let mut config = small(copies, [1, 1, 2, 3, 8][rng.index(5)]);
    config.format = [Format::Sealed, Format::Plain][rng.index(2)];
    config.group_bytes_max = [8 << 10, 12 << 10, 32 << 10][rng.index(3)];
    config.ring_bytes = (2 * config.group_bytes_max).next_power_of_two() << rng.index(3);
    config.segment_bytes = (4 << 10) + (config.group_bytes_max as u64) * rng.between(1, 4);
    config.segments_max = 400;
    let mut machine = Machine::new(config);
    machine.truncates = rng.one_in(3);
    machine
}

fn script(rng: &mut Rng, machine: &Machine) -> Script {
    let longest = machine.config.record_bytes_max() as u64 - 24;
    let body_max = [100, 1_000, 6_000, longest][rng.index(4)].min(longest);
    Script { seed: rng.word(), records: rng.between(5, 60), body_max }
}

/// Some lives with crashes between them.
fn lives(seed: u64) -> Result<Machine, String> {
    let mut rng = Rng::stream(seed, "lives");
    let mut machine = machine(&mut rng);
    for _ in 0..rng.between(1, 4) {
        machine.disk.heal_all();
        if rng.one_in(3) {
            let slow = Duration::from_micros(rng.below(20_000));
            let kind = [FaultKind::SlowIo(slow), FaultKind::SlowSync(slow)][rng.index(2)];
            let folder = format!("/log-{}", 1 + rng.index(2));
            machine.disk.inject(Fault::new(kind, folder).when(When::Chance(300)));
        }
        let copies = machine.config.copies.len();
        if copies == 2 && rng.one_in(3) {
            let kind = [FaultKind::WriteError, FaultKind::Dead, FaultKind::NoSpace][rng.index(3)];
            // Only the copy that is whole may be relied on.
            let stale = machine.ledger.stale.lock().map(|(copy, _)| usize::from(copy));
            let copy = stale.unwrap_or(rng.index(2));
            let fault = Fault::new(kind, format!("/log-{}", copy + 1));
            machine.disk.inject(fault.when(When::From(rng.between(1, 60))));
        }
        let script = script(&mut rng, &machine);
        let crash = rng.between(1, 120);
        if crashed(&machine.live(script, Some(crash)))? {
            let styles =
                [CrashStyle::DropAll, CrashStyle::KeepAll, CrashStyle::Random, CrashStyle::TearAll];
            machine.crash(rng.word(), styles[rng.index(4)]);
        } else {
            // The crash that did not come about must not come later.
            machine.disk = machine.disk.snapshot();
        }
    }
    machine.disk.heal_all();
    Ok(machine)
}

fn seeds() -> std::ops::Range<u64> {
    let count = std::env::var("HOLDFAST_SEEDS").ok().and_then(|text| text.parse().ok());
    0..count.unwrap_or(300)
}

#[test]
fn crashes_and_dying_copies_lose_nothing() {
    for seed in seeds() {
        let restarted = lives(seed).and_then(|mut machine| machine.restart(seed));
        restarted.unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
}

#[test]
fn damage_at_rest_is_repaired_or_named() {
    let (mut named, mut whole) = (0, 0);
    for seed in seeds() {
        let mut machine = lives(seed).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let mut rng = Rng::stream(seed, "damage");
        let mut paths = machine.disk.paths();
        paths.retain(|path| machine.disk.len_raw(path) >= 8192);
        let path = &paths[rng.index(paths.len())];
        let offset = 512 * rng.below(machine.disk.len_raw(path) / 512);
        match rng.index(3) {
            0 => machine.disk.corrupt(path, offset, &[0x10]),
            1 => machine.disk.write_raw(path, offset / 4096 * 4096, &[0; 4096]),
            _ => machine.disk.swap_ranges(path, 0, offset / 4096 * 4096, 4096),
        }
        let outcome = sim::run(SimConfig::new(seed), machine.disk.clone(), |seam| {
            // Damage to the last groups looks like a crash, unless something proves more (K6). The
            // checkpoint that ends a restart proves what that restart found.
            let proven = machine.ledger.promised().max(machine.ledger.found_end());
            let start = LogStart { proven, ..machine.start() };
            match Log::open(machine.env(&seam), machine.config.clone(), start) {
                Ok((log, opened)) => {
                    machine.check(&log, &opened);
                    log.close().unwrap();
                    whole += 1;
                }
                Err(LogError::Damaged { .. } | LogError::RolledBack { .. }) => named += 1,
                Err(error) => panic!("{error}"),
            }
        });
        assert_eq!(outcome.end, End::Completed, "seed {seed}: {outcome}");
        machine.life += 1;
    }
    assert!(named > 0 && whole > named, "{named} named, {whole} whole");
}

#[test]
fn an_error_on_the_last_copy_stops_everything_and_acknowledges_nothing() {
    for nth in 1..25 {
        let mut machine = Machine::new(small(1, 1 + (nth % 3) as u8));
        let fault = Fault::new(FaultKind::WriteError, "/log-1").when(When::Nth(nth));
        machine.disk.inject(fault);
        let script = Script { seed: nth, records: 30, body_max: 5_000 };
        // The tasks of the script expect success, so the first refusal ends the life as a panic.
        let outcome = machine.live(script, None);
        match &outcome.end {
            End::Completed => {}
            End::Panicked { message, .. } => {
                assert!(message.contains("Stopped { reason: \"cannot write /log-1"), "{outcome}");
            }
            _ => panic!("{outcome}"),
        }
        machine.disk.heal_all();
        machine.crash(nth, CrashStyle::Random);
        machine.restart(nth).unwrap();
    }
}
