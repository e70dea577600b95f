//! Calls through the I/O PCB, alternate PCBs, and AIB calls that name no PCB.
//!
//! | call | batch | BMP |
//! |---|---|---|
//! | GU to the I/O PCB; GN | AL | QC; QD: there is no message |
//! | ISRT; PURG; CHNG; SETO | AL | QH; A3; A1: there is no destination |
//! | CMD, GCMD, ICMD, RCMD, GMSG, AUTH, ICAL | AL | AL |
//! | GSCD | blank, and addresses of zero | AD |
//!
//! Invariants:
//! 1. A function that is none, or none for this PCB, is AD.

use region::{Abend, AibReply, Feedback, Reply, Request};
use store::Store;

use crate::error::{abend, ended};
use crate::inquiry::{NOT_FOR_BATCH, WRONG_PARAMETER};
use crate::schedule::Schedule;

/// Bytes of what GSCD returns: two addresses.
const ADDRESSES: usize = 8;

impl<S: Store> Schedule<S> {
    /// A call through the I/O PCB.
    pub(crate) fn service(&mut self, request: Request<'_>, reply: &mut Reply) -> Result<(), Abend> {
        let status = match &request.function {
            b"XRST" => return self.extended_restart(request, reply),
            b"INIT" => return self.initialize(&request, reply),
            b"CHKP" => self.checkpoint(request)?,
            b"SYNC" => self.sync()?,
            b"ROLB" => self.roll_back()?,
            b"ROLL" => return Err(abend("U0778", "the program rolled itself back (ROLL)")),
            b"SETS" | b"SETU" => self.set_point(request)?,
            b"ROLS" => {
                let (status, filled) = self.roll_to_point(request)?;
                reply.fill(filled);
                status
            }
            b"LOG " => {
                self.need_restart()?;
                self.write_log(&request)?
            }
            b"DEQ " => self.dequeue(&request)?,
            b"STAT" => self.statistics(request, reply),
            b"GSCD" if !self.options.online => addresses(request, reply),
            function => self.message(*function),
        };
        reply.pcb(0, Feedback::status(status));
        Ok(())
    }

    /// A call through an alternate PCB.
    pub(crate) fn alternate(&self, function: [u8; 4]) -> [u8; 2] {
        match &function {
            b"ISRT" | b"PURG" | b"CHNG" | b"SETO" | b"AUTH" => self.message(function),
            _ => *b"AD",
        }
    }

    /// A call that concerns messages, of which there are none here.
    fn message(&self, function: [u8; 4]) -> [u8; 2] {
        let online = self.options.online;
        match &function {
            b"GU  " if online => *b"QC",
            b"GN  " if online => *b"QD",
            b"ISRT" if online => *b"QH",
            b"PURG" if online => *b"A3",
            b"CHNG" | b"SETO" if online => *b"A1",
            b"GU  " | b"GN  " | b"ISRT" | b"PURG" | b"CHNG" | b"SETO" | b"AUTH" => *b"AL",
            b"CMD " | b"GCMD" | b"ICMD" | b"RCMD" | b"GMSG" | b"ICAL" => *b"AL",
            _ => *b"AD",
        }
    }

    /// An AIB call that names no PCB.
    pub(crate) fn without_pcb(&self, request: &Request<'_>, reply: &mut Reply) {
        let reason = match &request.function {
            b"ICAL" | b"ICMD" | b"GMSG" | b"APSB" | b"DPSB" => NOT_FOR_BATCH,
            _ => crate::inquiry::UNKNOWN_RESOURCE,
        };
        reply.aib(AibReply { return_code: WRONG_PARAMETER, reason, ..AibReply::default() });
    }

    /// DEQ: gives back what a class of command code Q keeps (DLI-12.26).
    fn dequeue(&mut self, request: &Request<'_>) -> Result<[u8; 2], Abend> {
        let class = request.area.as_deref().and_then(<[u8]>::first).copied();
        let Some(class) = class.filter(|class| (b'A'..=b'J').contains(class)) else {
            return Ok(*b"GL");
        };
        self.session.dequeue(class).map_err(ended)?;
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
