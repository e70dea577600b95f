//! The customers' database: what `dli` and `cobol` call, load and unload.
//!
//! | segment | level | bytes | occurrences | key |
//! |---|---|---|---|---|
//! | CUSTOMER | 1 | 100 | n | 8 digits, 0 to n-1 |
//! | ACCOUNT | 2 | 60 | 2 for each customer | 4 digits, 0 and 1 |
//! | POSTING | 3 | 40 | 2 for each account, one more for every fourth | 8 digits |
//!
//! So n customers have 7.5 n segments. A secondary index leads from a name of 16 bytes to the
//! customer; names are unique, and their order has nothing to do with that of the keys.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use hierarchy::load::{Given, Input, InputError};
use hierarchy::{Database, Deleted, HierarchyError, TypeAt};
use placement::Settings;
use unload::{Form, Name, Reader, SegmentType, Writer};

use crate::databases::{Library, Site};
use crate::error::{BenchError, Result};
use crate::kernel::failed;
use crate::ours::StoreSetup;
use crate::workload::Random;

/// The database.
pub(crate) const DATABASE: &str = "CUSTBASE";
/// The PSB: first a PCB in key order, then one in the order of names.
pub(crate) const PSB: &str = "CUSTPROG";
/// The PCB in key order.
pub(crate) const BY_KEY: usize = 0;
/// The PCB in the order of names.
pub(crate) const BY_NAME: usize = 1;
/// Bytes of a posting.
pub(crate) const POSTING_BYTES: usize = 40;
/// The first posting's key in an account; others follow.
const FIRST_POSTING: u64 = 1;

/// The definitions, as `holdfast gen` takes them.
pub(crate) const SOURCE: &str = "\
* CUSTOMERS, THEIR ACCOUNTS, THE POSTINGS OF EACH ACCOUNT
         DBD   NAME=CUSTBASE,ACCESS=(HIDAM,VSAM)
         DATASET DD1=CUSTDD,SIZE=(8192),FRSPC=(0,20)
         SEGM  NAME=CUSTOMER,PARENT=0,BYTES=100,PTR=TB
         FIELD NAME=(CUSTNO,SEQ,U),START=1,BYTES=8,TYPE=C
         FIELD NAME=CUSTNAME,START=9,BYTES=16,TYPE=C
         LCHILD NAME=(CUSTPX,CUSTPRIM),PTR=INDX
         LCHILD NAME=(CUSTNX,CUSTNAMX),PTR=INDX
         XDFLD NAME=XNAME,SEGMENT=CUSTOMER,SRCH=CUSTNAME
         SEGM  NAME=ACCOUNT,PARENT=((CUSTOMER,DBLE)),BYTES=60,PTR=TB
         FIELD NAME=(ACCTNO,SEQ,U),START=1,BYTES=4,TYPE=C
         SEGM  NAME=POSTING,PARENT=((ACCOUNT,DBLE)),BYTES=40,PTR=TB
         FIELD NAME=(POSTNO,SEQ,U),START=1,BYTES=8,TYPE=C
         DBDGEN
         END
         DBD   NAME=CUSTPRIM,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTPXDD,SIZE=(8192)
         SEGM  NAME=CUSTPX,PARENT=0,BYTES=8
         FIELD NAME=(PXKEY,SEQ,U),START=1,BYTES=8,TYPE=C
         LCHILD NAME=(CUSTOMER,CUSTBASE),INDEX=CUSTNO
         DBDGEN
         END
         DBD   NAME=CUSTNAMX,ACCESS=(INDEX,VSAM)
         DATASET DD1=CUSTNXDD,SIZE=(8192)
         SEGM  NAME=CUSTNX,PARENT=0,BYTES=16
         FIELD NAME=(NXKEY,SEQ,U),START=1,BYTES=16,TYPE=C
         LCHILD NAME=(CUSTOMER,CUSTBASE),INDEX=XNAME
         DBDGEN
         END
         PCB   TYPE=DB,DBDNAME=CUSTBASE,PROCOPT=A
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ACCOUNT,PARENT=CUSTOMER
         SENSEG NAME=POSTING,PARENT=ACCOUNT
         PCB   TYPE=DB,DBDNAME=CUSTBASE,PROCOPT=G,PROCSEQ=CUSTNAMX
         SENSEG NAME=CUSTOMER,PARENT=0
         SENSEG NAME=ACCOUNT,PARENT=CUSTOMER
         SENSEG NAME=POSTING,PARENT=ACCOUNT
         PSBGEN LANG=COBOL,PSBNAME=CUSTPROG,CMPAT=YES
         END
";

/// An empty database in a new store.
pub(crate) fn create(setup: &StoreSetup) -> Result<Site> {
    Site::create(setup, Library::compile(SOURCE)?, &Settings::default(), &[DATABASE])
}

/// Writes a number in digits over all of `place`.
pub(crate) fn digits(mut number: u64, place: &mut [u8]) {
    for digit in place.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// Writes the name of a customer: unique below 2^32, in an order of its own.
pub(crate) fn name(customer: u64, place: &mut [u8]) {
    // A product with an odd number is a permutation.
    let mixed = (customer as u32).wrapping_mul(0x9e37_79b1);
    for (at, byte) in place.iter_mut().enumerate() {
        *byte = if at < 8 { b'A' + ((mixed >> (28 - 4 * at)) & 15) as u8 } else { b' ' };
    }
}

/// Postings of an account.
pub(crate) fn postings(customer: u64, account: u64) -> u64 {
    2 + (customer & account & 1)
}

/// The key of a posting by its number in its account.
pub(crate) fn posting_key(at: u64) -> u64 {
    FIRST_POSTING + at
}

/// A qualified SSA: segment and field are padded to eight bytes, the value follows.
pub(crate) fn qualified(segment: &str, field: &str, value_bytes: usize) -> Vec<u8> {
    format!("{segment:8}({field:8} ={:value_bytes$})", "").into_bytes()
}

/// Where the value stands in a qualified SSA.
pub(crate) const SSA_VALUE: usize = 19;

/// Shows the segments of `customers` customers in hierarchic order, with their codes.
pub(crate) fn each(customers: u64, mut show: impl FnMut(u8, &[u8]) -> Result<()>) -> Result<u64> {
    let (mut customer, mut account, mut posting) = ([0; 100], [0; 60], [0; POSTING_BYTES]);
    let mut random = Random::new(customers);
    random.fill(&mut customer);
    random.fill(&mut account);
    random.fill(&mut posting);
    let mut shown = 0;
    for number in 0..customers {
        digits(number, &mut customer[..8]);
        name(number, &mut customer[8..24]);
        show(1, &customer)?;
        for number_of_account in 0..2 {
            digits(number_of_account, &mut account[..4]);
            show(2, &account)?;
            let count = postings(number, number_of_account);
            for at in 0..count {
                digits(posting_key(at), &mut posting[..8]);
                show(3, &posting)?;
            }
            shown += 1 + count;
        }
        shown += 1;
    }
    Ok(shown)
}

/// The segment types of the database, as an unload file names them.
fn types(database: &Database) -> Result<Vec<SegmentType>> {
    let kind = |segment: &definitions::Segment| {
        let name = Name::new(segment.name.text())?;
        let (code, level, stored_length) = (segment.code, segment.level, segment.max + 20);
        Some(SegmentType { code, level, name, stored_length })
    };
    let all: Option<Vec<SegmentType>> = database.schema.dbd.segments.iter().map(kind).collect();
    all.ok_or_else(|| failed("a segment's name cannot stand in an unload file"))
}

/// A writer of an unload file of the database.
fn writer<'f>(database: &Database, file: &'f File) -> Result<Writer<&'f File>> {
    let types = types(database)?;
    let mut writer = Writer::new(file, &types).map_err(failed)?;
    for (one, segment) in types.iter().zip(&database.schema.dbd.segments) {
        writer.declare(one.code, Form::Fixed(segment.max)).map_err(failed)?;
    }
    Ok(writer)
}

/// Makes an unload file of a database of so many customers; how many segments it holds.
pub(crate) fn generate(database: &Database, path: &Path, customers: u64) -> Result<u64> {
    let file = File::create(path).map_err(BenchError::system("create", path))?;
    let mut writer = writer(database, &file)?;
    let segments = each(customers, |code, data| writer.segment(code, data).map_err(failed))?;
    writer.finish().map_err(failed)?;
    Ok(segments)
}

/// Loads the database from an unload file, as `holdfast load` does.
pub(crate) fn load(site: &Site, path: &Path) -> Result<u64> {
    let database = site.database(DATABASE)?;
    let file = File::open(path).map_err(BenchError::system("open", path))?;
    let mut input = Records { reader: Reader::new(file).map_err(failed)? };
    for segment in &database.schema.dbd.segments {
        input.reader.declare(segment.code, Form::Fixed(segment.max)).map_err(failed)?;
    }
    let mut others = |name| Err(HierarchyError::NoDefinition(name));
    let loaded = database.load(&site.store, &mut others, &mut input).map_err(failed)?;
    Ok(loaded.segments)
}

/// Unloads the database into a durable file, as `holdfast unload` does.
pub(crate) fn unload(site: &Site, path: &Path) -> Result<u64> {
    let database = site.database(DATABASE)?;
    let file = File::create(path).map_err(BenchError::system("create", path))?;
    let mut writer = writer(database, &file)?;
    let mut segments = 0;
    let mut no_other = |name| Err(HierarchyError::NoDefinition(name));
    let given = database.unload(&site.store, &mut no_other, |of, _, data| {
        segments += 1;
        let refused = |error| HierarchyError::Input(Arc::new(error));
        writer.segment(of.code(), data).map_err(refused)
    });
    given.map_err(failed)?;
    writer.finish().map_err(failed)?;
    file.sync_all().map_err(BenchError::system("sync", path))?;
    Ok(segments)
}

/// An unload file as what a load reads from; its codes are those of the database.
struct Records {
    reader: Reader<File>,
}

impl Input for Records {
    fn next_segment(&mut self) -> std::result::Result<Option<Given<'_>>, InputError> {
        let record = self.reader.next_record().map_err(|error| Arc::new(error) as InputError)?;
        Ok(record.and_then(|record| {
            let of = TypeAt::of_code(record.segment.code)?;
            Some(Given { of, data: record.data, deleted: Deleted::default() })
        }))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn two_customers_have_fifteen_segments_in_hierarchic_order() {
        let mut codes = Vec::new();
        let shown = each(2, |code, _| {
            codes.push(code);
            Ok(())
        });
        assert_eq!(shown.unwrap(), 15);
        assert_eq!(codes, [1, 2, 3, 3, 2, 3, 3, 1, 2, 3, 3, 2, 3, 3, 3]);
    }

    #[test]
    fn names_are_unique_and_their_order_is_not_that_of_the_keys() {
        let of = |customer| {
            let mut place = [0; 16];
            name(customer, &mut place);
            place
        };
        let all: BTreeSet<[u8; 16]> = (0..1_000).map(of).collect();
        assert_eq!(all.len(), 1_000);
        assert!((1..1_000).any(|customer| of(customer) < of(customer - 1)));
    }

    #[test]
    fn a_qualified_ssa_has_its_value_where_it_is_written() {
        let ssa = qualified("ACCOUNT", "ACCTNO", 4);
        assert_eq!(ssa, b"ACCOUNT (ACCTNO   =    )");
        assert_eq!(SSA_VALUE + 4 + 1, ssa.len());
    }
}
