//! The side of an open system: a socket in its folder, and a thread for each client.

use std::io::{self, BufReader, Write as _};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::net::RecvFlags;
use seam::socket::{InTime, Peer, SocketFile, is_lost};
use seam::thread::JoinHandle;

use super::line::{self, Answer, REQUEST_BYTES_MAX};
use super::{Asker, CLIENTS_MAX, Listener, OperatorError, Progress, Refusal, Request, SOCKET};
use crate::{Guests, SystemError};
use seal::Keyset;
use seam::Seam;
use serde_json::Value;

/// How long what a client has to authenticate is.
const CHALLENGE_BYTES: usize = 32;
/// How long a client may take to send its whole request, and again its whole proof.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);
/// How long it may take to take a whole line of what it is told.
const PATIENCE_TO_TELL: Duration = Duration::from_secs(30);

/// A system that serves operators.
pub(crate) trait Served: Send + Sync {
    fn dir(&self) -> &Path;
    fn guests(&self) -> &Arc<Guests>;
    fn keys(&self) -> &Keyset;
    fn seam(&self) -> &Seam;
    fn has_verb(&self, name: &str) -> bool;
    /// Whether what is asked is only for whoever proves that he knows the keys.
    fn needs_proof(&self, request: &Request) -> bool;
    fn answer(&self, request: &Request, listener: &mut dyn Listener) -> Result<Value, Refusal>;
}

/// Serves operators until it is dropped.
pub(crate) struct Server {
    listener: Arc<UnixListener>,
    file: SocketFile,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle>,
}

impl Server {
    pub(crate) fn start(system: Arc<dyn Served>) -> Result<Server, SystemError> {
        let path = system.dir().join(SOCKET);
        let failed = |error| SystemError::io("serve operators at", &path, error);
        let (listener, file) = seam::socket::listen(&path).map_err(failed)?;
        let listener = Arc::new(listener);
        let ended = Arc::new(AtomicBool::new(false));
        let mut host = Host { system, ended: Arc::clone(&ended), clients: Vec::new() };
        let received = Arc::clone(&listener);
        let body = move || host.serve(&received);
        let thread = Some(seam::thread::spawn("operator", body).map_err(failed)?);
        Ok(Server { listener, file, ended, thread })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::SeqCst);
        // The thread sleeps in `accept`; this wakes it.
        seam::socket::end(&self.listener, &self.file);
        if let Some(thread) = self.thread.take() {
            thread.join();
        }
        self.file.remove();
    }
}

/// Who lets clients in.
struct Host {
    system: Arc<dyn Served>,
    ended: Arc<AtomicBool>,
    clients: Vec<Client>,
}

/// A client that is being served.
struct Client {
    stream: UnixStream,
    gone: Arc<AtomicBool>,
    thread: JoinHandle,
}

impl Host {
    fn serve(&mut self, listener: &UnixListener) {
        for stream in listener.incoming() {
            if self.ended.load(Ordering::SeqCst) || stream.as_ref().is_err_and(is_lost) {
                break;
            }
            self.let_go();
            // Whoever cannot be served goes without; there is nobody else to tell.
            let _ = stream.and_then(|stream| self.admit(stream));
        }
        for client in self.clients.drain(..) {
            // One that has not sent its request yet sends none any more; a verb hears it by itself.
            let _ = client.stream.shutdown(Shutdown::Read);
            client.thread.join();
        }
    }

    /// Forgets those who have been served.
    fn let_go(&mut self) {
        let (gone, clients): (Vec<_>, Vec<_>) =
            self.clients.drain(..).partition(|client| client.gone.load(Ordering::Acquire));
        self.clients = clients;
        gone.into_iter().for_each(|client| client.thread.join());
    }

    fn admit(&mut self, stream: UnixStream) -> io::Result<()> {
        // The socket's mode keeps others out; this is the second lock.
        let peer = Peer::of(&stream)?;
        if !peer.owns(self.system.dir()) {
            return Ok(());
        }
        if self.clients.len() >= CLIENTS_MAX {
            let answer = Answer::Error(OperatorError::Crowded.into());
            return tell_in(&stream, &answer, Duration::from_millis(10));
        }
        let gone = Arc::new(AtomicBool::new(false));
        let theirs = stream.try_clone()?;
        let (system, ended) = (Arc::clone(&self.system), Arc::clone(&self.ended));
        let flag = Arc::clone(&gone);
        let thread = seam::thread::spawn("operator", move || {
            let _ = attend(&theirs, &peer, &*system, &ended);
            // The host keeps the stream until it looks again; the client shall not wait for that.
            let _ = theirs.shutdown(Shutdown::Both);
            flag.store(true, Ordering::Release);
        })?;
        self.clients.push(Client { stream, gone, thread });
        Ok(())
    }
}

/// Serves one client: reads its request, has the verb work, tells the result.
fn attend(
    stream: &UnixStream,
    peer: &Peer,
    system: &dyn Served,
    ended: &Arc<AtomicBool>,
) -> io::Result<()> {
    let asked = request(stream).and_then(|(line, request)| {
        authorise((stream, peer), system, &line, &request).map(|()| request).map_err(Some)
    });
    let answer = match asked {
        Ok(request) => {
            let mut line = Line { stream, ended };
            match seam::thread::catch(|| system.answer(&request, &mut line)) {
                Ok(Ok(result)) => Answer::Done(result),
                Ok(Err(refusal)) => Answer::Error(refusal),
                Err(panic) => Answer::Error(OperatorError::Panicked { panic }.into()),
            }
        }
        // Nobody asks: who wakes the host says nothing.
        Err(None) => return Ok(()),
        Err(Some(error)) => Answer::Error(error.into()),
    };
    tell(stream, &answer)
}

/// Lets only those on who may ask for what they do.
fn authorise(
    (stream, peer): (&UnixStream, &Peer),
    system: &dyn Served,
    line: &[u8],
    request: &Request,
) -> Result<(), OperatorError> {
    if let Some(process) = system.guests().above(peer) {
        return Err(OperatorError::Guest { process });
    }
    // One that there is not is told of, to whomever.
    if !system.needs_proof(request) || !system.has_verb(&request.verb) {
        return Ok(());
    }
    let unproven = || OperatorError::Unproven { verb: request.verb.clone() };
    let mut challenge = [0; CHALLENGE_BYTES];
    let entropy = &system.seam().entropy;
    entropy.fill(&mut challenge).map_err(|_| unproven())?;
    tell(stream, &Answer::Prove(line::hex(&challenge))).map_err(|_| OperatorError::Gone)?;
    let answer = line::next(&mut in_time(stream), REQUEST_BYTES_MAX);
    // Who has to ask for the passphrase first comes again with it.
    let answer = answer.ok().flatten().ok_or_else(unproven)?;
    let proof = line::read_proof(&answer).map_err(|why| OperatorError::NoRequest { why })?;
    match system.keys().is_proven(&[&challenge[..], line].concat(), &proof) {
        true => Ok(()),
        false => Err(unproven()),
    }
}

/// A request, with its line.
fn request(stream: &UnixStream) -> Result<(Vec<u8>, Request), Option<OperatorError>> {
    let no_request = |why: String| Some(OperatorError::NoRequest { why });
    let line = line::next(&mut in_time(stream), REQUEST_BYTES_MAX)
        .map_err(|error| no_request(error.to_string()))?
        .ok_or(None)?;
    let request = line::read_request(&line).map_err(no_request)?;
    Ok((line, request))
}

/// What a client sends from now on, for as long as it may take.
fn in_time(stream: &UnixStream) -> BufReader<InTime<'_>> {
    BufReader::new(InTime::new(stream, PATIENCE))
}

fn tell(stream: &UnixStream, answer: &Answer) -> io::Result<()> {
    tell_in(stream, answer, PATIENCE_TO_TELL)
}

fn tell_in(stream: &UnixStream, answer: &Answer, limit: Duration) -> io::Result<()> {
    InTime::new(stream, limit).write_all(&line::write(answer)?)
}

/// The client, for a verb at work.
struct Line<'a> {
    stream: &'a UnixStream,
    ended: &'a Arc<AtomicBool>,
}

impl Listener for Line<'_> {
    fn report_progress(&mut self, progress: &Progress) -> Result<(), OperatorError> {
        let answer = Answer::Progress(progress.clone());
        tell(self.stream, &answer).map_err(|_| OperatorError::Gone)
    }

    fn check(&mut self) -> Result<(), OperatorError> {
        if self.ended.load(Ordering::SeqCst) {
            return Err(OperatorError::Stopping);
        }
        // A client says nothing after its request; its end is all that can be read.
        let mut byte = [0; 1];
        match rustix::net::recv(self.stream, &mut byte, RecvFlags::PEEK | RecvFlags::DONTWAIT) {
            Ok((0, _)) => Err(OperatorError::Gone),
            _ => Ok(()),
        }
    }

    fn asker(&self) -> Option<Asker> {
        Asker::new(self.stream, self.ended).ok()
    }
}
