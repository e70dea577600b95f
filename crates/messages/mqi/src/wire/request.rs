//! The calls, as they are asked for.

use queue_manager::ObjectName;
use queue_manager::branch::BranchCall;
use queue_manager::options::{ObjectRecord, PutRecord};
use queue_manager::properties::PropertyValue;

use super::codec::{Reader, Writer};
use crate::structures::{Gmo, Md, Od, Pmo, Sd};
use crate::table::Structure as _;

/// The most queues that one call waits at. Each takes many more bytes than it comes in.
pub const CONSUMERS_MAX: usize = 16_384;

/// A user and what proves it.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The user.
    pub user: String,
    /// The password.
    pub password: Vec<u8>,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Which queue manager a program connects to, and who it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Connecting {
    /// The queue manager.
    pub manager: ObjectName,
    /// The program's name.
    pub program: [u8; 28],
    /// Its thread.
    pub thread: i32,
    /// What proves who it is, if it names a user.
    pub proof: Option<Credentials>,
}

impl Connecting {
    /// Of a program that proves nothing.
    #[must_use]
    pub fn new(manager: ObjectName, program: [u8; 28]) -> Connecting {
        Connecting { manager, program, thread: 1, proof: None }
    }

    fn write(&self, to: &mut Writer) {
        to.fixed(&self.manager.0).fixed(&self.program).number(self.thread);
        to.flag(self.proof.is_some());
        if let Some(proof) = &self.proof {
            to.bytes(proof.user.as_bytes()).bytes(&proof.password);
        }
    }

    fn read(from: &mut Reader<'_>) -> Option<Connecting> {
        let manager = ObjectName(from.array()?);
        let (program, thread) = (from.array()?, from.number()?);
        let proof = match from.flag()? {
            true => Some(Credentials { user: text(from)?, password: from.bytes()?.to_vec() }),
            false => None,
        };
        Some(Connecting { manager, program, thread, proof })
    }
}

/// How a program on another machine comes in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The channel of the queue manager that it asks for.
    pub channel: String,
    /// Its process there.
    pub process: i32,
}

impl Entry {
    fn write(&self, to: &mut Writer) {
        to.bytes(self.channel.as_bytes()).number(self.process);
    }

    fn read(from: &mut Reader<'_>) -> Option<Entry> {
        Some(Entry { channel: text(from)?, process: from.number()? })
    }
}

/// What is to be opened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Object {
    /// Its descriptor; what pointers lead to stands beside it.
    pub od: Od,
    /// The topic string.
    pub object_string: String,
    /// Which messages are seen.
    pub selection_string: String,
    /// Destinations of a distribution list.
    pub records: Vec<ObjectRecord>,
    /// Whether an answer for each destination is wanted.
    pub wants_responses: bool,
}

impl Object {
    /// With a descriptor alone.
    #[must_use]
    pub fn new(od: Od) -> Object {
        Object {
            od,
            object_string: String::new(),
            selection_string: String::new(),
            records: Vec::new(),
            wants_responses: false,
        }
    }

    fn write(&self, to: &mut Writer) {
        to.structure(&self.od, &Od::initial());
        to.bytes(self.object_string.as_bytes()).bytes(self.selection_string.as_bytes());
        to.count(self.records.len());
        for record in &self.records {
            to.fixed(&record.object_name.0).fixed(&record.object_q_mgr_name.0);
        }
        to.flag(self.wants_responses);
    }

    fn read(from: &mut Reader<'_>) -> Option<Object> {
        let od = from.structure(&Od::initial())?;
        let object_string = text(from)?;
        let selection_string = text(from)?;
        let mut records = Vec::new();
        for _ in 0..from.count(96)? {
            records.push(ObjectRecord {
                object_name: ObjectName(from.array()?),
                object_q_mgr_name: ObjectName(from.array()?),
            });
        }
        let wants_responses = from.flag()?;
        Some(Object { od, object_string, selection_string, records, wants_responses })
    }
}

/// A message to be put, without its data.
#[derive(Clone, Debug)]
pub struct Posting {
    /// Its descriptor.
    pub md: Md,
    /// How it is put.
    pub pmo: Pmo,
    /// What differs for each destination of a list.
    pub records: Vec<PutRecord>,
    /// Whether an answer for each destination is wanted.
    pub wants_responses: bool,
}

impl Posting {
    fn write(&self, to: &mut Writer) {
        to.structure(&self.md, &Md::initial()).structure(&self.pmo, &Pmo::initial());
        write_records(to, &self.records);
        to.flag(self.wants_responses);
    }

    fn read(from: &mut Reader<'_>) -> Option<Posting> {
        let md = from.structure(&Md::initial())?;
        let pmo = from.structure(&Pmo::initial())?;
        let records = read_records(from)?;
        Some(Posting { md, pmo, records, wants_responses: from.flag()? })
    }
}

/// Writes what differs for each destination of a list.
pub(crate) fn write_records(to: &mut Writer, records: &[PutRecord]) {
    to.count(records.len());
    for record in records {
        to.fixed(&record.msg_id).fixed(&record.correl_id).fixed(&record.group_id);
        to.number(record.feedback).fixed(&record.accounting_token);
    }
}

/// Reads it.
pub(crate) fn read_records(from: &mut Reader<'_>) -> Option<Vec<PutRecord>> {
    let mut records = Vec::new();
    for _ in 0..from.count(108)? {
        records.push(PutRecord {
            msg_id: from.array()?,
            correl_id: from.array()?,
            group_id: from.array()?,
            feedback: from.number()?,
            accounting_token: from.array()?,
        });
    }
    Some(records)
}

/// A message that is wanted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Wanted {
    /// What it is to match.
    pub md: Md,
    /// How it is got.
    pub gmo: Gmo,
    /// How many bytes of data are taken.
    pub room: i32,
}

impl Wanted {
    fn write(&self, to: &mut Writer) {
        to.structure(&self.md, &Md::initial()).structure(&self.gmo, &Gmo::initial());
        to.number(self.room);
    }

    fn read(from: &mut Reader<'_>) -> Option<Wanted> {
        let md = from.structure(&Md::initial())?;
        let gmo = from.structure(&Gmo::initial())?;
        Some(Wanted { md, gmo, room: from.number()? })
    }
}

/// A call, without message data.
#[derive(Clone, Debug)]
// The table of the module says what each has; one lives at a time, on its way to be written.
#[allow(missing_docs, clippy::large_enum_variant)]
pub enum Request {
    Connect(Connecting),
    Enter(Entry, Connecting),
    Branch(BranchCall),
    Disconnect,
    Open { object: Object, options: i32 },
    Close { handle: i32, options: i32 },
    Put { handle: i32, posting: Posting },
    Put1 { object: Object, posting: Posting },
    Get { handle: i32, wanted: Wanted },
    Inquire { handle: i32, selectors: Vec<i32> },
    Set { handle: i32, selectors: Vec<i32>, numbers: Vec<i32>, characters: Vec<u8> },
    Commit,
    Back,
    Begin,
    Subscribe { sd: Sd, texts: [String; 4], handle: i32 },
    SubscriptionRequest { handle: i32, action: i32 },
    Status { kind: i32 },
    CreateHandle,
    DeleteHandle { handle: i64 },
    SetProperty { handle: i64, name: String, value: PropertyValue },
    InquireProperty { handle: i64, name: String, which: i32 },
    DeleteProperty { handle: i64, name: String },
    BufferToHandle { handle: i64, md: Md, delete: bool },
    HandleToBuffer { handle: i64, name: String, md: Md, delete: bool },
    Consume { wait_ms: i32, list: Vec<(i32, Wanted)> },
}

impl Request {
    /// Its number.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            Request::Connect(_) => 1,
            Request::Enter(..) => 24,
            Request::Branch(_) => 25,
            Request::Disconnect => 2,
            Request::Open { .. } => 3,
            Request::Close { .. } => 4,
            Request::Put { .. } => 5,
            Request::Put1 { .. } => 6,
            Request::Get { .. } => 7,
            Request::Inquire { .. } => 8,
            Request::Set { .. } => 9,
            Request::Commit => 10,
            Request::Back => 11,
            Request::Begin => 12,
            Request::Subscribe { .. } => 13,
            Request::SubscriptionRequest { .. } => 14,
            Request::Status { .. } => 15,
            Request::CreateHandle => 16,
            Request::DeleteHandle { .. } => 17,
            Request::SetProperty { .. } => 18,
            Request::InquireProperty { .. } => 19,
            Request::DeleteProperty { .. } => 20,
            Request::BufferToHandle { .. } => 21,
            Request::HandleToBuffer { .. } => 22,
            Request::Consume { .. } => 23,
        }
    }

    /// Its fields.
    #[must_use]
    pub fn fields(&self) -> Vec<u8> {
        let mut to = Writer::new();
        match self {
            Request::Connect(connecting) => connecting.write(&mut to),
            Request::Enter(entry, connecting) => {
                entry.write(&mut to);
                connecting.write(&mut to);
            }
            Request::Branch(call) => super::branch::write_call(call, &mut to),
            Request::Disconnect
            | Request::Commit
            | Request::Back
            | Request::Begin
            | Request::CreateHandle => {}
            Request::Open { object, options } => {
                object.write(&mut to);
                to.number(*options);
            }
            Request::Close { handle, options: second }
            | Request::SubscriptionRequest { handle, action: second } => {
                to.number(*handle).number(*second);
            }
            Request::Put { handle, posting } => posting.write(to.number(*handle)),
            Request::Put1 { object, posting } => {
                object.write(&mut to);
                posting.write(&mut to);
            }
            Request::Get { handle, wanted } => wanted.write(to.number(*handle)),
            Request::Inquire { handle, selectors } => {
                to.number(*handle).numbers(selectors);
            }
            Request::Set { handle, selectors, numbers, characters } => {
                to.number(*handle).numbers(selectors).numbers(numbers).bytes(characters);
            }
            Request::Subscribe { sd, texts, handle } => {
                to.structure(sd, &Sd::initial());
                texts.iter().for_each(|one| {
                    to.bytes(one.as_bytes());
                });
                to.number(*handle);
            }
            Request::Status { kind } => {
                to.number(*kind);
            }
            Request::Consume { wait_ms, list } => {
                to.number(*wait_ms).count(list.len());
                list.iter().for_each(|(handle, wanted)| wanted.write(to.number(*handle)));
            }
            _ => self.handle_fields(&mut to),
        }
        to.into_bytes()
    }

    /// The fields of calls on message handles.
    fn handle_fields(&self, to: &mut Writer) {
        match self {
            Request::DeleteHandle { handle } => {
                to.long(*handle);
            }
            Request::SetProperty { handle, name, value } => {
                let (kind, bytes) = property_parts(value);
                to.long(*handle).bytes(name.as_bytes()).number(kind).bytes(&bytes);
            }
            Request::InquireProperty { handle, name, which } => {
                to.long(*handle).bytes(name.as_bytes()).number(*which);
            }
            Request::DeleteProperty { handle, name } => {
                to.long(*handle).bytes(name.as_bytes());
            }
            Request::BufferToHandle { handle, md, delete } => {
                to.long(*handle).structure(md, &Md::initial()).flag(*delete);
            }
            Request::HandleToBuffer { handle, name, md, delete } => {
                to.long(*handle).bytes(name.as_bytes());
                to.structure(md, &Md::initial()).flag(*delete);
            }
            _ => {}
        }
    }

    /// The call of a number with these fields; `None` if they are not those of such a call.
    #[must_use]
    pub fn read(kind: u8, fields: &[u8]) -> Option<Request> {
        let mut from = Reader::new(fields);
        let request = match kind {
            16.. => Request::read_late(kind, &mut from)?,
            _ => Request::read_early(kind, &mut from)?,
        };
        from.is_done().then_some(request)
    }

    fn read_early(kind: u8, from: &mut Reader<'_>) -> Option<Request> {
        Some(match kind {
            1 => Request::Connect(Connecting::read(from)?),
            2 => Request::Disconnect,
            3 => Request::Open { object: Object::read(from)?, options: from.number()? },
            4 => Request::Close { handle: from.number()?, options: from.number()? },
            5 => Request::Put { handle: from.number()?, posting: Posting::read(from)? },
            6 => Request::Put1 { object: Object::read(from)?, posting: Posting::read(from)? },
            7 => Request::Get { handle: from.number()?, wanted: Wanted::read(from)? },
            8 => Request::Inquire { handle: from.number()?, selectors: from.numbers()? },
            9 => Request::Set {
                handle: from.number()?,
                selectors: from.numbers()?,
                numbers: from.numbers()?,
                characters: from.bytes()?.to_vec(),
            },
            10 => Request::Commit,
            11 => Request::Back,
            12 => Request::Begin,
            13 => {
                let sd = from.structure(&Sd::initial())?;
                let texts = [text(from)?, text(from)?, text(from)?, text(from)?];
                Request::Subscribe { sd, texts, handle: from.number()? }
            }
            14 => Request::SubscriptionRequest { handle: from.number()?, action: from.number()? },
            15 => Request::Status { kind: from.number()? },
            _ => return None,
        })
    }

    fn read_late(kind: u8, from: &mut Reader<'_>) -> Option<Request> {
        Some(match kind {
            16 => Request::CreateHandle,
            17 => Request::DeleteHandle { handle: from.long()? },
            18 => Request::SetProperty {
                handle: from.long()?,
                name: text(from)?,
                value: property(from.number()?, from.bytes()?)?,
            },
            19 => Request::InquireProperty {
                handle: from.long()?,
                name: text(from)?,
                which: from.number()?,
            },
            20 => Request::DeleteProperty { handle: from.long()?, name: text(from)? },
            21 => Request::BufferToHandle {
                handle: from.long()?,
                md: from.structure(&Md::initial())?,
                delete: from.flag()?,
            },
            22 => Request::HandleToBuffer {
                handle: from.long()?,
                name: text(from)?,
                md: from.structure(&Md::initial())?,
                delete: from.flag()?,
            },
            23 => {
                let wait_ms = from.number()?;
                let mut list = Vec::new();
                let count = from.count(10)?;
                if count > CONSUMERS_MAX {
                    return None;
                }
                for _ in 0..count {
                    list.push((from.number()?, Wanted::read(from)?));
                }
                Request::Consume { wait_ms, list }
            }
            25 => Request::Branch(super::branch::read_call(from)?),
            24 => Request::Enter(Entry::read(from)?, Connecting::read(from)?),
            _ => return None,
        })
    }
}

fn text(from: &mut Reader<'_>) -> Option<String> {
    String::from_utf8(from.bytes()?.to_vec()).ok()
}

/// A property's type and its value's bytes, little endian.
#[must_use]
pub fn property_parts(value: &PropertyValue) -> (i32, Vec<u8>) {
    match value {
        PropertyValue::Null => (2, Vec::new()),
        PropertyValue::Boolean(value) => (4, i32::from(*value).to_le_bytes().to_vec()),
        PropertyValue::Bytes(value) => (8, value.clone()),
        PropertyValue::Int8(value) => (16, value.to_le_bytes().to_vec()),
        PropertyValue::Int16(value) => (32, value.to_le_bytes().to_vec()),
        PropertyValue::Int32(value) => (64, value.to_le_bytes().to_vec()),
        PropertyValue::Int64(value) => (128, value.to_le_bytes().to_vec()),
        PropertyValue::Float32(value) => (256, value.to_le_bytes().to_vec()),
        PropertyValue::Float64(value) => (512, value.to_le_bytes().to_vec()),
        PropertyValue::String(value) => (1024, value.clone().into_bytes()),
    }
}

/// The value of a type with these bytes; `None` if they are none of that type.
#[must_use]
pub fn property(kind: i32, bytes: &[u8]) -> Option<PropertyValue> {
    Some(match kind {
        2 if bytes.is_empty() => PropertyValue::Null,
        4 => match i32::from_le_bytes(bytes.try_into().ok()?) {
            0 => PropertyValue::Boolean(false),
            1 => PropertyValue::Boolean(true),
            _ => return None,
        },
        8 => PropertyValue::Bytes(bytes.to_vec()),
        16 => PropertyValue::Int8(i8::from_le_bytes(bytes.try_into().ok()?)),
        32 => PropertyValue::Int16(i16::from_le_bytes(bytes.try_into().ok()?)),
        64 => PropertyValue::Int32(i32::from_le_bytes(bytes.try_into().ok()?)),
        128 => PropertyValue::Int64(i64::from_le_bytes(bytes.try_into().ok()?)),
        256 => PropertyValue::Float32(f32::from_le_bytes(bytes.try_into().ok()?)),
        512 => PropertyValue::Float64(f64::from_le_bytes(bytes.try_into().ok()?)),
        1024 => PropertyValue::String(String::from_utf8(bytes.to_vec()).ok()?),
        _ => return None,
    })
}
