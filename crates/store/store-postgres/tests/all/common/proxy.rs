//! A proxy in front of a server's socket that cuts connections where a test wants it to.
#![allow(unreachable_pub, clippy::disallowed_methods, clippy::disallowed_types)] // tests

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Longer than an engine takes for a commit on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happens to the next flight that ends with COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Nothing.
    None,
    /// The connection is cut before any of it reaches the server.
    Before,
    /// Everything but COMMIT reaches the server, then the connection is cut.
    Within,
    /// All of it reaches the server, and none of the answers comes back.
    After,
    /// It is held back until [`Proxy::let_go`]; the client's side is cut at once.
    Held,
}

pub struct Proxy {
    pub folder: PathBuf,
    state: Arc<State>,
}

struct State {
    server: PathBuf,
    cut: Mutex<Cut>,
    refuses: AtomicU32,
    held: Mutex<Vec<(UnixStream, Vec<u8>)>>,
    cuts: AtomicU32,
}

impl Proxy {
    pub fn new(server: PathBuf) -> Proxy {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("holdfast-proxy-{}-{}", std::process::id(), NEXT.fetch_add(1, SeqCst));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder");
        let listener = UnixListener::bind(folder.join(".s.PGSQL.5432")).expect("a socket");
        let state = Arc::new(State {
            server,
            cut: Mutex::new(Cut::None),
            refuses: AtomicU32::new(0),
            held: Mutex::default(),
            cuts: AtomicU32::new(0),
        });
        let serving = Arc::clone(&state);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if serving.refuses.load(SeqCst) == 0 {
                    let state = Arc::clone(&serving);
                    std::thread::spawn(move || serve(&state, client));
                }
            }
        });
        Proxy { folder, state }
    }

    pub fn url(&self) -> String {
        let folder = self.folder.display().to_string().replace('/', "%2F");
        format!("postgres://holdfast@{folder}/postgres")
    }

    /// Cuts the next commit so.
    pub fn cut(&self, cut: Cut) {
        *self.state.cut.lock().unwrap() = cut;
    }

    /// Whether new connections are refused.
    pub fn refuse(&self, refuses: bool) {
        self.state.refuses.store(u32::from(refuses), SeqCst);
    }

    /// How many commits were cut.
    pub fn cuts(&self) -> u32 {
        self.state.cuts.load(SeqCst)
    }

    /// Lets what was held back reach the server, and waits until the server has answered.
    pub fn let_go(&self) {
        for (mut server, bytes) in self.state.held.lock().unwrap().drain(..) {
            let _ = server.write_all(&bytes);
            let _ = server.set_read_timeout(Some(Duration::from_millis(300)));
            let mut answer = [0; 4096];
            while matches!(server.read(&mut answer), Ok(1..)) {}
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// How the engine answers COMMIT.
const COMMITTED: &[u8] = b"COMMIT\0";

fn count(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).filter(|window| *window == wanted).count()
}

fn serve(state: &Arc<State>, mut client: UnixStream) {
    let Ok(mut server) = UnixStream::connect(&state.server) else { return };
    let (mut back_from, mut back_to) = (server.try_clone().unwrap(), client.try_clone().unwrap());
    let committed = Arc::new(AtomicUsize::new(0));
    let muted = Arc::new(AtomicBool::new(false));
    let (counted, silent) = (Arc::clone(&committed), Arc::clone(&muted));
    std::thread::spawn(move || {
        let mut bytes = vec![0; 1 << 16];
        let mut answers = Vec::new();
        while let Ok(length @ 1..) = back_from.read(&mut bytes) {
            answers.extend_from_slice(&bytes[..length]);
            counted.fetch_add(count(&answers, COMMITTED), SeqCst);
            answers.drain(..answers.len().saturating_sub(COMMITTED.len() - 1));
            if !silent.load(SeqCst) && back_to.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = back_to.shutdown(Shutdown::Both);
    });
    let mut bytes = vec![0; 1 << 20];
    while let Ok(length @ 1..) = client.read(&mut bytes) {
        let sent = &bytes[..length];
        // A flight that commits something, not the one in which a connection takes its lane.
        let commit = sent.windows(9).position(|window| window == b"\0\0\0\x0bCOMMI");
        let commit = commit.filter(|_| !sent.windows(5).any(|window| window == b"lanes"));
        let mut cut = state.cut.lock().unwrap();
        let (Some(at), false) = (commit, *cut == Cut::None) else {
            drop(cut);
            if server.write_all(sent).is_err() {
                break;
            }
            continue;
        };
        let at = at.saturating_sub(1);
        let this = std::mem::replace(&mut *cut, Cut::None);
        drop(cut);
        state.cuts.fetch_add(1, SeqCst);
        let pause = || std::thread::sleep(Duration::from_millis(150));
        match this {
            Cut::None | Cut::Before => (),
            Cut::Within => {
                let _ = client.shutdown(Shutdown::Both);
                let _ = server.write_all(&sent[..at]);
                pause();
            }
            Cut::After => {
                let wanted = committed.load(SeqCst) + count(sent, b"COMMIT");
                // The client learns of the cut when the engine has committed: what it asks then
                // must not overtake the commit.
                muted.store(true, SeqCst);
                let _ = server.write_all(sent);
                // However busy the machine is. An engine that cannot answer what stands in front of
                // COMMIT would not commit.
                let until = Instant::now() + PATIENCE;
                while committed.load(SeqCst) < wanted && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
            Cut::Held => {
                let _ = client.shutdown(Shutdown::Both);
                let mut held = state.held.lock().unwrap();
                held.push((server.try_clone().unwrap(), sent.to_vec()));
                return;
            }
        }
        break;
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
