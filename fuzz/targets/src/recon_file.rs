//! RECON: two files of sealed entries, either of which may be spoilt.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use base::{Lsn, SystemId};
use recon::{Database, Reached, Recon, Record, Setup, State};
use seal::TestKeys;
use seam::Seam;
use seam::sim::SimDisk;

use crate::input::{Input, simulated, spoil};

struct Template {
    disk: SimDisk,
    /// What RECON has said, oldest first.
    states: Vec<State>,
}

static TEMPLATE: LazyLock<Template> = LazyLock::new(|| {
    let disk = SimDisk::new();
    let states = simulated(&disk, |seam| {
        Recon::create(&setup(&seam), &[]).expect("an empty disk takes it");
        let (recon, opened) = Recon::open(setup(&seam)).expect("it opens");
        let mut states = vec![opened.reading.state];
        for number in 1..6_u64 {
            let name = "D".repeat(if number == 3 { 5_000 } else { 8 });
            let database = Database { name, sets: vec![format!("SET{number}")] };
            let reached = Reached { lsn: Lsn(number * 100), utc_us: number };
            let records = vec![Record::Reached(reached), Record::Database(database)];
            recon.add(records).expect("it is written");
            states.push(State::clone(&recon.state()));
        }
        states
    });
    disk.settle();
    Template { disk, states }
});

fn setup(seam: &Seam) -> Setup {
    Setup {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        label: "system".into(),
        system: SystemId([3; 16]),
        folders: [PathBuf::from("/one"), PathBuf::from("/two")],
        compact_bytes: 1 << 20,
    }
}

/// Spoilt files say what RECON has said, or nothing; looking and opening agree, and opening puts
/// both right.
pub fn fuzz(bytes: &[u8]) {
    let disk = TEMPLATE.disk.snapshot();
    spoil(&disk, &mut Input::new(bytes));
    let (looked, opened, again) = simulated(&disk, |seam| {
        let looked = recon::read(&setup(&seam)).map(|reading| reading.state);
        let opened = Recon::open(setup(&seam)).map(|(_, opened)| opened.reading.state);
        let again = Recon::open(setup(&seam)).map(|(_, opened)| opened);
        (looked, opened, again)
    });
    let Ok(state) = opened else {
        assert!(looked.is_err(), "it is read and does not open");
        return;
    };
    assert!(TEMPLATE.states.contains(&state), "it says what it never said: {state:?}");
    assert_eq!(looked.ok().as_ref(), Some(&state));
    let again = again.expect("what was opened opens again");
    assert!(again.repaired.is_empty() && again.reading.state == state);
}

/// No change, one copy spoilt in several ways, and both.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    vec![vec![], vec![0, 1, 2, 0, 1, 1], vec![1, 2, 2, 2], vec![0, 3, 0, 0, 0, 1, 1, 1, 9, 0, 1, 7]]
}
