//! Questions that a verb has for its client: what only the client may touch, its files above all.
//!
//! | line | who | what |
//! |---|---|---|
//! | `{"ask": {"question": ..., "bytes": n, "answered": true}}`, n bytes | server | what the verb wants |
//! | `{"reply": ..., "bytes": n}`, n bytes | client | the answer, unless none is wanted |
//!
//! Invariants:
//! 1. Whose right something needs does it: the server touches nothing that a client names.
//! 2. One question is on its way at a time. A client that is gone, and a system that is being
//!    stopped, end the wait for its answer.
//! 3. Neither side takes more than [`PAYLOAD_BYTES_MAX`] at once from the other.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use seam::sync::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::OperatorError;
use super::line::{self, Answer, Ask, REQUEST_BYTES_MAX};

/// The most that goes with a question or an answer.
pub const PAYLOAD_BYTES_MAX: usize = 1 << 20;
/// How often a wait looks whether the system is being stopped.
const LOOK: Duration = Duration::from_millis(200);
/// How long a client may take to take a question.
const PATIENCE: Duration = Duration::from_secs(30);

/// The line of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Replied {
    reply: Value,
    bytes: usize,
}

/// Answers the questions of a verb: looks at what came with one, and leaves what goes back.
/// An error ends the connection, and so the verb.
pub type Respond<'a> = &'a mut dyn FnMut(&Value, &[u8], &mut Vec<u8>) -> io::Result<Value>;

/// The way of a verb to its client, for as long as the verb works.
pub struct Asker {
    stream: Mutex<UnixStream>,
    ended: Arc<AtomicBool>,
}

impl Asker {
    pub(super) fn new(stream: &UnixStream, ended: &Arc<AtomicBool>) -> io::Result<Asker> {
        let stream = Mutex::new(stream.try_clone()?);
        Ok(Asker { stream, ended: Arc::clone(ended) })
    }

    /// Asks the client, and waits for its answer; what comes with that replaces `reply`.
    ///
    /// # Errors
    /// [`OperatorError::Gone`], [`OperatorError::Stopping`]: the verb shall end.
    pub fn ask(
        &self,
        question: &impl Serialize,
        payload: &[u8],
        reply: &mut Vec<u8>,
    ) -> Result<Value, OperatorError> {
        let stream = self.stream.lock();
        self.send(&stream, question, payload, true)?;
        let patient = Patient { stream: &stream, ended: &self.ended };
        let mut reader = BufReader::new(patient);
        let answered = receive(&mut reader, reply);
        answered.map_err(|_| self.why())
    }

    /// Tells the client something that needs no answer.
    ///
    /// # Errors
    /// As [`Asker::ask`].
    pub fn tell(&self, what: &impl Serialize, payload: &[u8]) -> Result<(), OperatorError> {
        self.send(&self.stream.lock(), what, payload, false)
    }

    fn send(
        &self,
        stream: &UnixStream,
        question: &impl Serialize,
        payload: &[u8],
        answered: bool,
    ) -> Result<(), OperatorError> {
        let question =
            serde_json::to_value(question).map_err(|error| OperatorError::Result { error })?;
        let ask = Ask { question, bytes: payload.len(), answered };
        let sent = line::write(&Answer::Ask(ask)).and_then(|line| {
            let mut out = seam::socket::InTime::new(stream, PATIENCE);
            out.write_all(&line)?;
            out.write_all(payload)
        });
        sent.map_err(|_| self.why())
    }

    fn why(&self) -> OperatorError {
        match self.ended.load(Ordering::SeqCst) {
            true => OperatorError::Stopping,
            false => OperatorError::Gone,
        }
    }
}

/// What a client sends, for as long as it takes.
struct Patient<'a> {
    stream: &'a UnixStream,
    ended: &'a AtomicBool,
}

impl Read for Patient<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(LOOK))?;
        loop {
            let mut stream = self.stream;
            match stream.read(bytes) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    if self.ended.load(Ordering::SeqCst) {
                        return Err(error);
                    }
                }
                other => return other,
            }
        }
    }
}

fn receive(reader: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<Value> {
    let line = line::next(reader, REQUEST_BYTES_MAX)?;
    let line = line.ok_or(io::ErrorKind::UnexpectedEof)?;
    let Replied { reply, bytes: len } = serde_json::from_slice(&line)?;
    payload(reader, len, bytes)?;
    Ok(reply)
}

/// Bytes that follow a line.
pub(super) fn payload(
    reader: &mut impl BufRead,
    len: usize,
    bytes: &mut Vec<u8>,
) -> io::Result<()> {
    bytes.clear();
    if len > PAYLOAD_BYTES_MAX {
        let why = format!("{len} bytes are more than go with a line");
        return Err(io::Error::new(io::ErrorKind::InvalidData, why));
    }
    let got = reader.take(len as u64).read_to_end(bytes)?;
    if got == len { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// The client's side: answers a question that has come.
pub(super) fn respond(
    stream: &UnixStream,
    reader: &mut impl BufRead,
    ask: &Ask,
    respond: Respond<'_>,
) -> io::Result<()> {
    let (mut given, mut back) = (Vec::new(), Vec::new());
    payload(reader, ask.bytes, &mut given)?;
    let reply = respond(&ask.question, &given, &mut back)?;
    if !ask.answered {
        return Ok(());
    }
    let line = line::write(&Replied { reply, bytes: back.len() })?;
    let mut out = stream;
    out.write_all(&line)?;
    out.write_all(&back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_question_comes_back_with_its_answer_or_with_the_end() {
        let (server, client) = UnixStream::pair().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let asker = Asker::new(&server, &ended).unwrap();
        let theirs = client.try_clone().unwrap();
        let answers = seam::thread::spawn("client", move || {
            let mut reader = BufReader::new(&theirs);
            let mut asked = Vec::new();
            for _ in 0..2 {
                let line = line::next(&mut reader, line::LINE_BYTES_MAX).unwrap().unwrap();
                let Ok(Answer::Ask(ask)) = line::read_answer(&line) else { panic!("{line:?}") };
                let mut answer = |question: &Value, given: &[u8], back: &mut Vec<u8>| {
                    asked.push(question.clone());
                    back.extend(given.iter().rev());
                    Ok(json!({ "got": given.len() }))
                };
                respond(&theirs, &mut reader, &ask, &mut answer).unwrap();
            }
            assert_eq!(asked, [json!("note"), json!("turn")]);
        })
        .unwrap();
        asker.tell(&"note", b"x").unwrap();
        let mut back = Vec::new();
        assert_eq!(asker.ask(&"turn", b"abc", &mut back).unwrap(), json!({ "got": 3 }));
        assert_eq!(back, b"cba");
        answers.join();
        ended.store(true, Ordering::SeqCst);
        let stopped = asker.ask(&"more", &[], &mut back).unwrap_err();
        assert!(matches!(stopped, OperatorError::Stopping), "{stopped}");
        ended.store(false, Ordering::SeqCst);
        drop(client);
        let gone = asker.ask(&"more", &[], &mut back).unwrap_err();
        assert!(matches!(gone, OperatorError::Gone), "{gone}");
    }

    #[test]
    fn more_than_is_allowed_is_refused_and_not_kept() {
        let mut bytes = Vec::new();
        assert!(payload(&mut &b"abc"[..], usize::MAX, &mut bytes).is_err());
        assert!(payload(&mut &b"abc"[..], 4, &mut bytes).is_err());
        payload(&mut &b"abc"[..], 2, &mut bytes).unwrap();
        assert_eq!(bytes, b"ab");
    }
}
