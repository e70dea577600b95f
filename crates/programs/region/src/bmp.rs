//! Programs that call a running system: region type BMP.
//!
//! A program's process connects to the system's socket and says which job it is; the system
//! schedules it and hands it memory for its calls (`mailbox`). The connection stays open
//! for as long as both live: its end is how each learns of the other's.
//!
//! | from the program | bytes | from the system | bytes |
//! |---|---|---|---|
//! | `HFBM` | 4 | 0 welcome, 1 refused, 2 other version | 1, with the memory if welcome |
//! | version | 4 | length | 4 |
//! | length | 4 | the PCBs' layouts; code, text and remedy; or the version | |
//! | the job, in the words of the scheduler | | | |
//!
//! Whoever started a program's process asks, by `HFBW`, the version and the process in place of a
//! length, to be told when the system is done with it: welcome, and a length of zero. By `HFBS` and
//! 0 in place of a length it hears of the system's end: that of the connection, without a word.
//!
//! Invariants:
//! 1. A program that goes away without a word is backed out.
//! 2. What a program sends can end its own connection, and nothing else.
//! 3. Only processes of the system's own user get in, and none that a program has started.
//! 4. A step's next run is scheduled when what is left of an earlier one has ended whose process is
//!    gone: it finds that one's last checkpoint, or none that comes later.
//! 5. What a process asks for that is gone is not committed.

use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use base::bytes::{Reader, push_string16};
use definitions::Function;
use rustix::net::{RecvFlags, SendFlags};
use seam::socket::{InTime, Peer, SocketFile};
use seam::sync::{Condvar, Mutex};
use seam::thread::JoinHandle;

use crate::error::RegionError;
use crate::layout::{self, PcbLayout};
use crate::link::{Handed, Link};
use crate::mailbox::Mailbox;
use crate::server::{Ending, Failure, Server};
use crate::wire::{ENDS, Served, Work, last_call, serve};

/// The version of the call interface between a program's process and a system.
pub const VERSION: u32 = 2;

const MAGIC: &[u8; 4] = b"HFBM";
const WAITS: &[u8; 4] = b"HFBW";
const STAYS: &[u8; 4] = b"HFBS";
const WELCOME: u8 = 0;
const REFUSED: u8 = 1;
const OTHER_VERSION: u8 = 2;
/// How long a client may take to say all that it wants, and to take all of the answer: no client
/// keeps the door from closing.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);
const JOB_BYTES_MAX: usize = 1 << 20;
const LAYOUTS_BYTES_MAX: usize = 64 << 20;

/// Who schedules PSBs for programs that come.
pub trait Schedule: Send + Sync {
    /// Schedules the PSB of a job, which is in the words of the two sides' owners.
    ///
    /// # Errors
    /// Why it cannot run.
    fn schedule(&self, job: &[u8]) -> Result<Box<dyn Server>, Failure>;

    /// What tells the step of a job from others, empty if that cannot be known.
    fn step(&self, job: &[u8]) -> Vec<u8> {
        let _ = job;
        Vec::new()
    }

    /// Lets a program's process in. What is answered is kept until it has gone.
    ///
    /// # Errors
    /// Why it may not come.
    fn admit(&self, peer: &Peer) -> Result<Box<dyn Send>, Failure> {
        let _ = peer;
        Ok(Box::new(()))
    }
}

/// A system's door for programs.
pub struct Door {
    listener: Arc<UnixListener>,
    file: SocketFile,
    shared: Arc<Hall>,
    acceptor: Option<JoinHandle>,
}

/// What the threads of a door share.
struct Hall {
    schedule: Arc<dyn Schedule>,
    closing: AtomicBool,
    /// How many programs were there when the door was closed.
    sent_away: AtomicUsize,
    programs: Mutex<Vec<(Arc<AtomicBool>, JoinHandle)>>,
    /// The processes at the other ends of connections, one entry for each.
    processes: Mutex<Vec<i32>>,
    /// One of them is done with.
    done: Condvar,
    /// The programs that are scheduled, or are being.
    runs: Mutex<Runs>,
    /// One of them has ended.
    ended: Condvar,
}

#[derive(Default)]
struct Runs {
    last: u64,
    all: Vec<Run>,
}

/// A run of a step.
struct Run {
    number: u64,
    step: Vec<u8>,
    stream: UnixStream,
}

/// That a step runs, until it is dropped.
struct Running<'h> {
    hall: &'h Hall,
    number: u64,
}

impl Hall {
    /// Says that a step runs, once nothing of it runs on whose process has gone.
    fn run(&self, step: Vec<u8>, stream: &UnixStream) -> Result<Running<'_>, RegionError> {
        let ours = stream.try_clone().map_err(lost)?;
        let is_left = |run: &Run| !step.is_empty() && run.step == step && !lives(&run.stream);
        let mut runs = self.runs.lock();
        while runs.all.iter().any(is_left) && !self.closing.load(SeqCst) && lives(stream) {
            self.ended.wait_for(&mut runs, std::time::Duration::from_millis(200));
        }
        runs.last += 1;
        let number = runs.last;
        runs.all.push(Run { number, step, stream: ours });
        Ok(Running { hall: self, number })
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.hall.runs.lock().all.retain(|run| run.number != self.number);
        self.hall.ended.notify_all();
    }
}

/// A connection, from when it is accepted until nothing is left of it.
struct Visit<'h> {
    hall: &'h Hall,
    process: i32,
}

impl Drop for Visit<'_> {
    fn drop(&mut self) {
        let mut processes = self.hall.processes.lock();
        if let Some(place) = processes.iter().position(|one| *one == self.process) {
            processes.swap_remove(place);
        }
        drop(processes);
        self.hall.done.notify_all();
    }
}

impl Door {
    /// Opens the door at a path. The caller owns the system, so a socket that is there is one that
    /// a crash has left.
    ///
    /// # Errors
    /// If the socket cannot be made.
    pub fn open(path: &Path, schedule: Arc<dyn Schedule>) -> Result<Door, RegionError> {
        let (listener, file) = seam::socket::listen(path).map_err(RegionError::file(path))?;
        let listener = Arc::new(listener);
        let (closing, sent_away) = (AtomicBool::new(false), AtomicUsize::new(0));
        let programs = Mutex::new(Vec::new());
        let (processes, done) = (Mutex::default(), Condvar::new());
        let (runs, ended) = (Mutex::default(), Condvar::new());
        let hall = Hall { schedule, closing, sent_away, programs, processes, done, runs, ended };
        let shared = Arc::new(hall);
        let hall = shared.clone();
        let listening = Arc::clone(&listener);
        let acceptor = seam::thread::spawn("door", move || accept(&listening, &hall));
        let acceptor = Some(acceptor.map_err(RegionError::file(path))?);
        Ok(Door { listener, file, shared, acceptor })
    }

    /// How many programs are being served.
    #[must_use]
    pub fn programs(&self) -> usize {
        let programs = self.shared.programs.lock();
        programs.iter().filter(|(over, _)| !over.load(SeqCst)).count()
    }

    /// Lets no client in any more, sends those away who are there (they are backed out), and waits
    /// until they have gone. Answers how many were sent away.
    pub fn close(mut self) -> usize {
        self.shut();
        self.shared.sent_away.load(SeqCst)
    }

    fn shut(&mut self) {
        self.shared.closing.store(true, SeqCst);
        self.shared.done.notify_all();
        let Some(acceptor) = self.acceptor.take() else { return };
        // The acceptor sleeps until a client comes.
        seam::socket::end(&self.listener, &self.file);
        acceptor.join();
        let programs = std::mem::take(&mut *self.shared.programs.lock());
        for (_, thread) in programs {
            thread.join();
        }
        self.file.remove();
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.shut();
    }
}

fn accept(listener: &UnixListener, hall: &Arc<Hall>) {
    for stream in listener.incoming() {
        if hall.closing.load(SeqCst) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let over = Arc::new(AtomicBool::new(false));
        let (inside, ours) = (hall.clone(), over.clone());
        // Known before anybody who comes later can ask for it.
        let Ok(peer) = Peer::of(&stream) else { continue };
        let process = peer.process.cast_signed();
        hall.processes.lock().push(process);
        let thread = seam::thread::spawn("program", move || {
            let visit = Visit { hall: &inside, process };
            // A failure concerns this program alone; it sees the connection end.
            let _ = seam::thread::catch(|| receive(stream, &peer, &inside));
            drop(visit);
            ours.store(true, SeqCst);
        });
        let Ok(thread) = thread else {
            drop(Visit { hall, process });
            continue;
        };
        let mut programs = hall.programs.lock();
        programs.retain(|(over, _)| !over.load(SeqCst));
        programs.push((over, thread));
    }
}

/// One program, from its first word to its last.
fn receive(mut stream: UnixStream, peer: &Peer, hall: &Hall) -> Result<(), RegionError> {
    if peer.user != rustix::process::geteuid().as_raw() {
        return Ok(());
    }
    let job = match read_hello(&mut InTime::new(&stream, PATIENCE))? {
        Hello::Job(job) => job,
        Hello::Waits(process) => {
            wait_until_done(hall, process);
            return say(&mut stream, WELCOME, &[], None);
        }
        Hello::Stays => {
            stay(hall, &stream);
            return Ok(());
        }
        Hello::Other => return say(&mut stream, OTHER_VERSION, &VERSION.to_le_bytes(), None),
    };
    // Let go of behind the server, which may be long in backing out.
    let _running = hall.run(hall.schedule.step(&job), &stream)?;
    // From here on it is known as a program: before it is loaded.
    let scheduled = hall.schedule.admit(peer).and_then(|pass| {
        let server = hall.schedule.schedule(&job)?;
        Ok((server, pass))
    });
    let (mut server, _pass) = match scheduled {
        Ok(scheduled) => scheduled,
        Err(failure) => return say(&mut stream, REFUSED, &failure_bytes(&failure), None),
    };
    let served = seam::thread::catch(|| attend(&mut stream, hall, &mut *server));
    let served = served.unwrap_or_else(|panic| Err(RegionError::Broken(panic)));
    if !matches!(served, Ok(true)) {
        let _ = server.end(if lives(&stream) { Ending::Abend } else { Ending::Gone });
    }
    served.map(|_| ())
}

/// Answers a program's calls; `true` once it has said how it ended.
fn attend(
    stream: &mut UnixStream,
    hall: &Hall,
    server: &mut dyn Server,
) -> Result<bool, RegionError> {
    let mailbox = Mailbox::create()?;
    say(stream, WELCOME, &layout::encode(server.pcbs()), Some(&mailbox))?;
    let mut work = Work::default();
    let (mut message, mut answer) = (Vec::new(), Vec::new());
    let stays = || !hall.closing.load(SeqCst) && lives(stream);
    // A program that calls without a pause never makes `receive` ask whether it may stay.
    while !hall.closing.load(SeqCst) && mailbox.receive(&mut message, stays)? {
        if commits(&message) && !lives(stream) {
            break;
        }
        let served = serve(&message, &mut work, server, &mut answer);
        let served = served.map_err(|_| RegionError::Protocol("a call"))?;
        mailbox.send(&answer)?;
        if served == Served::End {
            return Ok(true);
        }
    }
    // Who has gone by itself, a moment ago, is nobody to be sent away.
    if lives(stream) {
        hall.sent_away.fetch_add(1, SeqCst);
    }
    Ok(false)
}

/// Whether a message asks for a commit, or says that the program ends.
fn commits(message: &[u8]) -> bool {
    let last = last_call(message);
    last.is_some_and(|(function, _)| [Function::Chkp, Function::Sync, ENDS].contains(&function))
}

/// Returns when nothing is left of a process's connections; what it had not committed is backed
/// out then. A door that is being closed waits for all of them itself.
fn wait_until_done(hall: &Hall, process: i32) {
    let mut processes = hall.processes.lock();
    while processes.contains(&process) && !hall.closing.load(SeqCst) {
        hall.done.wait_for(&mut processes, std::time::Duration::from_millis(200));
    }
}

/// Returns when the door is being closed, or the other end has gone.
fn stay(hall: &Hall, stream: &UnixStream) {
    let mut processes = hall.processes.lock();
    while !hall.closing.load(SeqCst) && lives(stream) {
        hall.done.wait_for(&mut processes, std::time::Duration::from_millis(200));
    }
}

/// What a client wants who comes to the door.
enum Hello {
    /// A program's calls served.
    Job(Vec<u8>),
    /// To hear when this process is done with.
    Waits(i32),
    /// To hear when the system ends.
    Stays,
    /// Something that another version knows.
    Other,
}

fn read_hello(stream: &mut impl Read) -> Result<Hello, RegionError> {
    let mut head = [0; 12];
    stream.read_exact(&mut head).map_err(lost)?;
    let mut reader = Reader::new(&head);
    let magic: Option<[u8; 4]> = reader.array();
    let (version, number) = (reader.u32(), reader.u32().unwrap_or(u32::MAX));
    let length = number as usize;
    match magic {
        _ if version != Some(VERSION) => return Ok(Hello::Other),
        Some(magic) if magic == *MAGIC => {}
        Some(magic) if magic == *STAYS => return Ok(Hello::Stays),
        Some(magic) if magic == *WAITS => return Ok(Hello::Waits(number.cast_signed())),
        _ => return Ok(Hello::Other),
    }
    if length > JOB_BYTES_MAX {
        return Err(RegionError::Protocol("the length of a job"));
    }
    let mut job = vec![0; length];
    stream.read_exact(&mut job).map_err(lost)?;
    Ok(Hello::Job(job))
}

/// Returns when the running system whose socket is at `path` is done with a program whose process
/// has ended: what it had not committed is backed out.
///
/// # Errors
/// If the system is gone; its next start does that.
pub fn wait_for_end_of(path: &Path, process: u32) -> Result<(), RegionError> {
    let gone = |_: std::io::Error| RegionError::Gone;
    let mut stream = seam::socket::connect(path).map_err(gone)?;
    let (version, process) = (VERSION.to_le_bytes(), process.to_le_bytes());
    let hello = [WAITS.as_slice(), &version, &process].concat();
    stream.write_all(&hello).map_err(gone)?;
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).map_err(gone)?;
    Ok(())
}

/// A connection that ends when the running system whose socket is at `path` does, or is stopped.
pub(crate) fn stays(path: &Path) -> std::io::Result<UnixStream> {
    let mut stream = seam::socket::connect(path)?;
    let hello = [STAYS.as_slice(), &VERSION.to_le_bytes(), &[0; 4]].concat();
    stream.write_all(&hello)?;
    Ok(stream)
}

/// Answers a hello; a welcome carries the mailbox's memory.
fn say(
    stream: &mut UnixStream,
    kind: u8,
    bytes: &[u8],
    mailbox: Option<&Mailbox>,
) -> Result<(), RegionError> {
    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, sendmsg};
    let kind = [std::io::IoSlice::new(std::slice::from_ref(&kind))];
    let handles = mailbox.map(Mailbox::fd);
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if handles.is_some() {
        control.push(SendAncillaryMessage::ScmRights(handles.as_slice()));
    }
    sendmsg(&*stream, &kind, &mut control, SendFlags::NOSIGNAL)
        .map_err(|errno| lost(errno.into()))?;
    let mut stream = InTime::new(stream, PATIENCE);
    stream.write_all(&(bytes.len() as u32).to_le_bytes()).map_err(lost)?;
    stream.write_all(bytes).map_err(lost)
}

fn failure_bytes(failure: &Failure) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in [&failure.code, &failure.text, &failure.remedy] {
        push_string16(&mut bytes, &text.as_bytes()[..text.len().min(4000)]);
    }
    bytes
}

fn read_failure(bytes: &[u8]) -> Option<Failure> {
    let mut reader = Reader::new(bytes);
    let mut text = || Some(String::from_utf8_lossy(reader.string16()?).into_owned());
    Some(Failure { code: text()?, text: text()?, remedy: text()? })
}

/// A connection to a running system, on which a program's calls go.
pub struct Connection {
    stream: UnixStream,
    mailbox: Mailbox,
    layouts: Vec<PcbLayout>,
}

impl Connection {
    /// Connects to the system whose socket is at `path`, and has the PSB of a job scheduled.
    ///
    /// # Errors
    /// If no system answers, or if it refuses the job.
    pub fn open(path: &Path, job: &[u8]) -> Result<Connection, RegionError> {
        let absent = |error: std::io::Error| RegionError::NoSystem {
            path: path.to_owned(),
            text: error.to_string(),
        };
        let mut stream = seam::socket::connect(path).map_err(absent)?;
        let mut hello = MAGIC.to_vec();
        hello.extend_from_slice(&VERSION.to_le_bytes());
        hello.extend_from_slice(&(job.len() as u32).to_le_bytes());
        hello.extend_from_slice(job);
        stream.write_all(&hello).map_err(lost)?;
        let (kind, memory) = receive_welcome(&stream)?;
        let bytes = read_answer(&mut stream)?;
        match (kind, memory) {
            (WELCOME, Some(memory)) => {
                let layouts = layout::decode(&bytes);
                let layouts = layouts.ok_or(RegionError::Protocol("the PCBs of the job"))?;
                Ok(Connection { stream, mailbox: Mailbox::join(memory)?, layouts })
            }
            (REFUSED, _) => {
                let failure = read_failure(&bytes);
                let failure = failure.ok_or(RegionError::Protocol("why the job is refused"))?;
                Err(RegionError::Refused(failure))
            }
            (OTHER_VERSION, _) => {
                let theirs = Reader::new(&bytes).u32().unwrap_or_default();
                Err(RegionError::Version { theirs, ours: VERSION })
            }
            _ => Err(RegionError::Protocol("the welcome")),
        }
    }
}

fn receive_welcome(stream: &UnixStream) -> Result<(u8, Option<OwnedFd>), RegionError> {
    use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, recvmsg};
    let mut kind = [u8::MAX];
    let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(
        stream,
        &mut [std::io::IoSliceMut::new(&mut kind)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    );
    let received = received.map_err(|errno| lost(errno.into()))?;
    if received.bytes == 0 {
        return Err(RegionError::Protocol("the connection ended before a welcome"));
    }
    let mut handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut handles) => handles.next(),
        _ => None,
    });
    Ok((kind[0], handles.next()))
}

fn read_answer(stream: &mut UnixStream) -> Result<Vec<u8>, RegionError> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).map_err(lost)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LAYOUTS_BYTES_MAX {
        return Err(RegionError::Protocol("the length of an answer"));
    }
    let mut bytes = vec![0; length];
    stream.read_exact(&mut bytes).map_err(lost)?;
    Ok(bytes)
}

impl Link for Connection {
    fn layouts(&self) -> &[PcbLayout] {
        &self.layouts
    }

    fn exchange(&mut self, message: &[u8], answer: &mut Vec<u8>) -> Result<(), RegionError> {
        self.mailbox.send(message)?;
        if self.mailbox.receive(answer, || lives(&self.stream))? {
            Ok(())
        } else {
            Err(RegionError::Gone)
        }
    }

    fn is_far(&self) -> bool {
        true
    }

    fn hand_on(&self) -> Result<Option<Handed>, RegionError> {
        let mailbox = self.mailbox.fd().try_clone_to_owned().map_err(lost)?;
        let connection = self.stream.try_clone().map_err(lost)?;
        Ok(Some(Handed { mailbox, connection: Some(connection.into()) }))
    }
}

/// Whether the other end of a connection is still open.
pub(crate) fn lives(stream: &UnixStream) -> bool {
    let mut byte = [0_u8];
    match rustix::net::recv(stream, &mut byte[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((_, received)) => received > 0,
        Err(errno) => errno == rustix::io::Errno::AGAIN || errno == rustix::io::Errno::INTR,
    }
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` hands it over
fn lost(error: std::io::Error) -> RegionError {
    RegionError::Process(format!("the connection broke: {error}"))
}
