//! What the simulator promises, end to end.

mod crashes;
mod faulty;
mod fresh;
mod schedules;

use std::sync::Arc;

use super::{CrashStyle, Rng, SimDisk};
use crate::disk::{Create, Disk as _, File, Open};
use crate::mem::AlignedBuf;
use crate::sync::Mutex;

/// What random crashes leave of a disk, at every moment while something is done with it.
fn crashed_while(disk: &SimDisk, act: impl FnOnce()) -> Vec<SimDisk> {
    let moments = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&moments);
    disk.observe(move |disk, _| sink.lock().push(disk.snapshot()));
    act();
    disk.stop_observing();
    let mut rng = Rng::new(1);
    let mut left = Vec::new();
    for moment in moments.lock().iter() {
        left.extend((0..50).map(|_| moment.crash_image(&mut rng, CrashStyle::Random)));
    }
    left
}

fn page(byte: u8) -> AlignedBuf {
    let mut page = AlignedBuf::zeroed(4096);
    page.fill(byte);
    page
}

/// An empty file that is durably there.
fn make(disk: &SimDisk, path: &str, how: Open) -> Arc<dyn File> {
    let file = disk.open(path.as_ref(), how.create(Create::New)).unwrap();
    disk.settle();
    file
}

fn first_byte(disk: &SimDisk, path: &str, offset: u64) -> u8 {
    let file = disk.open(path.as_ref(), Open::READ).unwrap();
    let mut byte = [0];
    file.read_at(&mut byte, offset).unwrap();
    byte[0]
}
