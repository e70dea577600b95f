//! The application interface block: how a program names a PCB instead of pointing at it.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `DFSAIB` |
//! | 8 | 4 | length |
//! | 12 | 8 | subfunction |
//! | 20, 28 | 8, 8 | names of resources |
//! | 44, 48 | 4, 4 | length of the area, bytes of it that were used |
//! | 52, 56 | 4, 4 | resource field, length of the options |
//! | 64, 68, 72 | 4, 4, 4 | return code, reason, extension |
//! | 76 | 8 | address of the PCB, in the machine's own order; it lies below 4 GiB |
//! | 88 | 16 | user token |
//!
//! A COBOL program whose block has POINTER items for the three addresses at 76 has 8 bytes for each
//! and a block of 140 bytes or more; its length tells where the token stands. Many of them say 128
//! all the same, so the address always has 8 bytes: the second address, which no call sets, is then
//! its upper half.
//!
//! Invariants:
//! 1. Integers are read in the byte order in which the block's own length makes sense, whatever the
//!    PCBs have, and written in the same; a length that makes sense in none is the smaller one.
//! 2. Only the fields that a call sets are written, and zeros to the second address.

use crate::layout::Name;
use crate::masks::Order;
use crate::memory::ProgramMemory;
use crate::server::{AibFields, AibReply};

/// Look at the PCB's status.
pub(crate) const SEE_STATUS: u32 = 0x900;
/// The call's parameters are wrong.
pub(crate) const WRONG_PARAMETER: u32 = 0x104;
/// Reasons with [`WRONG_PARAMETER`] (general knowledge; kept in this one place).
pub(crate) const REASON_NOT_AN_AIB: u32 = 0x204;
/// No PCB has the name.
pub(crate) const REASON_NO_SUCH_PCB: u32 = 0x208;

const BYTES: usize = 128;
const AREA_LEN: usize = 44;
const AREA_USED: usize = 48;
const RETURN_CODE: usize = 64;
const PCB_ADDRESS: usize = 76;
const TOKEN: usize = 88;
/// What three addresses of 8 bytes add to a block, which is then so long at least.
const WIDER: usize = 12;
const WIDE_BYTES: u32 = BYTES as u32 + WIDER as u32;

impl AibReply {
    /// With the return code that a status implies, if the call set none.
    pub(crate) fn settled(self, status: [u8; 2]) -> AibReply {
        let is_implied = self.return_code == 0 && status != *b"  ";
        let return_code = if is_implied { SEE_STATUS } else { self.return_code };
        AibReply { return_code, ..self }
    }
}

/// A program's block, read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Aib {
    /// Where it is.
    pub(crate) address: usize,
    pub(crate) order: Order,
    pub(crate) fields: AibFields,
    pub(crate) area_len: usize,
}

/// Why there is no block to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAib {
    /// The address leads nowhere.
    Unreachable,
    /// What is there is no AIB; but it can be told so.
    Strange(Order),
}

impl Aib {
    /// Reads a program's block.
    pub(crate) fn read(address: usize, program_memory: &mut ProgramMemory) -> Result<Aib, NoAib> {
        let block: [u8; BYTES] = program_memory.array(address).ok_or(NoAib::Unreachable)?;
        if program_memory.writable(address, BYTES) < BYTES {
            return Err(NoAib::Unreachable);
        }
        let word = |at: usize| [block[at], block[at + 1], block[at + 2], block[at + 3]];
        let name = |at: usize| -> Name { std::array::from_fn(|index| block[at + index]) };
        let makes_sense = |order: &Order| (128..=4096).contains(&order.number(word(8)));
        let order = [Order::Big, Order::Native].into_iter().find(makes_sense);
        let (Some(order), b"DFSAIB  ") = (order, &block[..8]) else {
            return Err(NoAib::Strange(order.unwrap_or_else(|| likely_order(word(8)))));
        };
        let number = |at: usize| order.number(word(at));
        let wide = number(8) >= WIDE_BYTES;
        let token = program_memory.array(address + TOKEN + if wide { WIDER } else { 0 });
        let fields = AibFields {
            subfunction: name(12),
            resource: name(20),
            resource2: name(28),
            resource_field: number(52),
            options_len: number(56),
            token: token.ok_or(NoAib::Unreachable)?,
        };
        // A length below zero is none.
        let area_len = usize::try_from(number(AREA_LEN) as i32).unwrap_or(0);
        Ok(Aib { address, order, fields, area_len })
    }

    /// Writes what a call came to.
    pub(crate) fn answer(
        &self,
        reply: &AibReply,
        pcb: Option<usize>,
        program_memory: &mut ProgramMemory,
    ) {
        program_memory.write(self.address + AREA_USED, &self.order.bytes(reply.area_used));
        let place = self.address + PCB_ADDRESS;
        if let Some(pcb) = pcb {
            program_memory.write(place, &pcb.to_ne_bytes());
        }
        refuse(self.address, self.order, reply, program_memory);
    }
}

/// The byte order of a block whose length makes sense in none: the one in which it is smaller, for
/// a program that errs in a length does not err by millions.
fn likely_order(length: [u8; 4]) -> Order {
    let native = Order::Native.number(length) < Order::Big.number(length);
    if native { Order::Native } else { Order::Big }
}

/// Writes return code, reason and extension.
pub(crate) fn refuse(
    address: usize,
    order: Order,
    reply: &AibReply,
    program_memory: &mut ProgramMemory,
) {
    let mut bytes = [0; 12];
    for (place, value) in
        bytes.chunks_exact_mut(4).zip([reply.return_code, reply.reason, reply.extension])
    {
        place.copy_from_slice(&order.bytes(value));
    }
    program_memory.write(address + RETURN_CODE, &bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(order: Order) -> [u8; BYTES] {
        let mut block = [0; BYTES];
        block[..8].copy_from_slice(b"DFSAIB  ");
        block[8..12].copy_from_slice(&order.bytes(128));
        block[20..28].copy_from_slice(b"SHOP    ");
        block[44..48].copy_from_slice(&order.bytes(80));
        block
    }

    #[test]
    fn both_byte_orders_are_understood_and_answered() {
        for order in [Order::Big, Order::Native] {
            let mut block = block(order);
            let mut program_memory = ProgramMemory::new();
            let aib = Aib::read(block.as_mut_ptr() as usize, &mut program_memory).expect("an AIB");
            assert_eq!((aib.area_len, aib.order, aib.fields.resource), (80, order, *b"SHOP    "));
            let reply = AibReply { return_code: SEE_STATUS, area_used: 14, ..AibReply::default() };
            aib.answer(&reply, Some(0x1000_0000), &mut program_memory);
            assert_eq!(block[64..68], order.bytes(0x900));
            assert_eq!(block[48..52], order.bytes(14));
            assert_eq!(block[76..84], 0x1000_0000_usize.to_ne_bytes());
        }
    }

    #[test]
    fn a_longer_block_has_longer_addresses() {
        let mut block = [0; 140];
        block[..BYTES].copy_from_slice(&self::block(Order::Big));
        block[8..12].copy_from_slice(&140_u32.to_be_bytes());
        block[100..116].copy_from_slice(b"SIXTEEN BYTES...");
        let mut program_memory = ProgramMemory::new();
        let aib = Aib::read(block.as_mut_ptr() as usize, &mut program_memory).expect("an AIB");
        assert_eq!(&aib.fields.token, b"SIXTEEN BYTES...");
        aib.answer(&AibReply::default(), Some(0x1000_0000), &mut program_memory);
        assert_eq!(block[76..84], 0x1000_0000_usize.to_ne_bytes());
    }

    #[test]
    fn what_is_no_aib_is_refused() {
        let mut block = block(Order::Big);
        block[0] = b'X';
        let address = block.as_mut_ptr() as usize;
        let refused = Aib::read(address, &mut ProgramMemory::new()).err();
        assert_eq!(refused, Some(NoAib::Strange(Order::Big)));
        assert_eq!(Aib::read(8, &mut ProgramMemory::new()).err(), Some(NoAib::Unreachable));
        for order in [Order::Big, Order::Native] {
            let mut block = self::block(order);
            block[8..12].copy_from_slice(&order.bytes(100));
            let refused = Aib::read(block.as_mut_ptr() as usize, &mut ProgramMemory::new()).err();
            assert_eq!(refused, Some(NoAib::Strange(order)));
        }
    }
}
