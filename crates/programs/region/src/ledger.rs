//! What a program's process leaves behind for the one that started it: how it ended, and its last
//! calls. It lies in shared memory, so that it outlives the process however that dies.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `HFLEDGR1` |
//! | 8 | 8 | state: 0 starting, 1 program runs, 2 in a call, 3 at its end, 4 ended, 5 did not start |
//! | 16 | 8 | outcome: 1 return code, 2 abend |
//! | 24 | 8 | return code |
//! | 32 | 8 | calls made |
//! | 40 | 8 | of these, those for messages of terminals |
//! | 48 | 8 | copies of the process that were ended because they made calls |
//! | 64 | 40 | length in 8 bytes, abend code |
//! | 104 | 920 | length in 8 bytes, text |
//! | 1024 | 16 x 512 | the last calls, call n in place (n - 1) mod 16 |
//!
//! | offset | bytes | of a call |
//! |---|---|---|
//! | 0 | 8 | number |
//! | 8 | 4, 2, 2 | function, status, 1 once it has returned |
//! | 16 | 8 | PCB's name |
//! | 24 | 8 | segment's name |
//! | 32 | 1, 1, 2, 2, 2 | level, zero, key length, length of the search arguments, zero |
//! | 40 | 64 | key |
//! | 104 | 408 | search arguments, each behind 2 bytes of length |
//!
//! Invariants:
//! 1. The program's process writes and the other reads; what is read is checked like bytes from
//!    outside, for a program may have written over it.

use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering::{Relaxed, Release};

use base::bytes::Reader;
use definitions::Function;

use crate::error::RegionError;
use crate::layout::{Name, text};
use crate::memory::Shared;
use crate::record::{CallRecord, readable};

/// The environment variable that tells a program's process where its ledger is.
pub(crate) const LEDGER: &str = "HOLDFAST_LEDGER";
/// Where the program's process finds the number of the one that has started it.
pub(crate) const STARTER: &str = "HOLDFAST_STARTER";

const MAGIC: u64 = u64::from_le_bytes(*b"HFLEDGR1");
const STATE: usize = 8;
const OUTCOME: usize = 16;
const RETURN_CODE: usize = 24;
const CALLS: usize = 32;
const MESSAGES: usize = 40;
const COPIES: usize = 48;
const ABEND_CODE: usize = 64;
const ABEND_TEXT: usize = 104;
const SLOTS: usize = 1024;
const SLOT_BYTES: usize = 512;
const SLOT_COUNT: u64 = 16;
const BYTES: usize = SLOTS + SLOT_BYTES * SLOT_COUNT as usize;
const KEY: usize = 40;
const KEY_BYTES: usize = 64;
const SSAS: usize = 104;
const SSAS_BYTES: usize = SLOT_BYTES - SSAS;

/// Where a program's process is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Starting = 0,
    Running = 1,
    InCall = 2,
    AtEnd = 3,
    Ended = 4,
    NotStarted = 5,
}

/// What the program's process said about its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Nothing,
    ReturnCode(i64),
    Abend { code: String, text: String },
}

/// The ledger, from either side.
pub(crate) struct Ledger {
    shared: Shared,
    scratch: Vec<u8>,
}

impl Ledger {
    /// An empty one, which programs that this process starts inherit.
    pub(crate) fn create() -> Result<Ledger, RegionError> {
        let shared = Shared::create("holdfast-ledger", BYTES, true).map_err(memory)?;
        shared.word(0).store(MAGIC, Release);
        Ok(Ledger { shared, scratch: Vec::new() })
    }

    /// The value of [`LEDGER`] for the program's process.
    pub(crate) fn handle(&self) -> String {
        self.shared.fd().as_raw_fd().to_string()
    }

    /// The one that this process was started with; one of its own if there is none.
    pub(crate) fn inherited() -> Result<Ledger, RegionError> {
        let number = std::env::var(LEDGER).ok().and_then(|number| number.parse::<i32>().ok());
        let Some(number) = number.filter(|number| *number > 2) else { return Ledger::create() };
        let shared = Shared::inherited(number).map_err(memory)?;
        let is_ledger = shared.len() >= BYTES && shared.word(0).load(Relaxed) == MAGIC;
        if !is_ledger {
            return Err(RegionError::Protocol("the ledger is none"));
        }
        Ok(Ledger { shared, scratch: Vec::new() })
    }

    /// An empty one, for a process that is handed its file.
    pub(crate) fn unshared() -> Result<Ledger, RegionError> {
        let shared = Shared::create("holdfast-ledger", BYTES, false).map_err(memory)?;
        shared.word(0).store(MAGIC, Release);
        Ok(Ledger { shared, scratch: Vec::new() })
    }

    /// The one whose file another process has handed over.
    pub(crate) fn join(fd: std::os::fd::OwnedFd) -> Result<Ledger, RegionError> {
        let shared = Shared::map(fd).map_err(memory)?;
        if shared.len() < BYTES || shared.word(0).load(Relaxed) != MAGIC {
            return Err(RegionError::Protocol("the ledger is none"));
        }
        Ok(Ledger { shared, scratch: Vec::new() })
    }

    /// The file behind it.
    pub(crate) fn fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.shared.fd()
    }

    /// Empties it for the next program of the process.
    pub(crate) fn reset(&self) {
        for at in [STATE, OUTCOME, RETURN_CODE, CALLS, MESSAGES, COPIES] {
            self.shared.word(at).store(0, Release);
        }
    }

    pub(crate) fn set_state(&self, state: State) {
        self.shared.word(STATE).store(state as u64, Release);
    }

    /// Notes a call before it is made.
    pub(crate) fn begin<'a>(
        &mut self,
        number: u64,
        function: Function,
        pcb: Name,
        ssas: impl Iterator<Item = &'a [u8]>,
    ) {
        let slot = &mut self.scratch;
        slot.clear();
        slot.extend_from_slice(&number.to_le_bytes());
        slot.extend_from_slice(&function.bytes());
        slot.extend_from_slice(&[0; 4]);
        slot.extend_from_slice(&pcb);
        slot.resize(SSAS, 0);
        for ssa in ssas {
            let room = (SSAS_BYTES - (slot.len() - SSAS)).saturating_sub(2);
            let ssa = &ssa[..ssa.len().min(room)];
            if ssa.is_empty() {
                break;
            }
            slot.extend_from_slice(&(ssa.len() as u16).to_le_bytes());
            slot.extend_from_slice(ssa);
        }
        let ssas_len = (slot.len() - SSAS) as u16;
        slot[36..38].copy_from_slice(&ssas_len.to_le_bytes());
        let at = place(number);
        self.shared.put(at, &slot[..KEY]);
        self.shared.put(at + SSAS, &slot[SSAS..]);
        self.shared.word(CALLS).store(number, Relaxed);
        self.set_state(State::InCall);
    }

    /// Notes what came of it.
    pub(crate) fn finish(&mut self, number: u64, function: Function, shown: &Shown<'_>) {
        let at = place(number);
        let key = &shown.key[..shown.key.len().min(KEY_BYTES)];
        let [s0, s1] = shown.status;
        let [f0, f1, f2, f3] = function.bytes();
        self.shared.put(at + 8, &[f0, f1, f2, f3, s0, s1, 1, 0]);
        self.shared.put(at + 24, &shown.segment);
        let lengths = self.shared.word(at + 32);
        let kept = lengths.load(Relaxed) & 0x0000_ffff_0000_0000;
        lengths.store(kept | u64::from(shown.level) | (key.len() as u64) << 16, Relaxed);
        self.shared.put(at + KEY, key);
        self.set_state(State::Running);
    }

    pub(crate) fn return_code(&self, code: i64) {
        self.shared.word(RETURN_CODE).store(code as u64, Relaxed);
        self.shared.word(OUTCOME).store(1, Release);
    }

    pub(crate) fn abend(&self, code: &str, text: &str) {
        self.put_text(ABEND_CODE, ABEND_TEXT, code);
        self.put_text(ABEND_TEXT, SLOTS, text);
        self.shared.word(OUTCOME).store(2, Release);
    }

    fn put_text(&self, from: usize, to: usize, text: &str) {
        let bytes = &text.as_bytes()[..text.len().min(to - from - 8)];
        self.shared.word(from).store(bytes.len() as u64, Relaxed);
        self.shared.put(from + 8, bytes);
    }

    fn get_text(&self, from: usize, to: usize) -> String {
        let len = self.shared.word(from).load(Relaxed) as usize;
        let mut bytes = Vec::new();
        self.shared.get(from + 8, len.min(to - from - 8), &mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    pub(crate) fn state(&self) -> State {
        match self.shared.word(STATE).load(Relaxed) {
            1 => State::Running,
            2 => State::InCall,
            3 => State::AtEnd,
            4 => State::Ended,
            5 => State::NotStarted,
            _ => State::Starting,
        }
    }

    pub(crate) fn outcome(&self) -> Outcome {
        match self.shared.word(OUTCOME).load(Relaxed) {
            1 => Outcome::ReturnCode(self.shared.word(RETURN_CODE).load(Relaxed) as i64),
            2 => Outcome::Abend {
                code: self.get_text(ABEND_CODE, ABEND_TEXT),
                text: self.get_text(ABEND_TEXT, SLOTS),
            },
            _ => Outcome::Nothing,
        }
    }

    /// Notes that a call was for a message of a terminal.
    pub(crate) fn note_message(&self) {
        self.shared.word(MESSAGES).fetch_add(1, Relaxed);
    }

    /// How many calls were for messages of terminals.
    pub(crate) fn messages(&self) -> u64 {
        self.shared.word(MESSAGES).load(Relaxed)
    }

    /// Notes that a copy of the process has made a call.
    pub(crate) fn note_copy(&self) {
        self.shared.word(COPIES).fetch_add(1, Relaxed);
    }

    /// How many copies of the process have made calls.
    pub(crate) fn copies(&self) -> u64 {
        self.shared.word(COPIES).load(Relaxed)
    }

    /// How many calls the program has made.
    pub(crate) fn calls(&self) -> u64 {
        self.shared.word(CALLS).load(Relaxed)
    }

    /// The last calls, the oldest first.
    pub(crate) fn last_calls(&self) -> Vec<CallRecord> {
        let calls = self.calls();
        let first = calls.saturating_sub(SLOT_COUNT) + 1;
        (first..=calls).filter_map(|number| self.call(number)).collect()
    }

    fn call(&self, number: u64) -> Option<CallRecord> {
        let mut bytes = Vec::new();
        self.shared.get(place(number), SLOT_BYTES, &mut bytes);
        let mut reader = Reader::new(&bytes);
        if reader.u64()? != number {
            return None;
        }
        let function = Function::of(reader.array()?);
        let status: [u8; 2] = reader.array()?;
        let returned = reader.u16()? == 1;
        let pcb: Name = reader.array()?;
        let segment: Name = reader.array()?;
        let [level, _] = reader.array()?;
        let key_len = usize::from(reader.u16()?).min(KEY_BYTES);
        let ssas_len = usize::from(reader.u16()?).min(SSAS_BYTES);
        let mut ssas = Reader::new(bytes.get(SSAS..SSAS + ssas_len)?);
        let mut list = Vec::new();
        while let Some(ssa) = ssas.string16() {
            list.push(readable(ssa));
        }
        Some(CallRecord {
            number,
            call: function.to_string(),
            pcb: text(&pcb),
            ssas: list,
            status: returned.then(|| readable(&status)),
            level: if returned { level } else { 0 },
            segment: if returned { text(&segment) } else { String::new() },
            key: readable(if returned { bytes.get(KEY..KEY + key_len)? } else { &[] }),
        })
    }
}

/// What a PCB showed after a call.
#[derive(Clone, Copy)]
pub(crate) struct Shown<'a> {
    pub(crate) status: [u8; 2],
    pub(crate) level: u8,
    pub(crate) segment: Name,
    pub(crate) key: &'a [u8],
}

fn place(number: u64) -> usize {
    SLOTS + (number.wrapping_sub(1) % SLOT_COUNT) as usize * SLOT_BYTES
}

fn memory(errno: rustix::io::Errno) -> RegionError {
    RegionError::Memory { what: "the record of the last calls", text: errno.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_sixteen_calls_are_kept_and_an_open_one_shows() {
        let mut ledger = Ledger::create().expect("memory");
        let name = *b"SHOP    ";
        for number in 1..=20 {
            let ssas = [&b"CUSTOMER(CUSTKEY  =000042)"[..], b"ORDER   "];
            ledger.begin(number, Function::Gu, name, ssas.into_iter());
            let shown =
                Shown { status: *b"  ", level: 2, segment: *b"ORDER   ", key: b"000042ORD1" };
            ledger.finish(number, Function::Gu, &shown);
        }
        ledger.begin(21, Function::Gn, name, std::iter::empty());
        assert_eq!(ledger.state(), State::InCall);
        let calls = ledger.last_calls();
        assert_eq!(calls.len(), 16);
        assert_eq!(calls[0].number, 6);
        assert_eq!(calls[0].ssas, ["CUSTOMER(CUSTKEY  =000042)", "ORDER   "]);
        assert_eq!(calls[0].key, "000042ORD1");
        assert_eq!(calls[0].level, 2);
        assert_eq!(calls[15].status, None);
        assert_eq!(calls[15].ssas, [""; 0]);
    }

    #[test]
    fn long_arguments_are_cut() {
        let mut ledger = Ledger::create().expect("memory");
        let long = vec![b'A'; 1000];
        ledger.begin(1, Function::Gu, *b"SHOP    ", [&long[..], &long[..]].into_iter());
        let calls = ledger.last_calls();
        assert_eq!(calls[0].ssas.len(), 1);
        assert!(calls[0].ssas[0].len() < 410);
    }

    #[test]
    fn the_end_is_told() {
        let ledger = Ledger::create().expect("memory");
        assert_eq!(ledger.outcome(), Outcome::Nothing);
        ledger.return_code(-3);
        assert_eq!(ledger.outcome(), Outcome::ReturnCode(-3));
        ledger.abend("U0778", &"x".repeat(2000));
        let Outcome::Abend { code, text } = ledger.outcome() else { panic!("an abend") };
        assert_eq!((code.as_str(), text.len()), ("U0778", 912));
    }
}
