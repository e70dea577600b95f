//! PCB masks: what a program sees of its PCBs, byte by byte (DLI-4).
//!
//! | offset | database | file (GSAM) | alternate | I/O |
//! |---|---|---|---|---|
//! | 0 | DBD 8 | DBD 8 | destination 8 | LTERM 8 |
//! | 8 | level 2 | level 2 | zero 2 | zero 2 |
//! | 10 | status 2 | status 2 | status 2 | status 2 |
//! | 12 | options 4 | options 4 | | date 4, time 4, sequence 4 |
//! | 20 | segment 8 | blanks 8 | | |
//! | 24 | | | | MOD 8, user 8, group 8 |
//! | 28 | key length 4 | length of the RSA 4 | | |
//! | 32 | segments 4 | zero 4 | | |
//! | 36 | key | RSA, 4 bytes of length | | |
//! | 48 | | | | stamp 12, indicator 1 at 60, zero 3 |
//!
//! Invariants:
//! 1. A mask is written whole at every call, from what the server says and never from what the
//!    room holds: programs overwrite masks (DLI-12.78). Only the key feedback behind
//!    the returned length keeps what is there (DLI-2.3).
//! 2. The one thing that is read is the length that a program puts behind the RSA before it
//!    inserts a record of undefined length (DLI-12.60).

use crate::error::RegionError;
use crate::feedback::{Feedback, IoFeedback, KEY_AT};
use crate::layout::{NO_NAME, PcbKind, PcbLayout};
use crate::memory::Rooms;

const STATUS_AT: usize = 10;

/// How a program sees integers in its PCBs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Most significant byte first: COMP of COBOL, and everything on a mainframe.
    #[default]
    Big,
    /// As this machine does: COMP-5, and C.
    Native,
}

impl Order {
    /// The 4 bytes of a number.
    #[must_use]
    pub fn bytes(self, value: u32) -> [u8; 4] {
        match self {
            Order::Big => value.to_be_bytes(),
            Order::Native => value.to_ne_bytes(),
        }
    }

    /// The number that 4 bytes are.
    #[must_use]
    pub fn number(self, bytes: [u8; 4]) -> u32 {
        match self {
            Order::Big => u32::from_be_bytes(bytes),
            Order::Native => u32::from_ne_bytes(bytes),
        }
    }

    /// The number that 2 bytes are.
    #[must_use]
    pub fn half(self, bytes: [u8; 2]) -> u16 {
        match self {
            Order::Big => u16::from_be_bytes(bytes),
            Order::Native => u16::from_ne_bytes(bytes),
        }
    }
}

/// The PCBs of a scheduled PSB in the program's memory.
pub(crate) struct Masks {
    rooms: Rooms,
    order: Order,
}

impl Masks {
    /// Gives each PCB its room and writes its first mask: status blank, no position.
    pub(crate) fn new(layouts: &[PcbLayout], order: Order) -> Result<Masks, RegionError> {
        let rooms = Rooms::new(layouts.len()).map_err(|errno| RegionError::Memory {
            what: "PCBs below 4 GiB",
            text: errno.to_string(),
        })?;
        let masks = Masks { rooms, order };
        for (pcb, layout) in layouts.iter().enumerate() {
            masks.write(pcb, layout, &Feedback::status(*b"  "));
        }
        Ok(masks)
    }

    /// Lays out the PCBs of another PSB where those of this one were: the program that they
    /// belonged to is over.
    pub(crate) fn again(self, layouts: &[PcbLayout], order: Order) -> Result<Masks, RegionError> {
        if !self.rooms.clear_for(layouts.len()) {
            return Masks::new(layouts, order);
        }
        let masks = Masks { rooms: self.rooms, order };
        for (pcb, layout) in layouts.iter().enumerate() {
            masks.write(pcb, layout, &Feedback::status(*b"  "));
        }
        Ok(masks)
    }

    /// Where a PCB is.
    pub(crate) fn address(&self, pcb: usize) -> usize {
        self.rooms.address(pcb)
    }

    /// Which PCB is at an address.
    pub(crate) fn at(&self, address: usize) -> Option<usize> {
        self.rooms.at(address)
    }

    /// Writes a PCB.
    pub(crate) fn write(&self, pcb: usize, layout: &PcbLayout, feedback: &Feedback<'_>) {
        let mut head = [0; 64];
        let len = image(layout, feedback, self.order, &mut head);
        self.rooms.write(pcb, 0, &head[..len]);
        match &layout.kind {
            PcbKind::Database(_) => self.rooms.write(pcb, KEY_AT, feedback.key),
            PcbKind::Gsam(gsam) => {
                let at = usize::from(gsam.rsa_len).min(feedback.key.len());
                let (rsa, undefined) = feedback.key.split_at(at);
                self.rooms.write(pcb, KEY_AT, rsa);
                if let Some(length) = undefined.first_chunk::<4>().filter(|_| gsam.undefined) {
                    let length = self.order.bytes(u32::from_le_bytes(*length));
                    self.rooms.write(pcb, KEY_AT + usize::from(gsam.rsa_len), &length);
                }
            }
            PcbKind::Io(_) | PcbKind::Alternate { .. } => {}
        }
    }

    /// Writes a PCB's status alone.
    pub(crate) fn write_status(&self, pcb: usize, status: [u8; 2]) {
        self.rooms.write(pcb, STATUS_AT, &status);
    }

    /// Where the program puts the length of a record of undefined length: behind the RSA.
    pub(crate) fn undefined_length_at(&self, pcb: usize, rsa_len: u8) -> usize {
        self.address(pcb) + KEY_AT + usize::from(rsa_len)
    }
}

/// Writes a mask up to its key feedback; says how long that is.
fn image(layout: &PcbLayout, feedback: &Feedback<'_>, order: Order, out: &mut [u8; 64]) -> usize {
    out[STATUS_AT..STATUS_AT + 2].copy_from_slice(&feedback.status);
    let level = feedback.level.min(99);
    let level = [b'0' + level / 10, b'0' + level % 10];
    match &layout.kind {
        PcbKind::Database(database) => {
            out[..8].copy_from_slice(&database.dbd);
            out[8..10].copy_from_slice(&level);
            out[12..16].copy_from_slice(&database.options);
            out[20..28].copy_from_slice(&feedback.segment);
            out[28..32].copy_from_slice(&order.bytes(feedback.key.len() as u32));
            out[32..36].copy_from_slice(&order.bytes(database.segments.len() as u32));
            KEY_AT
        }
        PcbKind::Gsam(gsam) => {
            out[..8].copy_from_slice(&gsam.dbd);
            out[8..10].copy_from_slice(b"  ");
            out[12..16].copy_from_slice(&gsam.options);
            out[20..28].copy_from_slice(&NO_NAME);
            out[28..32].copy_from_slice(&order.bytes(u32::from(gsam.rsa_len)));
            KEY_AT
        }
        PcbKind::Alternate { destination } => {
            let named = feedback.segment != NO_NAME;
            let destination = if named { &feedback.segment } else { destination };
            out[..8].copy_from_slice(destination);
            12
        }
        PcbKind::Io(usual) => {
            io_image(feedback.io.unwrap_or(usual), order, out);
            64
        }
    }
}

fn io_image(io: &IoFeedback, order: Order, out: &mut [u8; 64]) {
    out[..8].copy_from_slice(&io.terminal);
    out[12..16].copy_from_slice(&io.date);
    out[16..20].copy_from_slice(&io.time);
    out[20..24].copy_from_slice(&order.bytes(io.sequence));
    out[24..32].copy_from_slice(&io.mod_name);
    out[32..40].copy_from_slice(&io.user);
    out[40..48].copy_from_slice(&io.group);
    out[48..60].copy_from_slice(&io.stamp);
    out[60] = io.indicator;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{name, tests::sample};
    use crate::memory::ProgramMemory;

    fn bytes(masks: &Masks, pcb: usize, len: usize) -> Vec<u8> {
        let mut out = Vec::new();
        ProgramMemory::new().read(masks.address(pcb), len, &mut out);
        out
    }

    #[test]
    fn a_database_mask_has_its_fields_in_their_places() {
        let layouts = sample();
        let masks = Masks::new(&layouts, Order::Big).expect("rooms");
        let feedback = Feedback {
            level: 2,
            segment: name("ORDER"),
            key: b"000042ORD1",
            ..Feedback::status(*b"GK")
        };
        masks.write(1, &layouts[1], &feedback);
        let expected = b"SHOPDB  02GKAP  \0\0\0\0ORDER   \0\0\0\x0a\0\0\0\x02000042ORD1\0";
        assert_eq!(bytes(&masks, 1, expected.len()), expected);
        // A shorter key leaves what stands behind it, and everything else is written anew.
        masks.write(1, &layouts[1], &Feedback { key: b"000043", ..Feedback::status(*b"GE") });
        let expected = b"SHOPDB  00GEAP  \0\0\0\0        \0\0\0\x06\0\0\0\x02000043ORD1\0";
        assert_eq!(bytes(&masks, 1, expected.len()), expected);
    }

    #[test]
    fn integers_can_be_native() {
        let layouts = sample();
        let masks = Masks::new(&layouts, Order::Native).expect("rooms");
        assert_eq!(bytes(&masks, 1, 36)[32..], 2_u32.to_ne_bytes());
    }

    #[test]
    fn a_file_shows_its_rsa_and_the_length_behind_it() {
        let layouts = sample();
        let masks = Masks::new(&layouts, Order::Big).expect("rooms");
        let key = b"RSARSARS\x50\0\0\0";
        masks.write(2, &layouts[2], &Feedback { key, ..Feedback::status(*b"  ") });
        assert_eq!(&bytes(&masks, 2, 48)[36..], b"RSARSARS\0\0\0\x50");
        let length = ProgramMemory::new().array(masks.undefined_length_at(2, 8));
        assert_eq!(length, Some([0, 0, 0, 80]));
    }

    #[test]
    fn terminals_show_where_messages_go() {
        let layouts = sample();
        let masks = Masks::new(&layouts, Order::Big).expect("rooms");
        assert_eq!(bytes(&masks, 3, 12), b"PRINTER \0\0  ");
        let io = IoFeedback { sequence: 7, user: name("CLERK"), ..IoFeedback::default() };
        masks.write(0, &layouts[0], &Feedback { io: Some(&io), ..Feedback::status(*b"QC") });
        let seen = bytes(&masks, 0, 64);
        assert_eq!(&seen[..12], b"        \0\0QC");
        masks.write(0, &layouts[0], &Feedback::status(*b"  "));
        assert_eq!(bytes(&masks, 0, 64)[24..], seen[24..], "what it shows stays");
        assert_eq!(&seen[20..24], &[0, 0, 0, 7]);
        assert_eq!(&seen[32..40], b"CLERK   ");
    }
}
