//! The parameter list of a call, from bare addresses: where the function stands, how many
//! parameters follow, and which of them are reached through pointers.
//!
//! | call | parameters |
//! |---|---|
//! | COBOL | function, PCB or AIB, area, ...; libcob knows how many |
//! | any, with a count | address of a 4-byte count, function, PCB or AIB, area, ... |
//! | PL/I | count, function, address of a pointer to the PCB, area, ... |
//! | all indirect | count, and of everything else the address of a pointer to it |
//! | C without a count | function, PCB, area, ... up to the first null pointer |
//!
//! What libcob knows is the number of the last CALL of a COBOL program. A C function that such a
//! program calls, and that makes calls of its own, therefore gives a count.
//!
//! Invariants:
//! 1. A count is recognised by a function code that stands second (DLI-12.79), in
//!    either byte order. It holds whatever libcob says. The bytes of a pointer may look like a
//!    function code, but where those of a code lead no code stands: what is reached wins.
//! 2. No list has more than [`MAX`] parameters; what follows a null pointer does not count.

use definitions::Function;

use crate::calls::is_function;
use crate::masks::{Masks, Order};
use crate::memory::ProgramMemory;

/// The most parameters of a call: count, function, PCB, area, 15 search arguments, and one more.
pub(crate) const MAX: usize = 20;

/// A call's parameters from its function on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parameters {
    pub(crate) function: Function,
    addresses: [usize; MAX],
    count: usize,
    /// The language or a count told how many there are.
    pub(crate) counted: bool,
}

impl Parameters {
    /// Reads a parameter list. `known` is how many there are, if the caller's language tells.
    pub(crate) fn read(
        raw: &[usize; MAX],
        known: Option<usize>,
        program_memory: &mut ProgramMemory,
    ) -> Option<Parameters> {
        let counted = known.is_some();
        let known = known.unwrap_or(MAX).min(MAX);
        let list = &raw[..known];
        let first = word(*list.first()?, program_memory)?;
        if is_function(first) {
            return Some(Parameters {
                counted,
                ..Parameters::new(Function::of(first), &list[1..], Some)
            });
        }
        let count = [Order::Big, Order::Native].map(|order| order.number(first) as usize);
        let count = count.into_iter().find(|count| (1..MAX).contains(count))?;
        let list = raw.get(1..=count)?;
        let second = *list.first()?;
        let reached =
            pointer(second, program_memory).and_then(|address| word(address, program_memory));
        if let Some(function) = reached.filter(|word| is_function(*word)) {
            return Some(Parameters::new(Function::of(function), &list[1..], |at| {
                pointer(at, program_memory)
            }));
        }
        let function = word(second, program_memory).filter(|word| is_function(*word))?;
        Some(Parameters::new(Function::of(function), &list[1..], Some))
    }

    fn new(
        function: Function,
        list: &[usize],
        mut follow: impl FnMut(usize) -> Option<usize>,
    ) -> Parameters {
        let mut addresses = [0; MAX];
        let mut count = 0;
        for (place, address) in addresses.iter_mut().zip(list) {
            *place = if *address == 0 { 0 } else { follow(*address).unwrap_or(0) };
            count += 1;
        }
        while count > 0 && addresses[count - 1] == 0 {
            count -= 1;
        }
        Parameters { function, addresses, count, counted: true }
    }

    /// The address of a parameter behind the function, from 0 for the PCB or AIB; `None` if it was
    /// left out.
    pub(crate) fn get(&self, index: usize) -> Option<usize> {
        let address = *self.addresses[..self.count].get(index)?;
        (address != 0).then_some(address)
    }

    /// How many parameters stand behind the function.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Ends the list in front of the first null pointer.
    pub(crate) fn cut_at_null(&mut self) {
        let end = self.addresses[..self.count].iter().position(|address| *address == 0);
        self.count = end.unwrap_or(self.count);
    }

    /// Ends the list in front of a parameter.
    pub(crate) fn cut(&mut self, count: usize) {
        self.count = self.count.min(count);
    }
}

/// The PCB that an address names: its own, or that of a pointer to it, of 8 or 4 bytes.
pub(crate) fn pcb_at(
    address: usize,
    masks: &Masks,
    program_memory: &mut ProgramMemory,
) -> Option<usize> {
    if let Some(pcb) = masks.at(address) {
        return Some(pcb);
    }
    if let Some(pcb) = pointer(address, program_memory).and_then(|address| masks.at(address)) {
        return Some(pcb);
    }
    let short = word(address, program_memory)?;
    let orders = [Order::Native, Order::Big];
    orders.into_iter().find_map(|order| masks.at(order.number(short) as usize))
}

fn word(address: usize, program_memory: &mut ProgramMemory) -> Option<[u8; 4]> {
    program_memory.array(address)
}

fn pointer(address: usize, program_memory: &mut ProgramMemory) -> Option<usize> {
    program_memory.array(address).map(usize::from_ne_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(addresses: &[usize]) -> [usize; MAX] {
        let mut raw = [0; MAX];
        raw[..addresses.len()].copy_from_slice(addresses);
        raw
    }

    fn at<T>(value: &T) -> usize {
        std::ptr::from_ref(value) as usize
    }

    #[test]
    fn a_list_may_begin_with_a_count_in_either_order() {
        let (function, pcb, area) = (*b"GN  ", [1_u8; 40], [2_u8; 80]);
        let mut program_memory = ProgramMemory::new();
        let plain = list(&[at(&function), at(&pcb), at(&area)]);
        let read = Parameters::read(&plain, Some(3), &mut program_memory).expect("a list");
        assert_eq!((read.function.bytes(), read.count()), (function, 2));
        assert_eq!(
            (read.get(0), read.get(1), read.get(2)),
            (Some(at(&pcb)), Some(at(&area)), None)
        );
        for count in [3_u32.to_be_bytes(), 3_u32.to_ne_bytes()] {
            // Behind the count's last parameter stands whatever a register holds.
            let raw = list(&[at(&count), at(&function), at(&pcb), at(&area), at(&raw_noise())]);
            let read = Parameters::read(&raw, None, &mut program_memory).expect("a list");
            assert_eq!((read.function.bytes(), read.count(), read.counted), (function, 2, true));
        }
        let read = Parameters::read(&plain, None, &mut program_memory).expect("a list");
        assert!(!read.counted);
    }

    fn raw_noise() -> [u8; 8] {
        *b"whatever"
    }

    #[test]
    fn everything_may_be_reached_through_pointers() {
        let (count, function, area) = (3_u32, *b"GHU ", [2_u8; 80]);
        let pointers = [at(&function), at(&area), at(&area)];
        let raw = list(&[at(&count), at(&pointers[0]), at(&pointers[1]), at(&pointers[2])]);
        let read = Parameters::read(&raw, None, &mut ProgramMemory::new()).expect("a list");
        assert_eq!((read.function.bytes(), read.get(1)), (function, Some(at(&area))));
    }

    #[test]
    fn a_code_whose_bytes_lead_nowhere_is_a_code() {
        let (count, both) = (1_u32, [*b"UG  ", [0xFF; 4]]);
        let raw = list(&[at(&count), at(&both[0])]);
        let read = Parameters::read(&raw, None, &mut ProgramMemory::new()).expect("a list");
        assert_eq!((read.function.bytes(), read.count()), (*b"UG  ", 0));
    }

    #[test]
    fn nonsense_is_no_list() {
        let mut program_memory = ProgramMemory::new();
        let (zeros, big) = ([0_u8; 8], u32::MAX);
        assert!(Parameters::read(&list(&[]), Some(0), &mut program_memory).is_none());
        assert!(Parameters::read(&list(&[0, 0]), None, &mut program_memory).is_none());
        assert!(Parameters::read(&list(&[17, 23]), None, &mut program_memory).is_none());
        assert!(
            Parameters::read(&list(&[at(&zeros), at(&zeros)]), None, &mut program_memory).is_none()
        );
        assert!(
            Parameters::read(&list(&[at(&big), at(&big)]), None, &mut program_memory).is_none()
        );
    }
}
