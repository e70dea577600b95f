//! Writing a call into a message from what its parameters point at.
//!
//! Invariants:
//! 1. Of each parameter as many bytes are taken as it has: an AIB says it of the area, its first
//!    two bytes of a counted area, the syntax of a search argument, the PCB of the rest.
//! 2. A counted area begins with LL in a message, however the program's language counts it.
//! 3. An address that leads nowhere ends the program; nothing has been sent then. So do areas of a
//!    checkpoint that are too long: none is cut.

use definitions::Function;

use crate::abends::{abend, out_of_reach};
use crate::calls::{AreaLen, Behind, Plan, Way, statistics_len};
use crate::layout::{DatabaseLayout, PcbKind, PcbLayout};
use crate::masks::Order;
use crate::memory::ProgramMemory;
use crate::parameters::Parameters;
use crate::server::Abend;
use crate::ssas::{SSA_BYTES_MAX, measure};
use crate::wire::{AREA_BYTES_MAX, MORE_MAX, SSAS_MAX, Writer};

/// Bytes of calls that may wait for the next one.
const RIDING_BYTES_MAX: usize = 64 << 10;
/// How much of a search argument is looked at: most are short, and their length has to be found.
const SSA_LOOKS: [usize; 3] = [64, 1024, SSA_BYTES_MAX];
/// The longest area whose first two bytes say how long it is.
const COUNTED_MAX: usize = 32_767;
/// The shortest area that has something behind its count.
const COUNTED_MIN: usize = 5;
/// What is taken of a counted area whose count makes no sense in either byte order.
const UNCOUNTED: usize = 64;
/// The most that the areas of a checkpoint may have together: what goes with a call, with lengths.
const SAVED_BYTES_MAX: usize = AREA_BYTES_MAX - 4 * MORE_MAX;
/// Bytes of LLLL.
const FULL_COUNT_BYTES: usize = 4;

/// How an area counts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    /// By LL, 2 bytes that count themselves.
    Half,
    /// By LLLL, 4 bytes that count themselves as 2 (DLI-4): PL/I.
    Full,
}

/// Writes one call.
pub(crate) struct Composer<'a> {
    pub(crate) parameters: &'a Parameters,
    pub(crate) counts: Counts,
    pub(crate) layout: Option<&'a PcbLayout>,
    pub(crate) aib_area_len: Option<usize>,
    pub(crate) order: Order,
    /// Whether calls that need no answer wait for the next one.
    pub(crate) may_ride: bool,
    /// Where the length of a record of undefined length stands.
    pub(crate) undefined: Option<usize>,
    pub(crate) program_memory: &'a mut ProgramMemory,
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Where the search arguments stand in the message.
    pub(crate) ssas: &'a mut Vec<(usize, usize)>,
    pub(crate) writer: Writer<'a>,
}

/// Where a call's results go in the program's memory.
#[derive(Default)]
pub(crate) struct Places {
    pub(crate) area: Option<usize>,
    /// How much of an answer's front the area has no place for.
    pub(crate) front: usize,
    pub(crate) more: [Option<usize>; MORE_MAX],
    count: usize,
    /// The call waits for the next one.
    pub(crate) rides: bool,
}

impl Composer<'_> {
    /// Writes the call; says where its results go.
    pub(crate) fn compose(mut self, plan: Plan) -> Result<Places, Abend> {
        let mut places = Places::default();
        // CHKP with more than an id, and XRST, have a length in front of their area.
        let counted = matches!(plan.behind, Behind::Pairs(_)) && self.parameters.count() > 2;
        let area = if counted { 2 } else { 1 };
        let first = area + 1;
        match (plan.behind, self.layout.map(|layout| &layout.kind)) {
            (Behind::Ssas, Some(PcbKind::Database(database))) => self.ssas(database, first)?,
            (Behind::Item(len, way), _) => self.item(first, len, way, &mut places)?,
            (Behind::Rsa, Some(PcbKind::Gsam(gsam))) => {
                self.item(first, usize::from(gsam.rsa_len), Way::Both, &mut places)?;
            }
            (Behind::Pairs(way), _) => {
                let longest = self.length_bytes(1).ok();
                let mut all = 0;
                for index in (first..self.parameters.count()).step_by(2) {
                    let len = self.length(index, longest, &mut all)?;
                    self.item(index + 1, len, way, &mut places)?;
                }
            }
            _ => {}
        }
        if let Some(address) = self.parameters.get(area) {
            self.area(address, plan, &mut places)?;
        }
        if places.rides {
            self.writer.without_answer();
        }
        self.writer.finish();
        Ok(places)
    }

    fn ssas(&mut self, database: &DatabaseLayout, first: usize) -> Result<(), Abend> {
        for index in first..self.parameters.count().min(first + SSAS_MAX) {
            let address = self.parameters.get(index).unwrap_or_default();
            let mut len = 0;
            for look_at in SSA_LOOKS {
                self.scratch.clear();
                let seen = self.program_memory.read(address, look_at, self.scratch);
                len = measure(database, self.scratch);
                if len < seen || seen < look_at {
                    break;
                }
            }
            if self.scratch.is_empty() {
                return Err(self.nowhere(index));
            }
            let place = self.writer.ssa(&self.scratch[..len]);
            self.ssas.push(place);
        }
        Ok(())
    }

    /// A further parameter; none if the program left it out.
    fn item(
        &mut self,
        index: usize,
        len: usize,
        way: Way,
        places: &mut Places,
    ) -> Result<(), Abend> {
        let Some(address) = self.parameters.get(index) else { return Ok(()) };
        if places.count == MORE_MAX {
            return Ok(());
        }
        self.scratch.clear();
        let seen = self.program_memory.read(address, len, self.scratch);
        if seen == 0 && len > 0 {
            return Err(self.nowhere(index));
        }
        self.writer.more(self.scratch);
        places.more[places.count] = (way != Way::In).then_some(address);
        places.count += 1;
        Ok(())
    }

    /// The 4 bytes of length in front of an area of CHKP or XRST, in the program's order of bytes
    /// and in the other one.
    fn length_bytes(&mut self, index: usize) -> Result<[usize; 2], Abend> {
        let address = self.parameters.get(index).unwrap_or_default();
        let bytes = self.program_memory.array(address).ok_or_else(|| self.nowhere(index))?;
        let usual = self.order.number(bytes);
        Ok([usual, usual.swap_bytes()].map(|len| len as usize))
    }

    /// The length of an area of CHKP or XRST. `all` is that of the areas in front of it.
    fn length(
        &mut self,
        index: usize,
        longest: Option<[usize; 2]>,
        all: &mut usize,
    ) -> Result<usize, Abend> {
        let given = self.length_bytes(index)?;
        let len = length_of_area(given, longest).unwrap_or(usize::MAX);
        *all = all.saturating_add(len);
        if *all <= SAVED_BYTES_MAX {
            return Ok(len);
        }
        let function = self.parameters.function;
        let parameter = index + 2;
        Err(abend(
            "U0474",
            &format!(
                "{function}: the areas have more than {SAVED_BYTES_MAX} bytes together with the \
                 length in parameter {parameter} of the call, {} or in the other order of bytes \
                 {}. Save less, or correct the length",
                given[0], given[1]
            ),
        ))
    }

    fn area(&mut self, address: usize, plan: Plan, places: &mut Places) -> Result<(), Abend> {
        if (plan.area, self.counts, self.aib_area_len) == (AreaLen::Counted, Counts::Full, None) {
            return self.area_of_full_count(address, plan, places);
        }
        if let AreaLen::Answered(given) = plan.area {
            return self.area_that_is_answered(address, given, places);
        }
        let room = self.area_len(address, plan).min(AREA_BYTES_MAX);
        let reached = if plan.way == Way::Out {
            self.program_memory.writable(address, room)
        } else {
            self.program_memory.readable(address, room)
        };
        if reached == 0 && room > 0 {
            return Err(out_of_reach(self.parameters.function, "its I/O area"));
        }
        self.scratch.clear();
        if plan.way != Way::Out {
            self.program_memory.read(address, reached, self.scratch);
        }
        if plan.way != Way::In {
            places.area = Some(address);
        }
        self.writer.area(reached, self.scratch);
        let short = self.writer.len() <= RIDING_BYTES_MAX;
        places.rides = self.may_ride && short && rides(self.parameters.function, self.scratch);
        Ok(())
    }

    /// An area of which the front goes in, and which a message may come back to. Where none does,
    /// it need not be writable.
    fn area_that_is_answered(
        &mut self,
        address: usize,
        given: usize,
        places: &mut Places,
    ) -> Result<(), Abend> {
        self.scratch.clear();
        if self.program_memory.read(address, given, self.scratch) == 0 {
            return Err(out_of_reach(self.parameters.function, "its I/O area"));
        }
        let longest = self.layout.map_or(0, |layout| layout.area_max as usize);
        let room = self.aib_area_len.filter(|len| *len > 0).unwrap_or(longest);
        let room = self.program_memory.writable(address, room.min(AREA_BYTES_MAX));
        places.area = (room > 0).then_some(address);
        self.writer.area(room, self.scratch);
        Ok(())
    }

    /// An area behind LLLL, which goes as one behind LL; what comes back leaves LLLL alone.
    fn area_of_full_count(
        &mut self,
        address: usize,
        plan: Plan,
        places: &mut Places,
    ) -> Result<(), Abend> {
        let unreached = || out_of_reach(self.parameters.function, "its I/O area");
        let bytes = self.program_memory.array(address).ok_or_else(unreached)?;
        let usual = self.order.number(bytes);
        let counted = length_of(usual as usize, usual.swap_bytes() as usize, COUNTED_MAX);
        let len = counted.unwrap_or(UNCOUNTED);
        self.scratch.clear();
        // A count without sense is none in the message either.
        self.scratch.extend_from_slice(&(counted.unwrap_or_default() as u16).to_be_bytes());
        let behind = len.saturating_sub(self.scratch.len());
        self.program_memory.read(address + FULL_COUNT_BYTES, behind, self.scratch);
        if plan.way != Way::In {
            (places.area, places.front) = (Some(address + FULL_COUNT_BYTES), 2);
        }
        self.writer.area(self.scratch.len(), self.scratch);
        Ok(())
    }

    fn area_len(&mut self, address: usize, plan: Plan) -> usize {
        let pairs = matches!(plan.behind, Behind::Pairs(_));
        // What ROLS gives back has nothing to do with what stands in the area before.
        let counts = self.parameters.function != Function::Rols;
        match (self.aib_area_len, plan.area) {
            (Some(len), AreaLen::Longest) => len,
            // The record may be shorter than the area that the AIB tells of.
            (Some(len), AreaLen::Counted) if len > 0 && counts => {
                self.counted(address, len).unwrap_or(len)
            }
            (Some(len), _) if len > 0 && !pairs => len,
            (_, AreaLen::None) => 0,
            (_, AreaLen::Fixed(len) | AreaLen::Answered(len)) => len,
            (_, AreaLen::Counted) => self.counted(address, COUNTED_MAX).unwrap_or(UNCOUNTED),
            (_, AreaLen::Statistics) => {
                let function =
                    self.parameters.get(2).and_then(|at| self.program_memory.array::<4>(at));
                statistics_len(&function.unwrap_or_default())
            }
            (None, AreaLen::Longest) => {
                let longest = self.layout.map_or(0, |layout| layout.area_max as usize);
                let inserts = plan.way == Way::In;
                let undefined = self.undefined.filter(|_| inserts);
                let exact = undefined.and_then(|at| self.program_memory.array(at));
                exact.map_or(longest, |len| longest.min(self.order.number(len) as usize))
            }
        }
    }

    /// The length that stands in an area's first two bytes, in the order that makes sense.
    fn counted(&mut self, address: usize, max: usize) -> Option<usize> {
        let usual = self.order.half(self.program_memory.array::<2>(address)?);
        length_of(usual.into(), usual.swap_bytes().into(), max)
    }

    fn nowhere(&self, index: usize) -> Abend {
        let what = format!("parameter {} of the call", index + 2);
        out_of_reach(self.parameters.function, &what)
    }
}

/// The length of an area that is saved, in the order of bytes that makes sense; if both do, that
/// which fits the length of the longest area, and else the smaller one: nothing of the program's
/// storage that may not be the area is written.
fn length_of_area(given: [usize; 2], longest: Option<[usize; 2]>) -> Option<usize> {
    let makes_sense = |len: &usize| *len <= SAVED_BYTES_MAX;
    let [usual, other] = given.map(|len| Some(len).filter(makes_sense));
    let (Some(usual), Some(other)) = (usual, other) else { return usual.or(other) };
    let longest = longest.unwrap_or_default();
    let fits = |at: usize, len: usize| makes_sense(&longest[at]) && len <= longest[at];
    match (fits(0, usual), fits(1, other)) {
        (true, false) => Some(usual),
        (false, true) => Some(other),
        _ => Some(usual.min(other)),
    }
}

/// The length that a count says: in the program's order of bytes, or in the other one if it makes
/// sense there alone. One that is too small is no length in the other order: it is too small.
fn length_of(usual: usize, other: usize, max: usize) -> Option<usize> {
    let makes_sense = |len: &usize| (COUNTED_MIN..=max.min(COUNTED_MAX)).contains(len);
    let is_too_small = (1..COUNTED_MIN).contains(&usual);
    if is_too_small { Some(usual) } else { [usual, other].into_iter().find(makes_sense) }
}

/// Whether a call needs no answer: a LOG call that can only succeed. Nothing that the program does
/// before its next call depends on the record; a later abend backs everything out alike.
fn rides(function: Function, area: &[u8]) -> bool {
    let is_whole = area.len() > COUNTED_MIN && is_counted(area);
    function == Function::Log && is_whole && area[COUNTED_MIN - 1] >= 0xa0
}

/// Whether the LL in front of an area says how long the area is, in either order of bytes.
#[must_use]
pub fn is_counted(area: &[u8]) -> bool {
    let Some(ll) = area.first_chunk::<2>() else { return false };
    let stated = [u16::from_be_bytes(*ll), u16::from_le_bytes(*ll)];
    stated.into_iter().any(|ll| usize::from(ll) == area.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_taken_in_the_order_that_makes_sense() {
        let of = |ll: u16| length_of(ll.into(), ll.swap_bytes().into(), COUNTED_MAX);
        assert_eq!((of(5), of(0x2000), of(0x0700)), (Some(5), Some(0x2000), Some(0x0700)));
        assert_eq!((of(0xf001), of(0x8000)), (Some(0x01f0), Some(0x80)));
        assert_eq!((of(2), of(4)), (Some(2), Some(4)), "too small, not 512 or 1024");
        assert_eq!((of(0), of(0xffff)), (None, None));
        assert_eq!(length_of(0x900, 9, 64), Some(9), "an area of 64 has no record of 2304");
    }

    #[test]
    fn the_length_of_a_saved_area_is_taken_in_the_order_that_fits_the_longest_one() {
        let of = |len: u32, longest: Option<u32>| {
            let both = |len: u32| [len as usize, len.swap_bytes() as usize];
            length_of_area(both(len), longest.map(both))
        };
        assert_eq!((of(20, Some(30)), of(20, None)), (Some(20), Some(20)));
        assert_eq!(of(20_u32.swap_bytes(), Some(30)), Some(20), "in the other order");
        assert_eq!(of(60_000, Some(60_000)), Some(60_000), "more than an equal share");
        // 256 in the other order is 65,536 in the usual one.
        assert_eq!(of(65_536, Some(65_536)), Some(256), "both make sense");
        assert_eq!(of(65_536, Some(300_u32.swap_bytes())), Some(256));
        assert_eq!(of(65_536, Some(70_000)), Some(65_536));
        assert_eq!((of(256, Some(300)), of(256, None)), (Some(256), Some(256)));
        assert_eq!((of(0, None), of(0x7fff_ffff, None)), (Some(0), None));
    }

    #[test]
    fn only_a_log_call_that_succeeds_needs_no_answer() {
        assert!(
            rides(Function::Log, b"\0\x06\0\0\xA0X") && rides(Function::Log, b"\x06\0\0\0\xA0X")
        );
        assert!(
            !rides(Function::Log, b"\0\x06\0\0\x9FX") && !rides(Function::Log, b"\0\x07\0\0\xA0X")
        );
        assert!(!rides(Function::Isrt, b"\0\x06\0\0\xA0X") && !is_counted(b"\0"));
    }
}
