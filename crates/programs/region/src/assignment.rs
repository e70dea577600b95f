//! What a system and the process of a message region say to each other, beside the calls of its
//! programs ([`crate::mailbox`]): over a socket that is the process's standard input when it
//! begins.
//!
//! | from the process | means |
//! |---|---|
//! | `R` | it is fenced in, and waits for its first program |
//! | `D` | its program has ended well; it waits for the next one |
//!
//! | from the system | bytes |
//! |---|---|
//! | `A`; before the first program with two files: mailbox, ledger | 1 |
//! | length, the program as JSON | 4, ... |
//! | length, its PCBs' layouts | 4, ... |
//!
//! Invariants:
//! 1. The two are of one release: the system starts its own executable.
//! 2. Files go over the socket alone: no other process that the system starts inherits them.

use std::io::{Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::error::RegionError;
use crate::layout::{self, PcbLayout};

/// The process waits for its first program.
pub(crate) const READY: u8 = b'R';
/// The process's program has ended well.
pub(crate) const DONE: u8 = b'D';
const ASSIGNS: u8 = b'A';
const BYTES_MAX: usize = 64 << 20;

/// A program for a region's process.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Assignment {
    /// Its library, and what it was made from.
    pub(crate) object: PathBuf,
    pub(crate) source: PathBuf,
    /// Where it may be entered, the preferred name first.
    pub(crate) entries: Vec<String>,
    /// It was compiled by another.
    pub(crate) is_object: bool,
    /// It is an executable, which the process becomes.
    pub(crate) is_executable: bool,
    /// Its PCBs have the machine's order of bytes.
    pub(crate) is_native: bool,
    pub(crate) psb: String,
    /// COBOL programs that begin anew with it: itself, and what it calls.
    pub(crate) programs: Vec<String>,
    /// Where CALL looks for programs.
    pub(crate) folders: Vec<PathBuf>,
    /// The region's environment; with the first program.
    pub(crate) surroundings: Option<Surroundings>,
}

/// What the programs of a region find around them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Surroundings {
    pub(crate) environment: Vec<(String, PathBuf)>,
    pub(crate) input: Option<PathBuf>,
    pub(crate) output: Option<PathBuf>,
}

/// Hands a program to a process, and before the first one its files.
pub(crate) fn assign(
    socket: &UnixStream,
    assignment: &Assignment,
    layouts: &[PcbLayout],
    files: &[BorrowedFd<'_>],
) -> Result<(), RegionError> {
    let begin = [std::io::IoSlice::new(&[ASSIGNS])];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    sendmsg(socket, &begin, &mut control, SendFlags::NOSIGNAL)
        .map_err(|errno| lost(errno.into()))?;
    let text = serde_json::to_vec(assignment)
        .map_err(|error| RegionError::Process(format!("the program cannot be named: {error}")))?;
    let layouts = layout::encode(layouts);
    let mut frames = Vec::with_capacity(text.len() + layouts.len() + 8);
    for frame in [&text, &layouts] {
        frames.extend_from_slice(&(frame.len() as u32).to_le_bytes());
        frames.extend_from_slice(frame);
    }
    (&mut &*socket).write_all(&frames).map_err(lost)
}

/// An assignment, the PCBs of its PSB, and what came with it.
pub(crate) type Assigned = (Assignment, Vec<PcbLayout>, Vec<OwnedFd>);

/// What a process was assigned, with the files that came along; `None` if the system has gone.
pub(crate) fn assigned(socket: &UnixStream) -> Result<Option<Assigned>, RegionError> {
    let mut begin = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut into = [std::io::IoSliceMut::new(&mut begin)];
    let received = recvmsg(socket, &mut into, &mut control, RecvFlags::CMSG_CLOEXEC);
    if received.map_err(|errno| lost(errno.into()))?.bytes == 0 {
        return Ok(None);
    }
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(handles) = message {
            files.extend(handles);
        }
    }
    if begin != [ASSIGNS] {
        return Err(RegionError::Protocol("the beginning of an assignment"));
    }
    let assignment = serde_json::from_slice(&frame(socket)?);
    let assignment = assignment.map_err(|_| RegionError::Protocol("an assignment"))?;
    let layouts = layout::decode(&frame(socket)?);
    let layouts = layouts.ok_or(RegionError::Protocol("the PCBs of an assignment"))?;
    Ok(Some((assignment, layouts, files)))
}

fn frame(socket: &UnixStream) -> Result<Vec<u8>, RegionError> {
    let mut length = [0; 4];
    (&mut &*socket).read_exact(&mut length).map_err(lost)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > BYTES_MAX {
        return Err(RegionError::Protocol("the length of an assignment"));
    }
    let mut bytes = vec![0; length];
    (&mut &*socket).read_exact(&mut bytes).map_err(lost)?;
    Ok(bytes)
}

/// Says something of a process to its system.
pub(crate) fn send_signal(socket: &UnixStream, what: u8) -> Result<(), RegionError> {
    (&mut &*socket).write_all(&[what]).map_err(lost)
}

/// Hears what a process says; `None` if it has closed its end.
pub(crate) fn receive_signal(socket: &UnixStream) -> Option<u8> {
    let mut signal = [0];
    (&mut &*socket).read_exact(&mut signal).ok()?;
    Some(signal[0])
}

#[allow(clippy::needless_pass_by_value)] // as `map_err` hands it over
fn lost(error: std::io::Error) -> RegionError {
    RegionError::Process(format!("the connection to a region's process broke: {error}"))
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;
    use crate::layout::tests::sample;

    #[test]
    fn an_assignment_arrives_with_its_files_and_the_end_is_heard() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let assignment = Assignment {
            object: "/programs/teller/program.so".into(),
            entries: vec!["TELLER".into()],
            surroundings: Some(Surroundings::default()),
            ..Assignment::default()
        };
        let files = [ours.as_fd(), theirs.as_fd()];
        assign(&ours, &assignment, &sample(), &files).expect("sent");
        assign(&ours, &assignment, &[], &[]).expect("sent");
        let (came, layouts, held) = assigned(&theirs).expect("whole").expect("one");
        assert_eq!((came, layouts, held.len()), (assignment, sample(), 2));
        let (_, layouts, files) = assigned(&theirs).expect("whole").expect("another");
        assert_eq!((layouts.len(), files.len()), (0, 0));
        send_signal(&theirs, READY).expect("said");
        assert_eq!(receive_signal(&ours), Some(READY));
        drop((files, held));
        (&ours).write_all(b"X").expect("sent");
        assert!(assigned(&theirs).is_err());
        drop(ours);
        assert!(assigned(&theirs).expect("an end").is_none());
    }
}
