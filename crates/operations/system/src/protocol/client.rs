//! The side of a command: finds the process that has a system open, and asks it.
//!
//! Invariants:
//! 1. Questions are answered only to a process that could do as much without the answer: one of
//!    the caller's own user, or root's.

use std::io::{self, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use seal::{Keyset, Passphrase};
use seam::Seam;
use seam::socket::Peer;
use serde_json::Value;

use super::exchange::{self, Respond};
use super::line::{self, Answer, LINE_BYTES_MAX, Proven};
use super::{OperatorError, Progress, Refusal, Request, SOCKET};
use crate::SystemError;
use crate::keyset::read_keyset;
use crate::status::{ProcessStatus, RunningStatus, SystemStatus};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How long a process that has a system open may take to say how it is.
const PATIENCE: Duration = Duration::from_secs(5);

/// Has the process that has the system in `dir` open do what a request asks for. `None` if nobody
/// listens: nobody has it open, or somebody is about to open or close it. The passphrase is asked
/// for only if the system wants a proof of it.
///
/// # Errors
/// What the verb refuses; somebody who listens but does not answer, or not as this release does.
pub fn call<E: From<Refusal>>(
    seam: &Seam,
    dir: &Path,
    request: &Request,
    passphrase: &mut dyn FnMut() -> Result<Passphrase, E>,
    tell: &mut dyn FnMut(&Progress),
) -> Result<Option<Value>, E> {
    call_and_answer(seam, dir, request, passphrase, (tell, &mut no_answer))
}

/// What a client answers that no verb has questions for.
fn no_answer(_: &Value, _: &[u8], _: &mut Vec<u8>) -> io::Result<Value> {
    Ok(Value::Null)
}

/// The same for a verb that has questions: they are answered by `respond`.
///
/// # Errors
/// As [`call`].
pub fn call_and_answer<E: From<Refusal>>(
    seam: &Seam,
    dir: &Path,
    request: &Request,
    passphrase: &mut dyn FnMut() -> Result<Passphrase, E>,
    (tell, respond): (&mut dyn FnMut(&Progress), Respond<'_>),
) -> Result<Option<Value>, E> {
    let found = || reach(dir).map_err(|error| Refusal::from(unanswered(dir, error)));
    let Some(stream) = found()? else { return Ok(None) };
    let reply = converse(&stream, request, None, (&mut *tell, &mut *respond))?;
    if let Reply::Done(answer) = reply {
        return Ok(Some(answer));
    }
    drop(stream);
    // A person who types, and the stretching, take longer than the system waits for a proof.
    let keys = read_keyset(seam, dir, &passphrase()?).map_err(Refusal::from)?;
    let Some(stream) = found()? else { return Ok(None) };
    match converse(&stream, request, Some(&keys), (tell, respond))? {
        Reply::Done(answer) => Ok(Some(answer)),
        Reply::Prove => {
            Err(Refusal::from(OperatorError::Unproven { verb: request.verb.clone() }).into())
        }
    }
}

/// What a system says at last.
enum Reply {
    /// The result.
    Done(Value),
    /// It wants a proof, which nobody has given it.
    Prove,
}

/// Why a process that has a system open cannot be asked. Somebody who may not ask hears that, and
/// no guess at how that process is.
pub(crate) fn unanswered(dir: &Path, error: io::Error) -> SystemError {
    match error.kind() {
        io::ErrorKind::PermissionDenied => SystemError::io("connect to", &dir.join(SOCKET), error),
        _ => SystemError::NoAnswer { dir: dir.to_owned(), why: error.to_string() },
    }
}

/// Asks the process that has the system in `dir` open how it is. `None` if nobody listens.
///
/// # Errors
/// If somebody listens but does not answer as a Holdfast of this release does.
pub fn ask(dir: &Path) -> io::Result<Option<Box<RunningStatus>>> {
    match asked(dir)? {
        None => Ok(None),
        Some(status) => match understood(status)? {
            SystemStatus::Running(status) => Ok(Some(status)),
            _ => Err(invalid("the answer is of a stopped system".into())),
        },
    }
}

/// The process that has the system in `dir` open, whichever it is; `None` if nobody listens.
///
/// # Errors
/// As [`ask`].
pub fn holder(dir: &Path) -> io::Result<Option<u32>> {
    #[derive(Deserialize)]
    struct Holder {
        process: ProcessStatus,
    }
    let holder: Option<Holder> = asked(dir)?.map(understood).transpose()?;
    Ok(holder.map(|holder| holder.process.pid))
}

/// The process that serves operators of the system in `dir`, whether it answers or not; 0 if it is
/// not to be seen from here.
pub(crate) fn served_by(dir: &Path) -> Option<u32> {
    let stream = seam::socket::connect(&dir.join(SOCKET)).ok()?;
    Some(Peer::of(&stream).map_or(0, |peer| peer.process))
}

fn invalid(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

pub(crate) fn understood<T: DeserializeOwned>(status: Value) -> io::Result<T> {
    serde_json::from_value(status).map_err(|error| invalid(error.to_string()))
}

pub(crate) fn asked(dir: &Path) -> io::Result<Option<Value>> {
    let Some(stream) = reach(dir)? else { return Ok(None) };
    stream.set_read_timeout(Some(PATIENCE))?;
    let tell = &mut |_: &Progress| {};
    match converse(&stream, &Request::new("status"), None, (tell, &mut no_answer)) {
        Ok(Reply::Done(status)) => Ok(Some(status)),
        Ok(Reply::Prove) => Err(invalid("it wants the passphrase to say how it is".into())),
        Err(refusal) => Err(invalid(refusal.message)),
    }
}

/// Whether a caller answers the questions of a server, by their users.
fn obeys(caller: u32, server: u32) -> Result<(), OperatorError> {
    match server == 0 || server == caller {
        true => Ok(()),
        false => Err(OperatorError::Stranger { server, caller }),
    }
}

/// Sends the request and hears the answer to its end.
fn converse(
    stream: &UnixStream,
    request: &Request,
    keys: Option<&Keyset>,
    (tell, answer_to): (&mut dyn FnMut(&Progress), Respond<'_>),
) -> Result<Reply, Refusal> {
    let broken = |error: io::Error| OperatorError::Broken { why: error.to_string() };
    let line = line::write(request).map_err(broken)?;
    // Who is turned away may have been answered before the request is through.
    let sent_line = line;
    let sent = (&mut &*stream).write_all(&sent_line);
    let mut reader = BufReader::new(stream);
    while let Some(line) = line::next(&mut reader, LINE_BYTES_MAX).map_err(broken)? {
        let answer = line::read_answer(&line).map_err(|why| OperatorError::Broken { why })?;
        match answer {
            Answer::Progress(progress) => tell(&progress),
            Answer::Ask(ask) => {
                let server = Peer::of(stream).map_err(broken)?.user;
                obeys(rustix::process::geteuid().as_raw(), server)?;
                exchange::respond(stream, &mut reader, &ask, &mut *answer_to).map_err(broken)?;
            }
            Answer::Done(result) => return Ok(Reply::Done(result)),
            Answer::Prove(challenge) => {
                let Some(keys) = keys else { return Ok(Reply::Prove) };
                let why = || "what is to be proven is no number".to_owned();
                let challenge = line::unhex(&challenge);
                let challenge = challenge.ok_or_else(|| OperatorError::Broken { why: why() })?;
                let asked = sent_line.strip_suffix(b"\n").unwrap_or(&sent_line);
                let proof = line::hex(&keys.prove(&[&challenge[..], asked].concat()));
                let proven = line::write(&Proven { proof }).map_err(broken)?;
                (&mut &*stream).write_all(&proven).map_err(broken)?;
            }
            Answer::Error(refusal) => return Err(refusal),
        }
    }
    sent.map_err(broken)?;
    Err(OperatorError::Broken { why: "it has ended, or closed the connection".into() }.into())
}

/// A connection to whoever listens, if anybody does.
fn reach(dir: &Path) -> io::Result<Option<UnixStream>> {
    match seam::socket::connect(&dir.join(SOCKET)) {
        Ok(stream) => Ok(Some(stream)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => Ok(None),
            // Links that lead to each other are no socket that somebody listens at.
            _ if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => Ok(None),
            _ => Err(error),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use rustix::fs::Uid;

    use super::super::Ask;
    use super::*;

    #[test]
    #[allow(clippy::disallowed_methods)] // the test's own folder
    fn somebody_else_who_listens_in_the_folder_is_answered_nothing() {
        if !rustix::process::geteuid().is_root() {
            return; // nobody but root can be somebody else
        }
        let dir = std::env::temp_dir().join(format!("holdfast-stranger-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let other = Uid::from_raw(65_534);
        std::os::unix::fs::chown(&dir, Some(other.as_raw()), None).unwrap();
        let (ready, waits) = std::sync::mpsc::channel();
        let path = dir.join(SOCKET);
        let listens = seam::thread::spawn("stranger", move || {
            // This thread alone.
            rustix::thread::set_thread_res_uid(other, other, other).unwrap();
            let (listener, _) = seam::socket::listen(&path).unwrap();
            ready.send(()).unwrap();
            let (mut client, _) = listener.accept().unwrap();
            let ask = Ask { question: Value::from("read /etc/shadow"), bytes: 0, answered: true };
            client.write_all(&line::write(&Answer::Ask(ask)).unwrap()).unwrap();
            let mut received = String::new();
            client.read_to_string(&mut received).unwrap();
            assert_eq!(received.lines().count(), 1, "the request alone: {received}");
        })
        .unwrap();
        waits.recv().unwrap();
        let respond = &mut |_: &Value, _: &[u8], _: &mut Vec<u8>| panic!("it is answered");
        let passphrase = &mut || Err(Refusal::from(OperatorError::Gone));
        let request = Request::new("idcams");
        let talk: (&mut dyn FnMut(&Progress), Respond<'_>) = (&mut |_| {}, respond);
        let refused = call_and_answer(&Seam::real(), &dir, &request, passphrase, talk);
        assert_eq!(refused.unwrap_err().code, "HFY042");
        listens.join();
        std::fs::remove_dir_all(dir).unwrap();
    }

    #[test]
    fn questions_are_answered_to_nobody_who_has_other_rights() {
        assert!(obeys(7, 7).is_ok() && obeys(7, 0).is_ok() && obeys(0, 0).is_ok());
        for (caller, server) in [(0, 7), (7, 8)] {
            let refused = obeys(caller, server).unwrap_err();
            assert!(matches!(refused, OperatorError::Stranger { .. }), "{refused}");
        }
    }
}
