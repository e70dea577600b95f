//! MQPUT, MQPUT1, MQGET.

use std::ffi::c_void;

use mqi::client::Client;
use mqi::structures::{Gmo, Md, Pmo};
use mqi::table::Structure as _;
use mqi::wire::frame::DATA_BYTES_MAX;
use mqi::wire::{Posting, Wanted};
use queue_manager::options::{PutRecord, value};
use queue_manager::{Completion, Outcome, Reason};

use crate::finish::finish;
use crate::memory::{self, Lent, optional};
use crate::message_handles::StandIn;
use crate::objects::LentObject;
use crate::state::Connection;
use crate::{registration, state};

/// A message to be put, in the caller's memory.
struct LentPosting {
    md: Option<Lent<Md>>,
    pmo: Option<Lent<Pmo>>,
    posting: Posting,
    /// How many records the caller has room for.
    records: usize,
}

impl LentPosting {
    /// Reads descriptor and options.
    ///
    /// # Safety
    /// They are null, or structures whose pointers lead to what they say.
    unsafe fn take(md: *mut c_void, pmo: *mut c_void, lists: i32) -> Result<LentPosting, Reason> {
        // SAFETY: as promised to this function.
        let md = unsafe { Lent::<Md>::take(md, Reason::MD_ERROR) }?;
        // SAFETY: as promised to this function.
        let pmo = unsafe { Lent::<Pmo>::take(pmo, Reason::PMO_ERROR) }?;
        let now = &pmo.now;
        let has_list = lists > 0 && now.recs_present > 0;
        let records = match has_list {
            // SAFETY: as promised to this function.
            true => unsafe { put_records(now, pmo.base()) }?,
            false if now.recs_present < 0 => return Err(Reason::RECS_PRESENT_ERROR),
            false => Vec::new(),
        };
        let count = records.len();
        let posting = Posting {
            md: md.now.clone(),
            pmo: now.clone(),
            records,
            wants_responses: now.response_rec_ptr != 0 || now.response_rec_offset != 0,
        };
        Ok(LentPosting { md: Some(md), pmo: Some(pmo), posting, records: count })
    }

    /// Writes back what the call has made of them.
    ///
    /// # Safety
    /// As for [`LentPosting::take`].
    unsafe fn give(&mut self, answers: &[Outcome]) {
        if let Some(md) = &mut self.md {
            md.now = self.posting.md.clone();
            md.give();
        }
        if let Some(pmo) = &mut self.pmo {
            let (pointer, offset) = (pmo.now.response_rec_ptr, pmo.now.response_rec_offset);
            let at = memory::place(pointer, offset, pmo.base());
            // SAFETY: as promised to this function.
            unsafe { memory::set_responses(at, pmo.now.recs_present, answers) };
            let at = memory::place(pmo.now.put_msg_rec_ptr, pmo.now.put_msg_rec_offset, pmo.base());
            let fields = pmo.now.put_msg_rec_fields;
            // Whatever a queue manager of another machine has answered.
            let records = self.posting.records.iter().take(self.records);
            let all = records.flat_map(|record| record_bytes(record, fields));
            // SAFETY: as promised to this function; these are no more records than were read.
            unsafe { memory::set_bytes(at, &all.collect::<Vec<u8>>()) };
            pmo.now = self.posting.pmo.clone();
            pmo.give();
        }
    }
}

/// The records of a distribution list: fields of each stand in this order, those that are there.
///
/// # Safety
/// The options lead to as many records as they say.
unsafe fn put_records(pmo: &Pmo, base: *mut u8) -> Result<Vec<PutRecord>, Reason> {
    use value::put_record as has;
    let fields = pmo.put_msg_rec_fields;
    if fields & !has::ALL != 0 {
        return Err(Reason::PMO_RECORD_FLAGS_ERROR);
    }
    if fields == 0 {
        return Ok(Vec::new());
    }
    let each = record_bytes(&PutRecord::default(), fields).len();
    let at = memory::place(pmo.put_msg_rec_ptr, pmo.put_msg_rec_offset, base);
    let bad_count = Reason::RECS_PRESENT_ERROR;
    let bad_place = Reason::PUT_MSG_RECORDS_ERROR;
    // SAFETY: as promised to this function.
    let bytes = unsafe { memory::records(pmo.recs_present, each, at, bad_count, bad_place) }?;
    Ok(bytes.chunks_exact(each).map(|bytes| put_record(bytes, fields)).collect())
}

fn put_record(mut bytes: &[u8], fields: i32) -> PutRecord {
    use value::put_record as has;
    fn next<const N: usize>(bytes: &mut &[u8], is_there: bool) -> Option<[u8; N]> {
        let (first, rest) = bytes.split_at_checked(if is_there { N } else { 0 })?;
        *bytes = rest;
        first.try_into().ok()
    }
    let mut record = PutRecord::default();
    if let Some(id) = next(&mut bytes, fields & has::MSG_ID != 0) {
        record.msg_id = id;
    }
    if let Some(id) = next(&mut bytes, fields & has::CORREL_ID != 0) {
        record.correl_id = id;
    }
    if let Some(id) = next(&mut bytes, fields & has::GROUP_ID != 0) {
        record.group_id = id;
    }
    if let Some(feedback) = next(&mut bytes, fields & has::FEEDBACK != 0) {
        record.feedback = i32::from_le_bytes(feedback);
    }
    if let Some(token) = next(&mut bytes, fields & has::ACCOUNTING_TOKEN != 0) {
        record.accounting_token = token;
    }
    record
}

/// A record as it stands in memory.
fn record_bytes(record: &PutRecord, fields: i32) -> Vec<u8> {
    use value::put_record as has;
    let feedback = record.feedback.to_le_bytes();
    let parts: [(i32, &[u8]); 5] = [
        (has::MSG_ID, &record.msg_id),
        (has::CORREL_ID, &record.correl_id),
        (has::GROUP_ID, &record.group_id),
        (has::FEEDBACK, &feedback),
        (has::ACCOUNTING_TOKEN, &record.accounting_token),
    ];
    let present = parts.into_iter().filter(|(field, _)| fields & field != 0);
    present.flat_map(|(_, bytes)| bytes.to_vec()).collect()
}

/// The data of a message to be put.
///
/// # Safety
/// As for [`memory::input`].
unsafe fn data<'a>(length: i32, buffer: *mut c_void) -> Result<&'a [u8], Reason> {
    let (bad_length, bad_buffer) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
    // SAFETY: as promised to this function.
    let data = unsafe { memory::input(buffer, length, bad_length, bad_buffer) }?;
    if data.len() > DATA_BYTES_MAX {
        return Err(Reason::MSG_TOO_BIG_FOR_Q_MGR);
    }
    Ok(data)
}

/// What a put has come to.
type Put = (Outcome, Vec<Outcome>);

/// Whether what was lent went with a connection that was made again meanwhile: the call was
/// refused for that, and is made with what is lent anew.
fn was_lost(client: &Client, times: u64, why: Reason) -> bool {
    why == Reason::HMSG_ERROR && client.times_made_again() != times
}

/// Puts with message handles of no connection lent to this one.
fn lending(
    client: &mut Client,
    posting: &mut Posting,
    mut put: impl FnMut(&mut Client, &mut Posting) -> Put,
) -> Result<Put, Reason> {
    loop {
        let (times, before) = (client.times_made_again(), posting.clone());
        let done = lending_once(client, posting, &mut put);
        let why = done.as_ref().map_or_else(|reason| *reason, |done| done.0.reason);
        if !was_lost(client, times, why) {
            return done;
        }
        *posting = before;
    }
}

fn lending_once(
    client: &mut Client,
    posting: &mut Posting,
    put: &mut impl FnMut(&mut Client, &mut Posting) -> Put,
) -> Result<Put, Reason> {
    let original = StandIn::lend(client, &mut posting.pmo.original_msg_handle)?;
    let new = StandIn::lend(client, &mut posting.pmo.new_msg_handle);
    let done = new.map(|new| {
        let done = put(client, posting);
        if let Some(new) = new {
            new.end(client, &mut posting.pmo.new_msg_handle, false);
        }
        done
    });
    if let Some(original) = original {
        original.end(client, &mut posting.pmo.original_msg_handle, false);
    }
    done
}

/// A put that may be in a unit of work is to come.
fn before_put(connection: &Connection, pmo: &Pmo) -> Result<(), Reason> {
    match pmo.options & value::put::NO_SYNCPOINT {
        0 => registration::before_work(connection),
        _ => Ok(()),
    }
}

/// Puts a message.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn put(
    hconn: i32,
    hobj: i32,
    md: *mut c_void,
    pmo: *mut c_void,
    length: i32,
    buffer: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut lent = LentPosting::take(md, pmo, 1)?;
            let data = data(length, buffer)?;
            before_put(&connection, &lent.posting.pmo)?;
            let put = |client: &mut Client, posting: &mut Posting| client.put(hobj, posting, data);
            let mut client = connection.client()?;
            let (outcome, answers) = lending(&mut client, &mut lent.posting, put)?;
            drop(client);
            lent.give(&answers);
            Ok(outcome)
        });
    }
}

/// Opens an object, puts one message, and closes it.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn put1(
    hconn: i32,
    od: *mut c_void,
    md: *mut c_void,
    pmo: *mut c_void,
    length: i32,
    buffer: *mut c_void,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut object = LentObject::take(od)?;
            let mut lent = LentPosting::take(md, pmo, object.object.od.recs_present)?;
            let data = data(length, buffer)?;
            before_put(&connection, &lent.posting.pmo)?;
            let put = |client: &mut Client, posting: &mut Posting| {
                client.put1(&mut object.object, posting, data)
            };
            let mut client = connection.client()?;
            let (outcome, answers) = lending(&mut client, &mut lent.posting, put)?;
            drop(client);
            object.give("", &answers);
            lent.give(&answers);
            Ok(outcome)
        });
    }
}

/// Gets a message.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn get(
    hconn: i32,
    hobj: i32,
    md: *mut c_void,
    gmo: *mut c_void,
    length: i32,
    buffer: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            let connection = state::find(hconn)?;
            let mut md = Lent::<Md>::take(md, Reason::MD_ERROR)?;
            let mut gmo = Lent::<Gmo>::take(gmo, Reason::GMO_ERROR)?;
            let (bad_length, bad_buffer) = (Reason::BUFFER_LENGTH_ERROR, Reason::BUFFER_ERROR);
            let into = memory::output(buffer, length, bad_length, bad_buffer)?;
            if data_length.is_null() {
                return Err(Reason::DATA_LENGTH_ERROR);
            }
            let mut wanted = Wanted { md: md.now.clone(), gmo: gmo.now.clone(), room: length };
            let outside = value::get::NO_SYNCPOINT | value::get::ANY_BROWSE;
            if gmo.now.options & outside == 0 {
                registration::before_work(&connection)?;
            }
            let mut client = connection.client()?;
            let (outcome, got) = get_lending(&mut client, hobj, &mut wanted, into)?;
            drop(client);
            if outcome.completion != Completion::Failed {
                memory::set(data_length, got);
            }
            md.now = wanted.md;
            gmo.now = wanted.gmo;
            md.give();
            gmo.give();
            Ok(outcome)
        });
    }
}

/// Gets with a message handle of no connection lent to this one.
fn get_lending(
    client: &mut Client,
    hobj: i32,
    wanted: &mut Wanted,
    into: &mut [u8],
) -> Result<(Outcome, i32), Reason> {
    loop {
        let times = client.times_made_again();
        let own = wanted.gmo.msg_handle;
        let stand_in = match StandIn::lend(client, &mut wanted.gmo.msg_handle) {
            Err(why) if was_lost(client, times, why) => continue,
            lent => lent?,
        };
        let (outcome, got) = client.get(hobj, wanted, into);
        let Some(stand_in) = stand_in else { return Ok((outcome, got)) };
        let is_done = outcome.completion != Completion::Failed;
        let before = client.times_made_again();
        stand_in.end(client, &mut wanted.gmo.msg_handle, is_done);
        if is_done && client.times_made_again() != before {
            // The message has come, but its properties went with the connection.
            return Err(Reason::CALL_INTERRUPTED);
        }
        if !was_lost(client, times, outcome.reason) {
            return Ok((outcome, got));
        }
        wanted.gmo.msg_handle = own;
    }
}

/// A descriptor that need not be there, for calls on message handles.
///
/// # Safety
/// As for [`Lent::take`].
pub(crate) unsafe fn optional_descriptor(
    md: *mut c_void,
) -> Result<(Option<Lent<Md>>, Md), Reason> {
    // SAFETY: as promised to this function.
    let lent = unsafe { optional::<Md>(md, Reason::MD_ERROR) }?;
    let now = lent.as_ref().map_or_else(Md::initial, |lent| lent.now.clone());
    Ok((lent, now))
}
