//! What a program sends: the messages that it makes on its PCBs, those that are made, and the
//! scratch pad area for the next turn.
//!
//! Invariants:
//! 1. A PCB has one message in the making at most.
//! 2. One can return to a mark until the next sync point.
//! 3. A PCB that CHNG may change has the destination of its PSB again after each sync point.

use std::collections::BTreeMap;

use otma::{Name, Segments};
use region::layout::Name as PcbName;
use resources::Transaction;
use schedule::messages::TerminalPcb;
use store::Store;

use crate::inner::Inner;
use crate::present_input::PresentInput;

/// An alternate PCB as its PSB defines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlternatePcb {
    /// Its number among all PCBs; the I/O PCB is number 0.
    pub number: usize,
    /// Its destination; blank if it is to be given one.
    pub destination: Name,
    /// CHNG may give it another.
    pub modifiable: bool,
    /// What it purges is sent at once.
    pub express: bool,
    /// It answers in place of the I/O PCB.
    pub response: bool,
    /// It answers the input's terminal only.
    pub same_terminal: bool,
}

/// A message that is being made, or is made.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) to: Name,
    /// It goes to a terminal, whatever else may have that name.
    pub(crate) is_reply: bool,
    /// The input that it follows, by its number in the unit of work.
    pub(crate) input: usize,
    pub(crate) mod_name: Name,
    pub(crate) segments: Segments,
    pub(crate) spa: Vec<u8>,
}

/// Where the outputs stood at a mark: how many were made, those in the making, the scratch pad.
type Marked = (usize, BTreeMap<usize, Made>, Option<Vec<u8>>);

/// The outputs of a program since its last sync point.
pub(crate) struct Outputs {
    /// Where the messages of the I/O PCB go while there is no input.
    output: Name,
    alternates: BTreeMap<usize, AlternatePcb>,
    destinations: BTreeMap<usize, Name>,
    making: BTreeMap<usize, Made>,
    made: Vec<Made>,
    /// The scratch pad area that was inserted for the next turn.
    spa: Option<Vec<u8>>,
    marks: Vec<Marked>,
}

impl Outputs {
    /// Nothing is sent so far. `output` is where the messages of the I/O PCB go without an input.
    pub(crate) fn new(alternates: &[AlternatePcb], output: Name) -> Outputs {
        let alternates: BTreeMap<usize, AlternatePcb> =
            alternates.iter().map(|one| (one.number, *one)).collect();
        let destinations = alternates.iter().map(|(at, one)| (*at, one.destination)).collect();
        Outputs {
            output,
            alternates,
            destinations,
            making: BTreeMap::new(),
            made: Vec::new(),
            spa: None,
            marks: Vec::new(),
        }
    }

    /// The same with a destination for what is sent without having an input.
    pub(crate) fn sending_to(self, output: Name) -> Outputs {
        Outputs { output, ..self }
    }

    fn is(&self, number: usize, what: impl FnOnce(&AlternatePcb) -> bool) -> bool {
        self.alternates.get(&number).is_some_and(what)
    }

    /// What a PCB purges is sent at once.
    pub(crate) fn is_express(&self, number: usize) -> bool {
        self.is(number, |one| one.express)
    }

    /// Whether a PCB may be given another destination now.
    pub(crate) fn is_changeable(&self, number: usize) -> bool {
        self.is(number, |one| one.modifiable) && !self.has_begun(number)
    }

    /// Whether a PCB has a message in the making.
    pub(crate) fn has_begun(&self, number: usize) -> bool {
        self.making.contains_key(&number)
    }

    /// The destination of an alternate PCB; blank if it has none.
    pub(crate) fn alternate(&self, number: usize) -> Name {
        self.destinations.get(&number).copied().unwrap_or_default()
    }

    /// Where a PCB's messages go.
    pub(crate) fn destination(&self, pcb: TerminalPcb, input: &PresentInput) -> Name {
        match pcb {
            TerminalPcb::Io if input.is_there() => input.terminal(),
            TerminalPcb::Io => self.output,
            TerminalPcb::Alternate(number) => self.alternate(number),
        }
    }

    /// Gives a PCB another destination.
    pub(crate) fn change(&mut self, number: usize, to: Name) {
        self.destinations.insert(number, to);
    }

    /// Modifiable PCBs have no destination after a sync point.
    pub(crate) fn reset_destinations(&mut self) {
        for (number, one) in self.alternates.iter().filter(|(_, one)| one.modifiable) {
            self.destinations.insert(*number, one.destination);
        }
    }

    /// Whether a PCB may get a segment, and where its message goes then. `named`: with a MOD name.
    pub(crate) fn admits<S: Store>(
        &self,
        number: usize,
        (segment, named): (&[u8], bool),
        input: &PresentInput,
        transaction: Option<&Transaction>,
        inner: &Inner<S>,
    ) -> Result<Name, [u8; 2]> {
        if segment.len() < 5 {
            return Err(*b"QF");
        }
        if named && self.has_begun(number) {
            return Err(*b"A5");
        }
        let count = self.making.get(&number).map_or(0, |made| made.segments.count());
        let is_io = number == 0;
        let is_response = self.is(number, |one| one.response);
        if is_io || is_response {
            if let Some(of) = transaction {
                let most = usize::from(of.segment_bytes_max);
                if most > 0 && segment.len() > most {
                    return Err(*b"A6");
                }
                if of.segments_max > 0 && count >= usize::from(of.segments_max) {
                    return Err(*b"A7");
                }
            }
            let answers = |other: usize| {
                let response = self.is(other, |one| one.response);
                if is_io { response } else { other == 0 }
            };
            let mixed = self.making.keys().any(|other| answers(*other))
                || (is_response && self.made.iter().any(|made| made.is_reply));
            if mixed {
                return Err(*b"A8");
            }
        }
        if is_io {
            let to = self.destination(TerminalPcb::Io, input);
            return if input.is_there() || !to.is_blank() { Ok(to) } else { Err(*b"QH") };
        }
        self.admits_alternate(number, is_response, input, inner)
    }

    fn admits_alternate<S: Store>(
        &self,
        number: usize,
        is_response: bool,
        input: &PresentInput,
        inner: &Inner<S>,
    ) -> Result<Name, [u8; 2]> {
        let to = self.alternate(number);
        if to.is_blank() {
            return Err(*b"A3");
        }
        if inner.is_transaction(to) {
            return if is_response { Err(*b"AA") } else { Ok(to) };
        }
        let terminal = input.terminal();
        if self.is(number, |one| one.same_terminal) && to != terminal {
            return Err(*b"A9");
        }
        if to == terminal || inner.is_terminal(to) { Ok(to) } else { Err(*b"QH") }
    }

    /// Adds a segment to the message of a PCB, which follows that input of the unit of work.
    pub(crate) fn add(
        &mut self,
        number: usize,
        (to, follows): (Name, usize),
        segment: &[u8],
        mod_name: Option<PcbName>,
        input: &PresentInput,
    ) {
        // Without an input the I/O PCB has a destination as an alternate one has.
        let answers = number == 0 && input.is_there();
        let is_reply = answers || self.is(number, |one| one.response);
        let begun = || Made { to, is_reply, input: follows, ..Made::default() };
        let made = self.making.entry(number).or_insert_with(begun);
        if let Some(name) = mod_name {
            made.mod_name = Name(name);
        }
        let zz = [segment[2], segment[3]];
        // A segment of a program is never longer than LL can say.
        let _ = made.segments.push(zz, &segment[4..]);
    }

    /// Begins a message of a PCB with a scratch pad area for another transaction.
    pub(crate) fn begin_with_spa(&mut self, number: usize, made: Made) {
        self.making.insert(number, made);
    }

    /// The scratch pad area for the next turn.
    pub(crate) fn spa(&self) -> Option<&[u8]> {
        self.spa.as_deref()
    }

    pub(crate) fn set_spa(&mut self, spa: &[u8]) {
        self.spa = Some(spa.to_vec());
    }

    pub(crate) fn take_spa(&mut self) -> Option<Vec<u8>> {
        self.spa.take()
    }

    /// Ends the message of a PCB.
    pub(crate) fn close(&mut self, number: usize) {
        let made = self.take(number);
        self.made.extend(made);
    }

    /// The message that a PCB was making, which is nobody else's to send.
    pub(crate) fn take(&mut self, number: usize) -> Option<Made> {
        self.making.remove(&number)
    }

    /// Finishes what is being made, for the sync point.
    pub(crate) fn close_all(&mut self) {
        let numbers: Vec<usize> = self.making.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.close(number));
    }

    /// What was made.
    pub(crate) fn take_made(&mut self) -> Vec<Made> {
        std::mem::take(&mut self.made)
    }

    /// Forgets all that was sent.
    pub(crate) fn clear(&mut self) {
        self.making.clear();
        self.made.clear();
        self.marks.clear();
        self.spa = None;
    }

    /// Nobody returns to a mark any more.
    pub(crate) fn forget_marks(&mut self) {
        self.marks.clear();
    }

    /// Notes where the outputs stand.
    pub(crate) fn mark(&mut self) -> u64 {
        self.marks.push((self.made.len(), self.making.clone(), self.spa.clone()));
        self.marks.len() as u64 - 1
    }

    /// Makes the outputs what they were at a mark.
    pub(crate) fn return_to(&mut self, mark: u64) {
        let Ok(at) = usize::try_from(mark) else { return };
        let Some((length, making, spa)) = self.marks.get(at).cloned() else { return };
        self.marks.truncate(at + 1);
        self.made.truncate(length);
        self.making = making;
        self.spa = spa;
    }
}
