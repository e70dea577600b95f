//! A network between a program and its queue manager that loses the next answer on demand.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A network that can be cut.
pub(crate) struct Cutter {
    pub(crate) port: u16,
    cuts: Arc<AtomicBool>,
    made: Arc<AtomicUsize>,
}

impl Cutter {
    /// One that leads to a port of this machine.
    pub(crate) fn new(to: u16) -> Cutter {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (cuts, made) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let (own_cuts, own_made) = (Arc::clone(&cuts), Arc::clone(&made));
        // It ends with the test's process.
        std::thread::spawn(move || {
            for near in listener.incoming().map_while(Result::ok) {
                own_made.fetch_add(1, Ordering::SeqCst);
                let far = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], to))).unwrap();
                pass(near.try_clone().unwrap(), far.try_clone().unwrap(), None);
                pass(far, near, Some(Arc::clone(&own_cuts)));
            }
        });
        Cutter { port, cuts, made }
    }

    /// The next answer does not come: its connection ends in place of it.
    pub(crate) fn cut_next_answer(&self) {
        self.cuts.store(true, Ordering::SeqCst);
    }

    /// How many connections were made.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

/// Hands on what comes, until one side ends, or it is to be cut.
fn pass(mut from: TcpStream, mut to: TcpStream, cuts: Option<Arc<AtomicBool>>) {
    std::thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(got @ 1..) = from.read(&mut bytes) {
            if cuts.as_ref().is_some_and(|cuts| cuts.swap(false, Ordering::SeqCst)) {
                break;
            }
            if to.write_all(&bytes[..got]).is_err() {
                break;
            }
        }
        // Whichever of them is gone already needs no end.
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    });
}
