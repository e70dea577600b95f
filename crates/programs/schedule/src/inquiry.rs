//! INIT and INQY: what a program asks about its databases and about itself.
//!
//! | offset | bytes | INQY ENVIRON |
//! |---|---|---|
//! | 0 | 8 | name of the system |
//! | 8 | 4 | release, binary: X'00001501' |
//! | 12, 20 | 8, 8 | type of the control region, of the program's region: `BATCH`, `DB` |
//! | | | or, with messages, `DB/DC`; `BATCH`, `BMP`, `MPP`, `IFP` |
//! | 28 | 4 | number of the region, binary |
//! | 32, 40, 48 | 8, 8, 8 | program, PSB, transaction |
//! | 56, 64 | 8, 8 | user, group |
//! | 72 | 4 | status group: blank, `A`, `B` |
//! | 76 | 24 | addresses and indicators that mean nothing here, binary zeros and blanks |
//! | 100 | 52 | more of these |
//!
//! Invariants:
//! 1. Binary fields are big-endian.

use dli::Availability;
use region::layout::{NO_NAME, Name, PcbKind};
use region::{Abend, Reply, Request, is_counted};
use store::Store;

use crate::aib::{UNKNOWN_RESOURCE, UNKNOWN_SUBFUNCTION, too_short, wrong};
use crate::layouts;
use crate::offline::{self, StatusGroup};
use crate::schedule::Schedule;

const RELEASE: u32 = 0x1501;
const SYSTEM: &[u8; 8] = b"HOLDFAST";
const ENVIRON_SHORT: usize = 100;
const ENVIRON: usize = 152;

impl<S: Store> Schedule<S> {
    /// INIT.
    pub(crate) fn initialize(
        &mut self,
        request: &Request<'_>,
        reply: &mut Reply,
    ) -> Result<(), Abend> {
        let text = request.area.as_deref().map(text_of);
        let status = match text.as_deref() {
            None => *b"AB",
            Some("DBQUERY") => {
                self.look_at_closed();
                self.show_availability(reply)
            }
            Some("STATUS GROUPA") => {
                self.offline.group = self.offline.group.max(StatusGroup::A);
                *b"  "
            }
            Some("STATUS GROUPB") => {
                self.offline.group = StatusGroup::B;
                *b"  "
            }
            Some("RSA12") => {
                self.pcbs.widen_rsas(reply);
                *b"  "
            }
            Some(_) => *b"AJ",
        };
        self.show(0, status, reply);
        Ok(())
    }

    /// Shows in each database PCB whether its data is there. Answers the status of the I/O PCB.
    fn show_availability(&self, reply: &mut Reply) -> [u8; 2] {
        let mut all = Vec::new();
        for number in 1..self.pcbs.len() {
            let Some(mut found) = self.unit.session.availability(number - 1) else { continue };
            let mut status = if found == Availability::All { *b"  " } else { *b"NA" };
            if self.claimed.closed(number - 1, false).is_some() {
                (found, status) = (Availability::Nothing, *b"NA");
            } else if self.claimed.closed(number - 1, true).is_some() && found == Availability::All
            {
                (found, status) = (Availability::Part, *b"NU");
            }
            self.show(number, status, reply);
            all.push(found);
        }
        offline::status_of(&all).0
    }

    /// INQY.
    pub(crate) fn inquire(&mut self, request: Request<'_>, reply: &mut Reply) -> Result<(), Abend> {
        self.look_at_closed();
        let Request { pcb, area, aib, .. } = request;
        let number = pcb.filter(|number| *number < self.pcbs.len());
        let status = |status: [u8; 2], reply: &mut Reply| {
            if let Some(number) = number {
                self.show(number, status, reply);
            }
        };
        let Some(aib) = aib else {
            status(*b"AD", reply);
            return Ok(());
        };
        let subfunction = region::layout::text(&aib.subfunction);
        let found = match subfunction.as_str() {
            "FIND" => number.map(|_| Vec::new()),
            "DBQUERY" => {
                let outcome = self.show_availability(reply);
                if number == Some(0) {
                    status(outcome, reply);
                }
                return Ok(());
            }
            "PROGRAM" => Some(self.program.name.to_vec()),
            "ENVIRON" => {
                let mut block = self.environment();
                let room = area.as_deref().map_or(0, <[u8]>::len);
                block.truncate(if room < ENVIRON { ENVIRON_SHORT } else { ENVIRON });
                Some(block)
            }
            "LERUNOPT" => Some(vec![0; 4]),
            "MSGINFO" if self.unit.terminals.io().is_some() => Some(message_information()),
            "" | "NULL" if number.is_none() => None,
            "" | "NULL" | "MSGINFO" => {
                // They tell of messages and their destinations, which there are none of.
                status(*b"AL", reply);
                return Ok(());
            }
            _ => {
                reply.aib(wrong(UNKNOWN_SUBFUNCTION));
                return Ok(());
            }
        };
        match found {
            None => reply.aib(wrong(UNKNOWN_RESOURCE)),
            Some(bytes) => {
                let outcome = give(&bytes, area, reply);
                status(outcome, reply);
            }
        }
        Ok(())
    }

    /// Whom the I/O PCB names.
    fn user(&self) -> (Name, Name) {
        if let Some(io) = self.unit.terminals.io() {
            return (io.user, io.group);
        }
        match self.pcbs.layouts().first().map(|layout| &layout.kind) {
            Some(PcbKind::Io(io)) => (io.user, io.group),
            _ => (NO_NAME, NO_NAME),
        }
    }

    fn environment(&self) -> Vec<u8> {
        let own = self.program.options.kind.name();
        let control: &[u8] =
            match (self.program.options.kind.is_online(), self.unit.terminals.are_there()) {
                (false, _) => b"BATCH   ",
                (true, false) => b"DB      ",
                (true, true) => b"DB/DC   ",
            };
        let group: &[u8] = match self.offline.group {
            StatusGroup::None => b"    ",
            StatusGroup::A => b"A   ",
            StatusGroup::B => b"B   ",
        };
        let mut block = Vec::with_capacity(ENVIRON);
        block.extend_from_slice(SYSTEM);
        block.extend_from_slice(&RELEASE.to_be_bytes());
        block.extend_from_slice(control);
        block.extend_from_slice(&own);
        block.extend_from_slice(&(self.program.options.owner as u32).to_be_bytes());
        block.extend_from_slice(&self.program.name);
        block.extend_from_slice(self.program.psb.bytes());
        block.extend_from_slice(&layouts::named(&self.program.options.transaction));
        let (user, users) = self.user();
        block.extend_from_slice(&user);
        block.extend_from_slice(&users);
        block.extend_from_slice(group);
        block.resize(ENVIRON, 0);
        block
    }
}

/// Where the present message comes from: version, length of what follows, the system's name. \[K\]
fn message_information() -> Vec<u8> {
    let mut block = 1_u32.to_be_bytes().to_vec();
    block.extend_from_slice(&(SYSTEM.len() as u32).to_be_bytes());
    block.extend_from_slice(SYSTEM);
    block
}

/// Puts an answer into the area; AG if it does not fit.
fn give(bytes: &[u8], area: Option<&mut [u8]>, reply: &mut Reply) -> [u8; 2] {
    if bytes.is_empty() {
        return *b"  ";
    }
    let Some(area) = area else { return *b"AB" };
    let len = area.len().min(bytes.len());
    area[..len].copy_from_slice(&bytes[..len]);
    reply.fill(len);
    if len == bytes.len() {
        return *b"  ";
    }
    reply.aib(too_short(bytes.len()));
    *b"AG"
}

/// The text behind LL and ZZ, without blanks at its end.
fn text_of(area: &[u8]) -> String {
    let text = match is_counted(area) {
        true => area.get(4..).unwrap_or_default(),
        // Without a length that makes sense the text ends where it can be no text.
        false => {
            let text = area.get(4..).unwrap_or_default();
            let end = text.iter().position(|byte| !(b' '..=b'~').contains(byte));
            &text[..end.unwrap_or(text.len())]
        }
    };
    region::layout::text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_an_area_stands_behind_its_length() {
        assert_eq!(text_of(b"\0\x0B\0\0DBQUERY"), "DBQUERY");
        assert_eq!(text_of(b"\0\x0D\0\0DBQUERY  "), "DBQUERY");
        assert_eq!(text_of(b"\0\x40\0\0DBQUERY \0rest"), "DBQUERY");
        assert_eq!(text_of(b"\0"), "");
    }
}
