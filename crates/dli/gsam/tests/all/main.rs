//! Sequential files through the calls that programs make.

#![allow(clippy::unwrap_used)] // in tests an unwrap is an assertion

mod calls;
mod files;
mod held;
mod random;
mod restart;

use std::sync::Arc;

use definitions::resolve::GsamView;
use definitions::{DbdName, DdName, Pair, ProcessingOptions};
use holdfast_gsam::{FileSpec, Gsam, Status};
use seam::sim::SimDisk;

/// The view of a PCB with these options on a database with this format and these lengths.
pub(crate) fn view(options: &str, format: &str, most: u32, least: u32) -> GsamView {
    GsamView {
        dbd: DbdName::new("EXTRACT").unwrap(),
        options: ProcessingOptions::parse(options).unwrap(),
        dd: DdName::new("EXTRDD"),
        record_format: Some(format.into()),
        record: Pair {
            first: Some(most).filter(|most| *most > 0),
            second: Some(least).filter(|least| *least > 0),
        },
        block: Pair::default(),
    }
}

/// A PCB on the file `/file` of a disk.
pub(crate) fn pcb(disk: &SimDisk, options: &str, format: &str, most: u32, text: bool) -> Gsam {
    let file = FileSpec { path: "/file".into(), text };
    Gsam::new(Arc::new(disk.clone()), &view(options, format, most, 0), file).unwrap()
}

/// A disk whose `/file` has these bytes.
pub(crate) fn holding(bytes: &[u8]) -> SimDisk {
    use seam::disk::{Create, Disk as _, Open};
    let disk = SimDisk::new();
    let how = Open { create: Create::New, write: true, direct: false, dsync: false };
    let file = disk.open("/file".as_ref(), how).unwrap();
    file.write_at(bytes, 0).unwrap();
    disk
}

/// What `/file` of a disk has.
pub(crate) fn contents(disk: &SimDisk) -> Vec<u8> {
    seam::disk::read_small(disk, "/file".as_ref(), 1 << 28).unwrap()
}

/// Every record of `/file`, as the area has it.
pub(crate) fn read_all(gsam: &mut Gsam) -> Vec<Vec<u8>> {
    let mut area = vec![0x55; gsam.form().area_bytes()];
    let mut records = Vec::new();
    loop {
        let outcome = gsam.get_next(&mut area);
        match outcome.status {
            Status::Done => records.push(area[..outcome.length].to_vec()),
            Status::Gb => return records,
            other => panic!("{other:?}: {:?}", gsam.fault()),
        }
    }
}

/// Inserts records and closes.
pub(crate) fn write_all(gsam: &mut Gsam, records: &[Vec<u8>]) {
    for record in records {
        let outcome = gsam.insert(record, record.len() as u32);
        assert_eq!(outcome.status, Status::Done, "{:?}", gsam.fault());
        assert_eq!(outcome.length, record.len());
    }
    assert_eq!(gsam.close(), Status::Done);
}

/// A variable record as an area has it.
pub(crate) fn variable(data: &[u8]) -> Vec<u8> {
    [&(data.len() as u16 + 2).to_be_bytes()[..], data].concat()
}
