//! Calls through the I/O PCB, AIB calls that name no PCB, and calls for messages where there are
//! none.
//!
//! | call | batch | online, without messages |
//! |---|---|---|
//! | GU to the I/O PCB; GN | AL | QC; QD: there is no message |
//! | ISRT; PURG; CHNG; SETO | AL | QH; A3; A1: there is no destination |
//! | CMD, GCMD, ICMD, RCMD, GMSG, AUTH, ICAL | AL | AL |
//! | GSCD | blank, and addresses of zero | AD |
//!
//! Invariants:
//! 1. A function that is none, or none for this PCB, is AD.

use definitions::Function;
use region::{Abend, Reply, Request};
use store::Store;

use crate::aib::{NOT_FOR_BATCH, UNKNOWN_RESOURCE, wrong};
use crate::error::{abend, ended};

use crate::schedule::Schedule;

/// Bytes of what GSCD returns: two addresses.
const ADDRESSES: usize = 8;

impl<S: Store> Schedule<S> {
    /// A call through the I/O PCB.
    pub(crate) fn service(&mut self, request: Request<'_>, reply: &mut Reply) -> Result<(), Abend> {
        let no_log = self.program.options.is_without_log();
        let status = match request.function {
            Function::Xrst => return self.extended_restart(request, reply),
            Function::Init => return self.initialize(&request, reply),
            Function::Gu
            | Function::Gn
            | Function::Isrt
            | Function::Purg
            | Function::Seto
            | Function::Auth
                if self.unit.terminals.are_there() =>
            {
                return self.terminal(0, request, reply);
            }
            Function::Chkp => self.checkpoint(request, reply)?,
            // Whose input comes as messages has its sync points with them.
            Function::Sync if self.is_message_driven() => *b"AD",
            Function::Sync => self.sync()?,
            Function::Rolb | Function::Sets | Function::Setu | Function::Rols if no_log => *b"AL",
            Function::Rolb => self.roll_back(request, reply)?,
            Function::Roll => return Err(abend("U0778", "the program rolled itself back (ROLL)")),
            Function::Sets | Function::Setu => self.points.set(&mut self.unit, request)?,
            Function::Rols => {
                let (status, filled) = self.points.roll_back(&mut self.unit, request)?;
                reply.fill(filled);
                status
            }
            Function::Log => {
                self.restart.need()?;
                let place = (&self.store, &*self.clock);
                self.user_log.write(&mut self.unit.session, place, &request)?
            }
            Function::Deq => self.dequeue(&request)?,
            Function::Stat => self.statistics.call(request, reply),
            Function::Gscd if !self.program.options.kind.is_online() => addresses(request, reply),
            Function::Gu
            | Function::Gn
            | Function::Isrt
            | Function::Purg
            | Function::Chng
            | Function::Seto
            | Function::Auth
            | Function::Cmd
            | Function::Gcmd
            | Function::Icmd
            | Function::Rcmd
            | Function::Gmsg
            | Function::Ical => self.message(request.function),
            Function::Gnp
            | Function::Ghu
            | Function::Ghn
            | Function::Ghnp
            | Function::Repl
            | Function::Dlet
            | Function::Pos
            | Function::Fld
            | Function::Open
            | Function::Clse
            | Function::Inqy
            | Function::Gscd
            | Function::Term
            | Function::Apsb
            | Function::Dpsb
            | Function::Pcb
            | Function::Unknown(_) => *b"AD",
        };
        self.show(0, status, reply);
        Ok(())
    }

    /// A call for messages, of a program that has some.
    pub(crate) fn terminal(
        &mut self,
        number: usize,
        request: Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        self.restart.need()?;
        let status = if request.function == Function::Gu && number == 0 {
            self.next_message(request.area, true, request.aib.is_some(), reply)?
        } else {
            self.unit.terminals.call(number, request, reply)
        };
        self.show(number, status, reply);
        Ok(())
    }

    /// A call through an alternate PCB, without messages.
    pub(crate) fn alternate(&self, function: Function) -> [u8; 2] {
        match function {
            Function::Isrt | Function::Purg | Function::Chng | Function::Seto | Function::Auth => {
                self.message(function)
            }
            _ => *b"AD",
        }
    }

    /// A call that concerns messages, of which there are none here.
    fn message(&self, function: Function) -> [u8; 2] {
        let online = self.program.options.kind.is_online();
        match function {
            Function::Gu if online => *b"QC",
            Function::Gn if online => *b"QD",
            Function::Isrt if online => *b"QH",
            Function::Purg if online => *b"A3",
            Function::Chng | Function::Seto if online => *b"A1",
            Function::Gu | Function::Gn | Function::Isrt | Function::Purg => *b"AL",
            Function::Chng | Function::Seto | Function::Auth => *b"AL",
            Function::Cmd | Function::Gcmd | Function::Icmd | Function::Rcmd => *b"AL",
            Function::Gmsg | Function::Ical => *b"AL",
            _ => *b"AD",
        }
    }

    /// An AIB call that names no PCB.
    pub(crate) fn without_pcb(&self, request: &Request<'_>, reply: &mut Reply) {
        let reason = match request.function {
            Function::Ical | Function::Icmd | Function::Gmsg | Function::Apsb | Function::Dpsb => {
                NOT_FOR_BATCH
            }
            _ => UNKNOWN_RESOURCE,
        };
        reply.aib(wrong(reason));
    }

    /// DEQ: gives back what a class of command code Q keeps (DLI-12.26).
    fn dequeue(&mut self, request: &Request<'_>) -> Result<[u8; 2], Abend> {
        let class = request.area.as_deref().and_then(<[u8]>::first).copied();
        let Some(class) = class.filter(|class| (b'A'..=b'J').contains(class)) else {
            return Ok(*b"GL");
        };
        self.unit.session.dequeue(class).map_err(ended)?;
        Ok(*b"  ")
    }
}

fn addresses(request: Request<'_>, reply: &mut Reply) -> [u8; 2] {
    let Some(area) = request.area else { return *b"AB" };
    let len = area.len().min(ADDRESSES);
    area[..len].fill(0);
    reply.fill(len);
    *b"  "
}
