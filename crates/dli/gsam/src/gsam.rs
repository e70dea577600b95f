//! The calls of one GSAM PCB: OPEN, CLSE, GN, GU, ISRT, and what checkpoints need (DLI-12.59 to
//! DLI-12.63).
//!
//! | | input: PROCOPT G, GS | output: PROCOPT L, LS |
//! |---|---|---|
//! | opened by | OPEN, GN, GU; the file must exist | OPEN, ISRT; the file is made, or emptied |
//! | GN, GU | a record; the end is GB, closes, and the next GN begins at the front | AM |
//! | ISRT | AM | a record behind the last one |
//! | CLSE | the next GN begins at the front | the next ISRT begins at the front |
//! | restart | goes on behind the last record that was read | cuts the file back, goes on behind it |
//!
//! Invariants:
//! 1. A file is opened by the first call that needs it, and an output by the first record that can
//!    stand in it: before that it is not touched, unless the program says OPEN.
//! 2. After AI or AO of an output, ISRT is IX until OPEN or CLSE: records do not vanish between
//!    others.
//! 3. An open output is held alone, an open input with all who read it: what two steps write to one
//!    file would be neither's. Nothing of a file that is not held is changed.
//! 4. `/dev/null`, what JCL calls DUMMY, is at its end at once and takes every record.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use definitions::DbdName;
use definitions::resolve::GsamView;
use seam::disk::{Create, Disk, File, Open};

use crate::error::GsamError;
use crate::form::{Form, Missing};
use crate::place::Place;
use crate::reader::Reader;
use crate::rsa::Rsa;
use crate::status::Status;
use crate::writer::Writer;

/// Which file a DD names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileSpec {
    /// The file.
    pub path: PathBuf,
    /// Whether its records are lines: `,text`.
    pub text: bool,
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status.
    pub status: Status,
    /// Where the record begins that was read or written.
    pub rsa: Option<Rsa>,
    /// Bytes of the area that the record takes: what the PCB shows for undefined records.
    pub length: usize,
}

/// A sequential file as one PCB sees it.
pub struct Gsam {
    disk: Arc<dyn Disk>,
    dbd: DbdName,
    file: FileSpec,
    form: Form,
    output: bool,
    state: State,
    /// Records read or written.
    records: u64,
    /// An output failed, and ISRT is IX.
    failed: bool,
    fault: Option<GsamError>,
}

enum State {
    Closed,
    Reading(Reader),
    Writing(Writer),
}

impl From<Status> for Outcome {
    fn from(status: Status) -> Outcome {
        Outcome { status, rsa: None, length: 0 }
    }
}

impl Gsam {
    /// The file of a PCB, not opened yet.
    ///
    /// # Errors
    /// [`GsamError::Form`] if the definition does not say how its records look.
    pub fn new(disk: Arc<dyn Disk>, view: &GsamView, file: FileSpec) -> Result<Gsam, GsamError> {
        let dbd = view.dbd;
        let form = Form::of(view).map_err(|why| GsamError::Form { dbd, why })?;
        Ok(Gsam {
            disk,
            dbd,
            file,
            form,
            output: view.options.is_load(),
            state: State::Closed,
            records: 0,
            failed: false,
            fault: None,
        })
    }

    /// The form of its records.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// What went wrong last, for the operator; the program has the status.
    #[must_use]
    pub fn fault(&self) -> Option<&GsamError> {
        self.fault.as_ref()
    }

    /// OPEN; `mode` is the area, or nothing if there is none.
    pub fn open(&mut self, mode: &[u8]) -> Status {
        let fits = match mode.trim_ascii_end() {
            b"" => true,
            b"INP" => !self.output,
            b"OUT" | b"OUTA" | b"OUTM" => self.output,
            _ => false,
        };
        if !fits {
            return Status::Am;
        }
        self.failed = false;
        match self.state {
            State::Closed => self.open_now(),
            State::Reading(_) | State::Writing(_) => Status::Done,
        }
    }

    /// CLSE, and the end of the program: an output is complete and durable afterwards.
    pub fn close(&mut self) -> Status {
        let synced = self.sync();
        self.state = State::Closed;
        self.records = 0;
        self.failed = false;
        match synced {
            Ok(()) => Status::Done,
            Err(error) => self.fail(Status::Ao, error),
        }
    }

    /// Closes it as it is: of an output nothing is written that is not in the file. For the end of
    /// a program that is gone, whose output another run may go on with.
    pub fn abandon(&mut self) {
        self.state = State::Closed;
        self.records = 0;
        self.failed = false;
    }

    /// GN: puts the next record into the area.
    pub fn get_next(&mut self, area: &mut [u8]) -> Outcome {
        if self.output {
            return Status::Am.into();
        }
        if matches!(self.state, State::Closed) {
            let status = self.open_now();
            if status != Status::Done {
                return status.into();
            }
        }
        self.get(area)
    }

    /// GU: puts the record at `rsa` into the area, and goes on behind it.
    pub fn get_unique(&mut self, rsa: Option<&[u8]>, area: &mut [u8]) -> Outcome {
        if self.output {
            return Status::Am.into();
        }
        let Some(rsa) = rsa else { return Status::Ah.into() };
        let Some(rsa) = Rsa::read(rsa) else { return Status::Aj.into() };
        if matches!(self.state, State::Closed) {
            let status = self.open_now();
            if status != Status::Done {
                return status.into();
            }
        }
        let State::Reading(reader) = &mut self.state else { return Status::Am.into() };
        let before = reader.offset();
        match self.form.may_begin(rsa.offset(), reader, self.file.text) {
            Err(error) => return self.io("read", error).into(),
            Ok(false) => return Status::Aj.into(),
            Ok(true) => reader.seek(rsa.offset()),
        }
        let outcome = self.get(area);
        if outcome.status != Status::Done
            && let State::Reading(reader) = &mut self.state
        {
            reader.seek(before);
        }
        // What no record begins at was no RSA of this file.
        let no_record = matches!(outcome.status, Status::Af | Status::Gb);
        if no_record { Status::Aj.into() } else { outcome }
    }

    /// ISRT: writes the record in the area; `length` is that of the PCB, for undefined records.
    pub fn insert(&mut self, area: &[u8], length: u32) -> Outcome {
        if !self.output {
            return Status::Am.into();
        }
        if self.failed {
            return Status::Ix.into();
        }
        let data = match self.form.take(area, length) {
            Ok(data) => data,
            Err((status, why)) => return self.bad_record(status, why).into(),
        };
        if self.file.text && data.contains(&b'\n') {
            let why = "a line cannot have X'0A' in it".to_owned();
            return self.bad_record(Status::Af, why).into();
        }
        if matches!(self.state, State::Closed) {
            let status = self.open_now();
            if status != Status::Done {
                return status.into();
            }
        }
        let State::Writing(writer) = &mut self.state else { return Status::Am.into() };
        if let Err(error) = self.form.make_room(data, writer) {
            return self.io("written", error).into();
        }
        let rsa = Rsa::new(writer.offset());
        self.form.write(data, writer, self.file.text);
        self.records += 1;
        let taken = self.form.area_of(data);
        Outcome { status: Status::Done, rsa: Some(rsa), length: taken }
    }

    /// Makes the output durable. A checkpoint calls it before it commits: output must never be
    /// behind the commit.
    ///
    /// # Errors
    /// [`GsamError::Io`]; nothing may be committed then.
    pub fn sync(&mut self) -> Result<(), GsamError> {
        let is_dummy = self.is_dummy();
        let State::Writing(writer) = &mut self.state else { return Ok(()) };
        let folder = self.file.path.parent().unwrap_or(Path::new("."));
        let sync_name = || if is_dummy { Ok(()) } else { self.disk.sync_dir(folder) };
        let synced = writer.sync(sync_name);
        synced.map_err(|error| GsamError::Io {
            dbd: self.dbd,
            verb: "written",
            path: self.file.path.clone(),
            error,
        })
    }

    /// Where the program is, for a checkpoint; durable once [`sync`](Gsam::sync) has returned.
    #[must_use]
    pub fn place(&self) -> Place {
        let records = self.records;
        match &self.state {
            State::Closed => Place::Closed,
            State::Reading(reader) => Place::Input { offset: reader.offset(), records },
            State::Writing(writer) => {
                let tail = writer.tail().to_vec();
                Place::Output { offset: writer.offset(), records, tail }
            }
        }
    }

    /// Goes back to the place of a checkpoint, at a restart: input goes on behind the last record
    /// read, output is cut back (DLI-12.63).
    ///
    /// # Errors
    /// If the file is not there, is shorter than it was, or the PCB is for the other direction.
    pub fn reposition(&mut self, place: &Place) -> Result<(), GsamError> {
        self.state = State::Closed;
        self.failed = false;
        let (offset, count) = match place {
            Place::Closed => {
                self.records = 0;
                return Ok(());
            }
            Place::Input { offset, records } | Place::Output { offset, records, .. } => {
                (*offset, *records)
            }
        };
        let was_output = matches!(place, Place::Output { .. });
        if was_output != self.output {
            let (then, now) = if was_output { ("written", "reading") } else { ("read", "writing") };
            return Err(GsamError::Turned { dbd: self.dbd, then, now });
        }
        let state = self.return_to(place, offset);
        self.state = state.map_err(|why| match why {
            Back::Shorter { found } => {
                GsamError::Shorter { dbd: self.dbd, path: self.file.path.clone(), found, offset }
            }
            Back::Io(error) => self.not_opened(error),
        })?;
        self.records = count;
        Ok(())
    }

    fn return_to(&self, place: &Place, offset: u64) -> Result<State, Back> {
        let file = self.file(Create::Never)?;
        let found = file.len()?;
        let is_dummy = self.is_dummy();
        if found < offset && !is_dummy {
            return Err(Back::Shorter { found });
        }
        match place {
            Place::Output { tail, .. } => {
                if found > offset {
                    file.set_len(offset)?;
                }
                Ok(State::Writing(Writer::new(file, offset, tail)))
            }
            Place::Input { .. } | Place::Closed => {
                let mut reader = Reader::new(file)?;
                reader.seek(offset);
                Ok(State::Reading(reader))
            }
        }
    }

    /// The record at the place of an open input.
    fn get(&mut self, area: &mut [u8]) -> Outcome {
        let State::Reading(reader) = &mut self.state else { return Status::Am.into() };
        let rsa = Rsa::new(reader.offset());
        let found = match self.form.find(reader, self.file.text) {
            Ok(found) => found,
            Err(Missing::End) => {
                self.state = State::Closed;
                self.records = 0;
                return Status::Gb.into();
            }
            Err(Missing::Bad(why)) => return self.bad_record(Status::Af, why).into(),
            Err(Missing::Io(error)) => return self.io("read", error).into(),
        };
        match self.form.give(found, reader, area) {
            Ok(Some(length)) => {
                self.records += 1;
                Outcome { status: Status::Done, rsa: Some(rsa), length }
            }
            Ok(None) => {
                let why = format!("the area has {} bytes, too few for it", area.len());
                self.bad_record(Status::Ab, why).into()
            }
            Err(error) => self.io("read", error).into(),
        }
    }

    fn open_now(&mut self) -> Status {
        self.records = 0;
        let opened = if self.output { self.open_output() } else { self.open_input() };
        match opened {
            Ok(state) => {
                self.state = state;
                Status::Done
            }
            Err(error) => {
                self.failed = self.output;
                self.fail(Status::Ai, self.not_opened(error))
            }
        }
    }

    fn open_input(&self) -> io::Result<State> {
        Ok(State::Reading(Reader::new(self.file(Create::Never)?)?))
    }

    fn open_output(&self) -> io::Result<State> {
        let file = self.file(Create::IfMissing)?;
        if file.len()? > 0 {
            file.set_len(0)?;
        }
        Ok(State::Writing(Writer::new(file, 0, &[])))
    }

    fn file(&self, create: Create) -> io::Result<Arc<dyn File>> {
        if self.is_dummy() {
            return Ok(Arc::new(Dummy));
        }
        let how = Open { create, write: self.output, direct: false, dsync: false };
        let file = self.disk.open(&self.file.path, how)?;
        file.hold(self.output)?;
        Ok(file)
    }

    fn not_opened(&self, error: io::Error) -> GsamError {
        let (dbd, path) = (self.dbd, self.file.path.clone());
        match error.kind() {
            io::ErrorKind::WouldBlock => GsamError::InUse { dbd, path, error },
            _ => GsamError::Open { dbd, path, error },
        }
    }

    fn is_dummy(&self) -> bool {
        self.file.path == Path::new("/dev/null")
    }

    #[cold]
    fn bad_record(&mut self, status: Status, why: String) -> Status {
        let offset = match &self.state {
            State::Closed => 0,
            State::Reading(reader) => reader.offset(),
            State::Writing(writer) => writer.offset(),
        };
        let (path, record) = (self.file.path.clone(), self.records + 1);
        self.fail(status, GsamError::Record { dbd: self.dbd, path, record, offset, why })
    }

    #[cold]
    fn io(&mut self, verb: &'static str, error: io::Error) -> Status {
        self.failed = self.output;
        let path = self.file.path.clone();
        self.fail(Status::Ao, GsamError::Io { dbd: self.dbd, verb, path, error })
    }

    fn fail(&mut self, status: Status, error: GsamError) -> Status {
        self.fault = Some(error);
        status
    }
}

/// Why a file cannot be brought back to a place.
enum Back {
    Shorter { found: u64 },
    Io(io::Error),
}

impl From<io::Error> for Back {
    fn from(error: io::Error) -> Back {
        Back::Io(error)
    }
}

/// A file that is empty and takes everything.
struct Dummy;

impl File for Dummy {
    fn read_at(&self, buf: &mut [u8], _offset: u64) -> io::Result<()> {
        if buf.is_empty() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn write_at(&self, _buf: &[u8], _offset: u64) -> io::Result<()> {
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        Ok(0)
    }

    fn set_len(&self, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn allocate(&self, _offset: u64, _len: u64) -> io::Result<()> {
        Ok(())
    }
}
