//! Everything that a system does for operators, at once, on a machine that crashes.
//!
//! `HOLDFAST_SEEDS=FROM..TO` lives through others; a failure names its seed.

use std::ops::Range;
use std::sync::Arc;

use holdfast_sim::parallel;
use holdfast_sim::whole::{self, Lived};
use seam::disk::read_small;
use seam::fresh::replace_small;
use seam::sim::{self, SimConfig, SimDisk};

#[test]
fn the_whole_kernel_on_one_machine_loses_nothing() {
    live(1..41, false);
}

#[test]
fn the_whole_kernel_loses_nothing_while_the_stripes_of_its_log_change() {
    live(2_000..2_020, true);
}

/// Lives through all of these, in which everything happens often enough.
fn live(usual: Range<u64>, restripes: bool) {
    let lives = parallel::each(usual, |seed| whole::live_through(seed, restripes));
    let mut all = Lived::default();
    lives.iter().for_each(|lived| all += *lived);
    println!("{all:?}");
    let each = [all.crashes, all.went_back, all.recovered, all.deleted, all.came_back];
    assert!(each.iter().all(|count| *count * 4 > lives.len()), "{all:?}");
}

/// The key file and the configuration once had one and the same name until they got their own. Of a
/// re-key beside a change of a pool the text of one was left in the place of the other: the keys
/// were gone.
#[test]
fn files_that_are_replaced_at_once_stay_apart() {
    const ROUNDS: usize = 50;
    let names = ["/holdfast.keys", "/holdfast.toml"];
    for seed in 1..=5 {
        sim::run(SimConfig::new(seed), SimDisk::new(), |seam| {
            let threads = names.map(|name| {
                let disk = Arc::clone(&seam.disk);
                let body = move || {
                    for round in 0..ROUNDS {
                        let bytes = format!("{round} of {name}").into_bytes();
                        replace_small(&*disk, name.as_ref(), &bytes).expect("it is written");
                        let found = read_small(&*disk, name.as_ref(), 1_000);
                        assert_eq!(found.expect("it is there"), bytes);
                    }
                };
                seam::thread::spawn(name, body).expect("a thread")
            });
            threads.into_iter().for_each(seam::thread::JoinHandle::join);
        })
        .expect_completed();
    }
}
