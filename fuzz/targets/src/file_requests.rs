//! File requests of COBOL programs: control blocks, key definitions, messages for records.

use std::ffi::{OsStr, OsString};

use file_handler::acb_wire::{AcbAnswer, AcbRequest};
use file_handler::body::{Body, Done, Found, Place, Which};
use file_handler::data_set::{DataSets, Opening};
use file_handler::fcd::{Access, FCD_BYTES, Fcd, Organization};
use file_handler::name::Variables;
use file_handler::opcode::Relation;
use file_handler::request_kind::nature;
use file_handler::wire::{Answer, Request, first_answer};
use file_handler::{Caller, FileStatus, Handler, Native};

use crate::input::Input;

/// The longest record of a program here.
const RECORD_BYTES: u32 = 256;

/// Whatever the name: a data set.
struct Named;

impl Variables for Named {
    fn get(&self, name: &OsStr) -> Option<OsString> {
        name.as_encoded_bytes().starts_with(b"DD_").then(|| OsString::from("//ANY.NAME"))
    }
}

/// Data sets with one record, which any request finds.
struct Any;

impl DataSets for Any {
    fn open(&mut self, opening: &Opening) -> Done<(Box<dyn Body>, FileStatus)> {
        let mut bytes = Vec::new();
        Request::Open(Box::new(opening.clone())).write(&mut bytes);
        assert!(Request::read(&bytes).is_some(), "what a program opens can be asked for");
        Ok((Box::new(One), FileStatus::DONE))
    }
}

struct One;

impl One {
    fn found(record: &mut Vec<u8>) -> Done<Found> {
        record.clear();
        record.extend_from_slice(&[b'R'; 300]);
        Ok(Found { status: FileStatus::DONE, number: Some(1) })
    }
}

impl Body for One {
    fn read_next(&mut self, _previous: bool, record: &mut Vec<u8>) -> Done<Found> {
        One::found(record)
    }

    fn read(&mut self, _which: Which<'_>, record: &mut Vec<u8>) -> Done<Found> {
        One::found(record)
    }

    fn start(&mut self, _relation: Relation, _which: Which<'_>) -> Done<()> {
        Ok(())
    }

    fn write(&mut self, record: &[u8], _place: Place) -> Done<Found> {
        assert!(record.len() <= RECORD_BYTES as usize, "no more than the area has");
        Ok(Found::plain())
    }

    fn rewrite(&mut self, record: &[u8], _which: Which<'_>) -> Done<FileStatus> {
        assert!(record.len() <= RECORD_BYTES as usize, "no more than the area has");
        Ok(FileStatus::DONE)
    }

    fn delete(&mut self, _which: Which<'_>) -> Done<()> {
        Ok(())
    }

    fn close(&mut self) -> Done<()> {
        Ok(())
    }
}

/// A program whose memory is as long as its block says.
struct Program<'a> {
    keys: &'a [u8],
    area: Vec<u8>,
}

impl Caller for Program<'_> {
    fn identity(&mut self, fcd: &mut Fcd) -> u64 {
        fcd.record_address()
    }

    fn recall(&mut self, _identity: u64) {}

    fn name(&mut self, _fcd: &Fcd) -> Vec<u8> {
        b"NAME".to_vec()
    }

    fn keys(&mut self, _fcd: &Fcd) -> Vec<u8> {
        self.keys.to_vec()
    }

    fn get(&mut self, fcd: &Fcd, offset: usize, len: usize, out: &mut Vec<u8>) {
        let most = fcd.record_most() as usize;
        assert!(offset + len <= most, "no more than the block states is read");
        let end = (offset + len).min(self.area.len());
        out.extend_from_slice(&self.area[offset.min(end)..end]);
    }

    fn put(&mut self, fcd: &Fcd, record: &[u8], fill: usize) {
        let most = fcd.record_most() as usize;
        assert!(record.len() <= most && fill <= most, "no more than the block states is written");
    }

    fn depending(&mut self) -> Option<u32> {
        None
    }

    fn tell_length(&mut self, _length: u32) {}

    fn number_most(&mut self) -> u64 {
        u64::MAX
    }

    fn tell_number(&mut self, _number: u64) -> bool {
        true
    }

    fn closed(&mut self) {}

    fn native(&mut self, _request: Native, _fcd: &mut Fcd) -> Option<FileStatus> {
        None
    }
}

/// Requests with any blocks, and any bytes as messages.
///
/// # Panics
/// If a promise is broken.
pub fn fuzz(bytes: &[u8]) {
    if let Some(request) = Request::read(bytes) {
        let mut again = Vec::new();
        request.write(&mut again);
        assert_eq!(Request::read(&again), Some(request), "a message is what it was written as");
        assert!(nature(bytes).is_some(), "it has a nature");
    }
    let _ = Answer::read(bytes);
    if let Some(request) = AcbRequest::read(bytes) {
        let mut again = Vec::new();
        request.write(&mut again);
        assert_eq!(AcbRequest::read(&again), Some(request), "and so is what an RPL asks for");
        assert!(nature(bytes).is_some(), "it has a nature");
    }
    let _ = (AcbAnswer::read(bytes), first_answer(bytes));
    let mut input = Input::new(bytes);
    let keys = usize::from(input.byte());
    let keys = input.take(keys);
    let mut handler = Handler::new(Box::new(Named), Some(Box::new(Any)));
    let mut program = Program { keys, area: vec![b'A'; RECORD_BYTES as usize] };
    let mut fcd = Fcd::default();
    while !input.rest().is_empty() {
        let code = [if input.byte() == 0 { input.byte() } else { 0xfa }, input.byte()];
        for _ in 0..input.byte() % 4 {
            let at = usize::from(input.byte()) % FCD_BYTES;
            fcd.0[at] = input.byte();
        }
        if fcd.record_most() > RECORD_BYTES {
            fcd.set_record_limits(0, RECORD_BYTES);
        }
        handler.call(code, 1, &mut fcd, &mut program);
        assert!(fcd.status()[0].is_ascii_digit(), "every request has a status");
    }
    handler.close_all();
}

/// Opens, reads, writes.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let mut keyed = vec![0; 40];
    (keyed[7], keyed[15], keyed[17], keyed[39]) = (1, 1, 30, 8);
    let mut bytes = vec![40];
    bytes.extend_from_slice(&keyed);
    bytes.extend_from_slice(&[1, 2, 3, 5, 2, 99, 80, 95, 80]);
    for code in [0xf5, 0xf6, 0xe8, 0xf3, 0xf4, 0xf7, 0x80] {
        bytes.extend_from_slice(&[1, code, 0]);
    }
    let mut fcd = Fcd::default();
    fcd.set_organization(Organization::Indexed);
    fcd.set_access(Access::Dynamic);
    let requests = [
        Request::Start(1, Relation::Greater, Which::Key { number: 1, value: b"KEY" }),
        Request::Write { file: 2, in_sequence: true, number: 3, record: b"record" },
        Request::Rewrite(3, Which::Number(4), b"record"),
    ];
    let mut seeds = vec![bytes, fcd.0.to_vec()];
    for request in requests {
        let mut bytes = Vec::new();
        request.write(&mut bytes);
        seeds.push(bytes);
    }
    seeds
}
