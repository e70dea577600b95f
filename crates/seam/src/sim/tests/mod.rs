//! What the simulator promises, end to end.

mod crashes;
mod faulty;
mod fresh;
mod schedules;

use std::sync::Arc;

use super::SimDisk;
use crate::disk::{Create, Disk as _, File, Open};
use crate::mem::AlignedBuf;

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
