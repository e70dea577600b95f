//! What a program's PCBs look like from its side of the call interface.
//!
//! The scheduler of a PSB says it once; with it the program's side knows which parameters of a
//! call are PCBs, how long their search arguments are, and how the masks begin.
//!
//! | bytes | of a list of layouts |
//! |---|---|
//! | 2 | how many |
//! | 8, 1, 4, 1 | for each: name, whether listed, longest area, kind 0 to 3 |
//! | 57 | I/O: what it shows, as in a reply ([`crate::wire`]) |
//! | 8 | alternate: destination |
//! | 8, 4, 1, 1 | GSAM: DBD, options, bytes of RSA, whether undefined |
//! | 8, 8, 4, 4, 2 | database: DBD, organization, options, bytes of key feedback, segments |
//! | 8, 2, 1, 2, 2 | for each segment: name, longest, whether variable, key of its path, fields |
//! | 8, 2 | for each field: name, bytes |
//!
//! Invariants:
//! 1. Shapes stand in the order of the PSB, the I/O PCB first, as number 0.
//! 2. What was encoded decodes to the same; other bytes are refused, never a panic.

use base::bytes::Reader;

use crate::feedback::{IoFeedback, put_io, read_io};
pub use crate::names::{NO_NAME, Name, name, text};

/// One PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PcbLayout {
    /// Its name, by which AIB calls find it; blank if it has none. `IOPCB` for the I/O PCB.
    pub name: Name,
    /// Whether it is among the program's parameters.
    pub listed: bool,
    /// The longest I/O area: of a database its longest path, of a file its longest record.
    pub area_max: u32,
    /// What it is for.
    pub kind: PcbKind,
}

/// The kinds of PCB.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PcbKind {
    /// The I/O PCB, with what it shows where a call says nothing else.
    Io(IoFeedback),
    /// An alternate PCB.
    Alternate {
        /// Where its messages go; blank if it is modifiable.
        destination: Name,
    },
    /// A database.
    Database(DatabaseLayout),
    /// A sequential file.
    Gsam(GsamLayout),
}

/// A database as a PCB sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseLayout {
    /// The DBD that the PCB names.
    pub dbd: Name,
    /// Its organization, such as `HIDAM`.
    pub organization: Name,
    /// Its processing options, padded with blanks.
    pub options: [u8; 4],
    /// Bytes of the longest concatenated key.
    pub key_max: u32,
    /// The sensitive segments in hierarchic order.
    pub segments: Vec<SegmentLayout>,
}

/// A segment type as far as lengths depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentLayout {
    /// Its name.
    pub name: Name,
    /// Its longest length, as the program sees it.
    pub bytes_max: u16,
    /// Whether it begins with its length.
    pub variable: bool,
    /// Bytes of the concatenated key down to it, which command code C takes.
    pub key_path: u16,
    /// The fields that search arguments may name, XDFLDs among them.
    pub fields: Vec<FieldLayout>,
}

/// A field that search arguments may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldLayout {
    /// Its name.
    pub name: Name,
    /// Its length.
    pub len: u16,
}

/// A sequential file as a PCB sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GsamLayout {
    /// The DBD that the PCB names.
    pub dbd: Name,
    /// Its processing options, padded with blanks.
    pub options: [u8; 4],
    /// Bytes of the record search argument: 8 or 12.
    pub rsa_len: u8,
    /// Records of undefined length: the PCB says how long each is.
    pub undefined: bool,
}

impl GsamLayout {
    /// Learns from a reply's key feedback how long record search arguments are by now: INIT RSA12
    /// changes that.
    pub(crate) fn learn(&mut self, key: &[u8]) {
        let behind = if self.undefined { 4 } else { 0 };
        if let Some(len @ (8 | 12)) = key.len().checked_sub(behind) {
            self.rsa_len = len as u8;
        }
    }
}

impl PcbLayout {
    /// What a person calls it: its own name, or that of its database.
    #[must_use]
    pub fn title(&self) -> String {
        let fallback = match &self.kind {
            PcbKind::Io(_) => name("IOPCB"),
            PcbKind::Alternate { destination } => *destination,
            PcbKind::Database(database) => database.dbd,
            PcbKind::Gsam(gsam) => gsam.dbd,
        };
        text(if self.name == NO_NAME { &fallback } else { &self.name })
    }
}

/// The bytes of a list of layouts.
#[must_use]
pub fn encode(layouts: &[PcbLayout]) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(&(layouts.len() as u16).to_le_bytes());
    for layout in layouts {
        out.extend_from_slice(&layout.name);
        out.push(u8::from(layout.listed));
        out.extend_from_slice(&layout.area_max.to_le_bytes());
        match &layout.kind {
            PcbKind::Io(io) => {
                out.push(0);
                put_io(io, &mut out);
            }
            PcbKind::Alternate { destination } => {
                out.push(1);
                out.extend_from_slice(destination);
            }
            PcbKind::Gsam(gsam) => {
                out.push(2);
                out.extend_from_slice(&gsam.dbd);
                out.extend_from_slice(&gsam.options);
                out.extend_from_slice(&[gsam.rsa_len, u8::from(gsam.undefined)]);
            }
            PcbKind::Database(database) => encode_database(database, &mut out),
        }
    }
    out
}

fn encode_database(database: &DatabaseLayout, out: &mut Vec<u8>) {
    out.push(3);
    out.extend_from_slice(&database.dbd);
    out.extend_from_slice(&database.organization);
    out.extend_from_slice(&database.options);
    out.extend_from_slice(&database.key_max.to_le_bytes());
    out.extend_from_slice(&(database.segments.len() as u16).to_le_bytes());
    for segment in &database.segments {
        out.extend_from_slice(&segment.name);
        out.extend_from_slice(&segment.bytes_max.to_le_bytes());
        out.push(u8::from(segment.variable));
        out.extend_from_slice(&segment.key_path.to_le_bytes());
        out.extend_from_slice(&(segment.fields.len() as u16).to_le_bytes());
        for field in &segment.fields {
            out.extend_from_slice(&field.name);
            out.extend_from_slice(&field.len.to_le_bytes());
        }
    }
}

/// The layouts that bytes say; `None` if they say none.
#[must_use]
pub fn decode(bytes: &[u8]) -> Option<Vec<PcbLayout>> {
    let mut reader = Reader::new(bytes);
    let count = reader.u16()?;
    let layouts: Option<Vec<PcbLayout>> = (0..count).map(|_| decode_one(&mut reader)).collect();
    layouts.filter(|_| reader.is_empty())
}

fn decode_one(reader: &mut Reader<'_>) -> Option<PcbLayout> {
    let name = reader.array()?;
    let listed = flag(reader)?;
    let area_max = reader.u32()?;
    let kind = match reader.u8()? {
        0 => PcbKind::Io(read_io(reader)?),
        1 => PcbKind::Alternate { destination: reader.array()? },
        2 => PcbKind::Gsam(GsamLayout {
            dbd: reader.array()?,
            options: reader.array()?,
            rsa_len: reader.u8()?,
            undefined: flag(reader)?,
        }),
        3 => PcbKind::Database(decode_database(reader)?),
        _ => return None,
    };
    Some(PcbLayout { name, listed, area_max, kind })
}

fn decode_database(reader: &mut Reader<'_>) -> Option<DatabaseLayout> {
    let dbd = reader.array()?;
    let organization = reader.array()?;
    let options = reader.array()?;
    let key_max = reader.u32()?;
    let segment = |reader: &mut Reader<'_>| {
        let name = reader.array()?;
        let bytes_max = reader.u16()?;
        let variable = flag(reader)?;
        let key_path = reader.u16()?;
        let field = |reader: &mut Reader<'_>| {
            Some(FieldLayout { name: reader.array()?, len: reader.u16()? })
        };
        let fields = (0..reader.u16()?).map(|_| field(reader)).collect::<Option<_>>()?;
        Some(SegmentLayout { name, bytes_max, variable, key_path, fields })
    };
    let segments = (0..reader.u16()?).map(|_| segment(reader)).collect::<Option<_>>()?;
    Some(DatabaseLayout { dbd, organization, options, key_max, segments })
}

fn flag(reader: &mut Reader<'_>) -> Option<bool> {
    match reader.u8()? {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An I/O PCB, a database with two segments, and a file.
    pub(crate) fn sample() -> Vec<PcbLayout> {
        let field = |text: &str, len| FieldLayout { name: name(text), len };
        let customer = SegmentLayout {
            name: name("CUSTOMER"),
            bytes_max: 60,
            variable: false,
            key_path: 6,
            fields: vec![field("CUSTKEY", 6), field("CITY", 10)],
        };
        let order = SegmentLayout {
            name: name("ORDER"),
            bytes_max: 20,
            variable: true,
            key_path: 10,
            fields: vec![field("ORDKEY", 4)],
        };
        let database = DatabaseLayout {
            dbd: name("SHOPDB"),
            organization: name("HIDAM"),
            options: *b"AP  ",
            key_max: 10,
            segments: vec![customer, order],
        };
        let gsam =
            GsamLayout { dbd: name("EXTRACT"), options: *b"LS  ", rsa_len: 8, undefined: true };
        let of =
            |text, area_max, kind| PcbLayout { name: name(text), listed: true, area_max, kind };
        let io = IoFeedback { user: name("CLERK"), sequence: 7, ..IoFeedback::default() };
        vec![
            of("IOPCB", 64, PcbKind::Io(io)),
            of("SHOP", 80, PcbKind::Database(database)),
            of("", 100, PcbKind::Gsam(gsam)),
            of("ALT", 64, PcbKind::Alternate { destination: name("PRINTER") }),
        ]
    }

    #[test]
    fn layouts_survive_encoding_and_cut_bytes_are_refused() {
        let bytes = encode(&sample());
        assert_eq!(decode(&bytes), Some(sample()));
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "cut at {len}");
        }
    }

    #[test]
    fn a_pcb_without_a_name_is_called_after_its_database() {
        let titles: Vec<String> = sample().iter().map(PcbLayout::title).collect();
        assert_eq!(titles, ["IOPCB", "SHOP", "EXTRACT", "ALT"]);
    }
}
