//! The calls of a program that is an executable of its own: what its library does for it.
//!
//! | the executable | its unit of work |
//! |---|---|
//! | says that it ends well ([`end`]) | is committed |
//! | ends with status 0 without a word | is committed |
//! | says that it does not, ends with another status, or by a signal | is backed out |
//! | does something that ends any program, such as ROLL | is backed out; it ends there |
//!
//! Invariants:
//! 1. Calls come one after the other, from whatever threads.
//! 2. A call reads and writes the memory that it was lent, and no other.

use std::os::unix::net::UnixStream;

use seam::sync::Mutex;

use crate::bmp::lives;
use crate::error::RegionError;
use crate::handing_on::{HandedOn, take_up};
use crate::interface::{DirectAnswer, DirectCall, Interface};
use crate::layout::{Name, PcbLayout, name};
use crate::link::Link;
use crate::mailbox::Mailbox;
use crate::masks::{Masks, Order};
use crate::parameters::MAX;
use crate::server::Abend;
use crate::{caller, guest};

/// Held while a call is made.
static TURN: Mutex<()> = Mutex::new(());

/// The way that this process was left when it became an executable.
struct Way {
    mailbox: Mailbox,
    layouts: Vec<PcbLayout>,
    connection: Option<UnixStream>,
}

impl Link for Way {
    fn layouts(&self) -> &[PcbLayout] {
        &self.layouts
    }

    fn exchange(&mut self, message: &[u8], answer: &mut Vec<u8>) -> Result<(), RegionError> {
        self.mailbox.send(message)?;
        // Without a connection the kernel ends this process with the one that has started it.
        let connection = self.connection.as_ref();
        match self.mailbox.receive(answer, || connection.is_none_or(lives))? {
            true => Ok(()),
            false => Err(RegionError::Gone),
        }
    }

    fn is_far(&self) -> bool {
        true
    }
}

/// Begins: this process was started as a program of a system, and makes its calls from now on.
///
/// # Errors
/// If it was not, or has begun already.
pub fn begin() -> Result<(), RegionError> {
    let _turn = TURN.lock();
    if caller::is_adopted() {
        return Ok(());
    }
    let HandedOn { way, layouts, ledger } = take_up()?;
    let order = Order::Native;
    let masks = Masks::new(&layouts, order)?;
    let mailbox = Mailbox::join(way.mailbox)?;
    let connection = way.connection.map(UnixStream::from);
    let way = Box::new(Way { mailbox, layouts, connection });
    guest::adopt(Interface::new(way, masks, order, ledger, None))
}

/// The PCBs: their names, as the PSB gives them, and their titles, such as a database's name.
#[must_use]
pub fn pcbs() -> Vec<(Name, Name)> {
    let of = |layout: &PcbLayout| (layout.name, name(&layout.title()));
    let all = with(|interface| Ok(interface.layouts().iter().map(of).collect()));
    all.unwrap_or_default()
}

/// Where the mask of a PCB is, for calls with a list of parameters.
#[must_use]
pub fn mask(pcb: usize) -> Option<usize> {
    with(|interface| Ok(interface.mask(pcb))).flatten()
}

/// Makes a call; `None` if nothing was begun, or if all is over.
#[must_use]
pub fn call(call: &DirectCall<'_>) -> Option<DirectAnswer> {
    with(|interface| interface.call_of_program(call))
}

/// Makes the call that a list of parameters describes, by their addresses: the function's first.
pub fn call_by_list(parameters: &[usize]) {
    let mut raw = [0; MAX];
    let count = parameters.len().min(MAX);
    raw[..count].copy_from_slice(&parameters[..count]);
    let _turn = TURN.lock();
    caller::called_with_count(&raw, count);
}

/// Ends the program: commits, or backs out. What the process does then is its own affair.
///
/// # Errors
/// Why there was no commit.
pub fn end(commit: bool) -> Result<(), Abend> {
    let _turn = TURN.lock();
    caller::end_adopted(commit)
}

fn with<T>(work: impl FnOnce(&mut Interface) -> Result<T, Abend>) -> Option<T> {
    let _turn = TURN.lock();
    caller::with_interface(work)
}
