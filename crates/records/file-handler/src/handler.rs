//! The handler: which requests a file's state allows, and what they do.
//!
//! | request | is allowed | else |
//! |---|---|---|
//! | OPEN | not open; not closed with lock | 41; 38 |
//! | CLOSE | open | 42 |
//! | READ, START | open for INPUT or I-O | 47 |
//! | READ NEXT | the last READ or START has found a record, or it is the first | 46 |
//! | READ PREVIOUS | the same; as the first request of all it finds a relative file's first record alone | 46; 10 |
//! | WRITE in sequence | open for OUTPUT or EXTEND | 48 |
//! | WRITE otherwise | open for OUTPUT or I-O | 48 |
//! | REWRITE, DELETE | open for I-O | 49 |
//! | the same in sequence | the last request was a READ that found a record | 43 |
//! | WRITE, REWRITE | a length that the file's records can have | 44 |
//!
//! Invariants:
//! 1. Whatever a block says, only the caller's own memory is at stake, and of that only what the
//!    block states: the caller ([`Caller`]) sees to it.
//! 2. A file is known by what the caller knows it by, not by its block, which libcob frees at each
//!    CLOSE.
//! 3. A request that is refused for a file's state changes nothing of the file, nor does a WRITE
//!    whose record would have a number that the program cannot be told.

use std::path::Path;

use crate::body::{Body, Chain, Done, Found, Place};
use crate::caller::{Caller, Native};
use crate::data_set::{DataSets, Opening};
use crate::fcd::{Access, Fcd, KeyDefinition, OpenMode, Organization, RECORD_BYTES_MAX, keys_of};
use crate::feedback::feedback_of_open;
use crate::machine::{self, Shape};
use crate::name::{self, Target, Variables};
use crate::opcode::{Closing, Operation, Relation, opens_without_rewind};
use crate::request::{changed, give, named, taken};
use crate::status::FileStatus;

/// Whose an open file is.
enum Opened {
    Ours(Box<dyn Body>),
    /// The run time's.
    Native,
}

/// What is known of an open file.
struct State {
    opened: Opened,
    organization: Organization,
    access: Access,
    mode: OpenMode,
    keys: Vec<KeyDefinition>,
    /// The greatest number that the program can be told.
    number_most: u64,
    /// Whether nothing was read or sought yet.
    is_fresh: bool,
    /// Whether there is a next record to read.
    has_next: bool,
    /// Whether the last request was a READ that found a record.
    has_read: bool,
    /// Whether the next READ NEXT is at the file's end.
    unit_closed: bool,
    name: String,
}

/// A file of a program, open or not.
struct Slot {
    identity: u64,
    block: u64,
    locked: bool,
    state: Option<State>,
}

/// What could not be written of a file that nobody closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// The file's name, as the program assigns it.
    pub name: String,
    /// What came of its CLOSE.
    pub status: FileStatus,
}

/// All files of a program's process.
pub struct Handler {
    slots: Vec<Slot>,
    variables: Box<dyn Variables>,
    data_sets: Option<Box<dyn DataSets>>,
    /// Closed by nobody's CLOSE, and not well: nobody has heard of it.
    unfinished: Vec<Unfinished>,
    record: Vec<u8>,
    key: Vec<u8>,
    /// What VSAM has said to the last request.
    feedback: [u8; 3],
}

/// Refuses to write to, or to take away, a file of a system, and says so: a status alone would not.
fn spare(path: &Path) -> Done<()> {
    if is_spared(path) { Err(FileStatus::MODE) } else { Ok(()) }
}

/// Whether a file is one of a system, and says so.
pub(crate) fn is_spared(path: &Path) -> bool {
    let Some(what) = seam::system_files::of_a_system(path) else { return false };
    let path = path.display();
    eprintln!("holdfast: {path} is {what}: no program may write it (HFY036); name another file");
    true
}

/// An option of CLOSE: no program waits for the status, as where one is cancelled.
pub const IMPLICIT: u32 = 0x100;

impl Handler {
    /// Finds files by these variables; data sets, if there are any, elsewhere.
    #[must_use]
    pub fn new(variables: Box<dyn Variables>, data_sets: Option<Box<dyn DataSets>>) -> Handler {
        let (slots, unfinished) = (Vec::new(), Vec::new());
        let (record, key) = (Vec::new(), Vec::new());
        Handler { slots, variables, data_sets, unfinished, record, key, feedback: [0; 3] }
    }

    /// Carries out a request; `block` is where its control block stands. The block says what came
    /// of it.
    pub fn call(&mut self, code: [u8; 2], block: u64, fcd: &mut Fcd, caller: &mut dyn Caller) {
        let status = match Operation::of(code) {
            _ if !fcd.is_sound() => FileStatus(*b"9\xa1"),
            None => FileStatus::DONE,
            Some(_) if fcd.record_most() > RECORD_BYTES_MAX => FileStatus::INVALID,
            Some(operation) => {
                let done = self.perform(operation, code, block, fcd, caller);
                let status = done.unwrap_or_else(|status| status);
                self.feedback = self.feedback_after(operation, status, fcd, caller);
                status
            }
        };
        fcd.set_status(status.0);
    }

    /// What VSAM has said to the last request: return code, function, feedback.
    #[must_use]
    pub fn feedback(&self) -> [u8; 3] {
        self.feedback
    }

    fn feedback_after(
        &self,
        operation: Operation,
        status: FileStatus,
        fcd: &Fcd,
        caller: &mut dyn Caller,
    ) -> [u8; 3] {
        if status == FileStatus::DUPLICATE {
            return [0, 0, vsam::Condition::DuplicateKey as u8];
        }
        // What a file's state refuses, VSAM has not seen.
        if status.is_done() || status.0[0] == b'4' {
            return [0; 3];
        }
        let slot = usize::try_from(fcd.handle()).ok().and_then(|number| number.checked_sub(1));
        let state = slot.and_then(|at| self.slots.get(at)?.state.as_ref());
        match (operation, state) {
            (Operation::Open(_), None) => match name::target(&*self.variables, &caller.name(fcd)) {
                Target::DataSet(_) => feedback_of_open(status),
                _ => [0; 3],
            },
            (_, Some(State { opened: Opened::Ours(body), .. })) => body.feedback(),
            _ => [0; 3],
        }
    }

    /// Closes what is still open, as the end of a run does; tells what nobody has heard of yet.
    pub fn close_all(&mut self) -> Vec<Unfinished> {
        let mut unfinished = std::mem::take(&mut self.unfinished);
        let states = self.slots.iter_mut().filter_map(|slot| slot.state.take());
        let closed = states.filter_map(|state| match state.opened {
            Opened::Ours(mut body) => {
                body.close().err().map(|status| Unfinished { name: state.name, status })
            }
            Opened::Native => None,
        });
        unfinished.extend(closed);
        unfinished
    }

    /// Begins or ends a unit of work over all data sets.
    pub fn unit(&mut self, code: u8) -> FileStatus {
        let Some(data_sets) = &mut self.data_sets else { return FileStatus::LOGIC };
        let done = data_sets.unit(code);
        self.forget_places();
        done.map_or_else(|status| status, |()| FileStatus::DONE)
    }

    /// Forgets which places files have: a unit of work was backed out, or a program begins anew.
    pub fn forget_places(&mut self) {
        for state in self.slots.iter_mut().filter_map(|slot| slot.state.as_mut()) {
            state.has_read = false;
        }
    }

    fn perform(
        &mut self,
        operation: Operation,
        code: [u8; 2],
        block: u64,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        let (slot, is_fresh) = self.slot_of(block, fcd, caller);
        if let Operation::Open(mode) = operation {
            return self.open(slot, mode, code, is_fresh, fcd, caller);
        }
        if operation == Operation::DeleteFile {
            return self.delete_file(slot, fcd, caller);
        }
        let state = self.slots[slot].state.as_ref();
        if let Some(State { opened: Opened::Native, .. }) = state {
            return self.native(slot, operation, code, fcd, caller);
        }
        match operation {
            Operation::Close(closing) => {
                caller.closed();
                self.close(slot, closing.with(fcd.options()), fcd)
            }
            Operation::ReadNext => self.read_next(slot, false, fcd, caller),
            Operation::ReadPrevious => self.read_next(slot, true, fcd, caller),
            Operation::ReadFirst => {
                self.start(slot, Relation::First, fcd, caller)?;
                self.read_next(slot, false, fcd, caller)
            }
            Operation::ReadKey => self.read_key(slot, fcd, caller),
            Operation::Start(relation) => self.start(slot, relation, fcd, caller),
            Operation::Write => self.write(slot, fcd, caller),
            Operation::Rewrite => self.rewrite(slot, fcd, caller),
            Operation::Delete => self.delete(slot, fcd, caller),
            _ => Ok(FileStatus::DONE),
        }
    }

    /// The slot of a file, and whether its block is new to us.
    fn slot_of(&mut self, block: u64, fcd: &mut Fcd, caller: &mut dyn Caller) -> (usize, bool) {
        let number = usize::try_from(fcd.handle()).unwrap_or(0);
        if let Some(slot) = number.checked_sub(1).and_then(|at| self.slots.get(at))
            && slot.block == block
        {
            caller.recall(slot.identity);
            return (number - 1, false);
        }
        let identity = caller.identity(fcd);
        let found = self.slots.iter().position(|slot| slot.identity == identity);
        let at = found.unwrap_or_else(|| {
            self.slots.push(Slot { identity, block, locked: false, state: None });
            self.slots.len() - 1
        });
        self.slots[at].block = block;
        fcd.set_handle(at as u64 + 1);
        (at, true)
    }

    fn open(
        &mut self,
        slot: usize,
        mode: OpenMode,
        code: [u8; 2],
        is_fresh: bool,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        if let Some(state) = &mut self.slots[slot].state {
            if !is_fresh || state.unit_closed {
                return Err(FileStatus::IS_OPEN);
            }
            // Another program's file stands where one stood that was cancelled while it was open.
            if let Opened::Ours(body) = &mut state.opened
                && let Err(status) = body.close()
            {
                let name = std::mem::take(&mut state.name);
                self.unfinished.push(Unfinished { name, status });
            }
            self.slots[slot].state = None;
        }
        fcd.set_open(None);
        if self.slots[slot].locked {
            return Err(FileStatus::LOCKED);
        }
        let organization = fcd.organization().ok_or(FileStatus::INVALID)?;
        let keys = match organization {
            Organization::Indexed => keys_of(&caller.keys(fcd), fcd.record_most())
                .filter(|keys| !keys.is_empty())
                .ok_or(FileStatus::INVALID)?,
            _ => Vec::new(),
        };
        let shape = Shape {
            organization,
            least: fcd.record_least() as usize,
            most: fcd.record_most() as usize,
            optional: fcd.is_optional(),
        };
        let name = caller.name(fcd);
        let (opened, status) = self.opened_as(&name, (shape, mode), &keys, code, fcd, caller)?;
        fcd.set_open(Some(mode));
        let (access, name) = (fcd.access(), String::from_utf8_lossy(&name).trim().to_owned());
        let is_relative = organization == Organization::Relative;
        let number_most = if is_relative { caller.number_most() } else { u64::MAX };
        let (is_fresh, has_next, has_read, unit_closed) = (true, true, false, false);
        let state = State {
            opened,
            organization,
            access,
            mode,
            keys,
            number_most,
            is_fresh,
            has_next,
            has_read,
            unit_closed,
            name,
        };
        self.slots[slot].state = Some(state);
        match status {
            FileStatus::DONE if opens_without_rewind(code) => Ok(FileStatus::NO_REEL),
            status => Ok(status),
        }
    }

    /// Opens what a name stands for.
    fn opened_as(
        &mut self,
        name: &[u8],
        (shape, mode): (Shape, OpenMode),
        keys: &[KeyDefinition],
        code: [u8; 2],
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<(Opened, FileStatus)> {
        match name::target(&*self.variables, name) {
            Target::Several(targets) => {
                let is_sequential = matches!(
                    shape.organization,
                    Organization::Sequential | Organization::LineSequential
                );
                if mode != OpenMode::Input || !is_sequential {
                    return Err(FileStatus::MODE);
                }
                let mut bodies = Vec::with_capacity(targets.len());
                for target in targets {
                    let (shape, code) = ((shape.clone(), mode), code);
                    match self.target_opened(target, name, shape, &[], code, fcd, caller)? {
                        (Opened::Ours(body), FileStatus::DONE) => bodies.push(body),
                        (Opened::Ours(_), _) => (),
                        (Opened::Native, _) => return Err(FileStatus::MODE),
                    }
                }
                Ok((Opened::Ours(Box::new(Chain::new(bodies))), FileStatus::DONE))
            }
            target => self.target_opened(target, name, (shape, mode), keys, code, fcd, caller),
        }
    }

    #[allow(clippy::too_many_arguments)] // what a request has: its name, its block, its program
    fn target_opened(
        &mut self,
        target: Target,
        name: &[u8],
        (shape, mode): (Shape, OpenMode),
        keys: &[KeyDefinition],
        code: [u8; 2],
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<(Opened, FileStatus)> {
        let is_run_times = caller.is_run_times();
        match target {
            Target::Several(_) => Err(FileStatus::MODE),
            // An index of the catalog has one field.
            Target::DataSet(_) if keys.iter().any(|key| !key.rest.is_empty()) => {
                Err(FileStatus::ATTRIBUTES)
            }
            Target::DataSet(data_set) => {
                let paths = self.paths(name, keys);
                let access = fcd.access();
                let opening = Opening { data_set, paths, shape, mode, access, keys: keys.to_vec() };
                let data_sets = self.data_sets.as_mut().ok_or(FileStatus::NO_DD)?;
                let (body, status) = data_sets.open(&opening)?;
                Ok((Opened::Ours(body), status))
            }
            Target::Path(path, forms) => {
                if mode.writes() {
                    spare(&path)?;
                }
                let opened = match (is_run_times, shape.organization) {
                    (true, _) => None,
                    (_, Organization::Indexed) => machine::open_indexed(&path, &shape, mode, keys)?,
                    _ => Some(machine::open(&path, &shape, mode, forms)?),
                };
                if let Some((body, status)) = opened {
                    return Ok((Opened::Ours(body), status));
                }
                // The run time looks at more variables.
                if let Target::Path(path, _) = name::target(&name::Environment, name)
                    && mode.writes()
                {
                    spare(&path)?;
                }
                let status = caller.native(Native::Request(code), fcd);
                let status = status.ok_or(FileStatus::UNREACHABLE)?;
                if status.is_done() { Ok((Opened::Native, status)) } else { Err(status) }
            }
        }
    }

    /// The data sets that serve the alternate keys, where DDs name some.
    fn paths(&self, name: &[u8], keys: &[KeyDefinition]) -> Vec<Option<String>> {
        let path =
            |number: usize| match name::target(&*self.variables, &name::path_name(name, number)) {
                Target::DataSet(path) if number > 0 => Some(path),
                _ => None,
            };
        (0..keys.len()).map(path).collect()
    }

    fn delete_file(
        &mut self,
        slot: usize,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        if self.slots[slot].state.is_some() {
            return Err(FileStatus::IS_OPEN);
        }
        if self.slots[slot].locked {
            return Err(FileStatus::LOCKED);
        }
        match name::target(&*self.variables, &caller.name(fcd)) {
            Target::Several(_) => Err(FileStatus::MODE),
            Target::DataSet(data_set) => {
                let data_sets = self.data_sets.as_mut().ok_or(FileStatus::NO_DD)?;
                data_sets.empty(&data_set).map(|()| FileStatus::DONE)
            }
            Target::Path(path, _) if fcd.organization() == Some(Organization::Indexed) => {
                spare(&path)?;
                if machine::delete_indexed(&path)? {
                    return Ok(FileStatus::DONE);
                }
                let status = caller.native(Native::Request([0xfa, 0xf8]), fcd);
                status.ok_or(FileStatus::UNREACHABLE)
            }
            Target::Path(path, _) => {
                spare(&path)?;
                machine::delete(&path).map(|()| FileStatus::DONE)
            }
        }
    }

    fn native(
        &mut self,
        slot: usize,
        operation: Operation,
        code: [u8; 2],
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        let request = match operation {
            Operation::Start(relation) => Native::Start(relation),
            _ => Native::Request(code),
        };
        let status = caller.native(request, fcd).ok_or(FileStatus::UNREACHABLE)?;
        if let Operation::Close(closing) = operation {
            let closing = closing.with(fcd.options());
            self.slots[slot].locked |= closing == Closing::Lock && status.is_done();
            self.slots[slot].state = None;
            fcd.set_open(None);
        }
        Ok(status)
    }

    fn close(&mut self, slot: usize, closing: Closing, fcd: &mut Fcd) -> Done<FileStatus> {
        let slot = &mut self.slots[slot];
        let Some(state) = &mut slot.state else { return Err(FileStatus::NOT_OPEN) };
        if closing == Closing::Unit {
            // A disk has no reels: nothing happens.
            state.unit_closed = true;
            return Ok(FileStatus::NO_REEL);
        }
        fcd.set_open(None);
        let Some(State { opened, name, .. }) = slot.state.take() else {
            return Err(FileStatus::NOT_OPEN);
        };
        if let Opened::Ours(mut body) = opened
            && let Err(status) = body.close()
        {
            if fcd.options() & IMPLICIT != 0 {
                self.unfinished.push(Unfinished { name, status });
            }
            return Err(status);
        }
        slot.locked = closing == Closing::Lock;
        Ok(if closing == Closing::NoRewind { FileStatus::NO_REEL } else { FileStatus::DONE })
    }

    /// The state of a file that is open, and its body; `refusal` if it is not.
    fn opened(&mut self, slot: usize, refusal: FileStatus) -> Done<Parts<'_>> {
        let Handler { slots, record, key, .. } = self;
        let state = slots.get_mut(slot).and_then(|slot| slot.state.as_mut()).ok_or(refusal)?;
        let State { opened, organization, access, mode, keys, number_most, .. } = state;
        let Opened::Ours(body) = opened else { return Err(refusal) };
        let (organization, access, mode) = (*organization, *access, *mode);
        Ok(Parts {
            body: &mut **body,
            organization,
            access,
            mode,
            keys,
            number_most: *number_most,
            flags: Flags {
                is_fresh: &mut state.is_fresh,
                has_next: &mut state.has_next,
                has_read: &mut state.has_read,
            },
            record,
            key,
        })
    }

    fn read_next(
        &mut self,
        slot: usize,
        previous: bool,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_INPUT)?;
        let Parts { body, organization, mode, flags, record, .. } = parts;
        *flags.has_read = false;
        if !mode.reads() {
            return Err(FileStatus::NOT_INPUT);
        }
        if !*flags.has_next {
            return Err(FileStatus::NO_NEXT);
        }
        *flags.has_next = false;
        let found = match (std::mem::take(flags.is_fresh) && previous, organization) {
            // As the run time has it: OPEN stands in front of all keys, but at the first slot.
            (true, Organization::Indexed) => return Err(FileStatus::END),
            (true, Organization::Relative) => body.read_next(false, record)?,
            _ => body.read_next(previous, record)?,
        };
        if let Some(number) = found.number
            && !caller.tell_number(number)
        {
            return Err(FileStatus::NUMBER_TOO_LONG);
        }
        (*flags.has_next, *flags.has_read) = (true, true);
        Ok(give(organization, record, found.status, fcd, caller))
    }

    fn read_key(
        &mut self,
        slot: usize,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_INPUT)?;
        let Parts { body, organization, mode, keys, flags, record, key, .. } = parts;
        *flags.has_read = false;
        if !mode.reads() {
            return Err(FileStatus::NOT_INPUT);
        }
        (*flags.is_fresh, *flags.has_next) = (false, false);
        let which = named(organization, keys, usize::MAX, key, fcd, caller)?;
        let found = body.read(which, record)?;
        (*flags.has_next, *flags.has_read) = (true, true);
        Ok(give(organization, record, found.status, fcd, caller))
    }

    fn start(
        &mut self,
        slot: usize,
        relation: Relation,
        fcd: &mut Fcd,
        caller: &mut dyn Caller,
    ) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_INPUT)?;
        let Parts { body, organization, mode, keys, flags, key, .. } = parts;
        *flags.has_read = false;
        if !mode.reads() {
            return Err(FileStatus::NOT_INPUT);
        }
        (*flags.is_fresh, *flags.has_next) = (false, false);
        let which = named(organization, keys, fcd.key_bytes(), key, fcd, caller)?;
        body.start(relation, which)?;
        *flags.has_next = true;
        Ok(FileStatus::DONE)
    }

    fn write(&mut self, slot: usize, fcd: &mut Fcd, caller: &mut dyn Caller) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_OUTPUT)?;
        let Parts { body, access, mode, number_most, flags, record, .. } = parts;
        *flags.has_read = false;
        let in_sequence = access == Access::Sequential;
        let allowed = match in_sequence {
            true => matches!(mode, OpenMode::Output | OpenMode::Extend),
            false => matches!(mode, OpenMode::Output | OpenMode::InputOutput),
        };
        if !allowed {
            return Err(FileStatus::NOT_OUTPUT);
        }
        let bytes = caller.depending().unwrap_or(fcd.record_bytes());
        taken(bytes, record, fcd, caller)?;
        let number = if in_sequence { number_most } else { fcd.relative_key() };
        let place = Place { in_sequence, number, options: fcd.options() };
        let Found { status, number } = body.write(record, place)?;
        if let Some(number) = number.filter(|_| in_sequence) {
            // There is room for it: it was not written otherwise.
            let _ = caller.tell_number(number);
        }
        Ok(status)
    }

    fn rewrite(&mut self, slot: usize, fcd: &mut Fcd, caller: &mut dyn Caller) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_INPUT_OUTPUT)?;
        let Parts { body, organization, access, mode, keys, flags, record, key, .. } = parts;
        let has_read = std::mem::take(flags.has_read);
        if mode != OpenMode::InputOutput {
            return Err(FileStatus::NOT_INPUT_OUTPUT);
        }
        if access == Access::Sequential && !has_read {
            return Err(FileStatus::NO_READ);
        }
        let bytes = caller.depending().unwrap_or(fcd.record_bytes());
        taken(bytes, record, fcd, caller)?;
        let which = changed(organization, access, keys, key, fcd, caller)?;
        body.rewrite(record, which)
    }

    fn delete(&mut self, slot: usize, fcd: &mut Fcd, caller: &mut dyn Caller) -> Done<FileStatus> {
        let parts = self.opened(slot, FileStatus::NOT_INPUT_OUTPUT)?;
        let Parts { body, organization, access, mode, keys, flags, key, .. } = parts;
        let has_read = std::mem::take(flags.has_read);
        if mode != OpenMode::InputOutput {
            return Err(FileStatus::NOT_INPUT_OUTPUT);
        }
        if access == Access::Sequential && !has_read {
            return Err(FileStatus::NO_READ);
        }
        let which = changed(organization, access, keys, key, fcd, caller)?;
        body.delete(which).map(|()| FileStatus::DONE)
    }
}

struct Flags<'a> {
    is_fresh: &'a mut bool,
    has_next: &'a mut bool,
    has_read: &'a mut bool,
}

/// An open file in its parts.
struct Parts<'a> {
    body: &'a mut dyn Body,
    organization: Organization,
    access: Access,
    mode: OpenMode,
    keys: &'a [KeyDefinition],
    number_most: u64,
    flags: Flags<'a>,
    record: &'a mut Vec<u8>,
    key: &'a mut Vec<u8>,
}
