//! The DL/I interface block: what a command leaves for its program to look at.
//!
//! | offset | bytes | field | what |
//! |---|---|---|---|
//! | 0 | 2 | DIBVER | version of the translation, `01` |
//! | 2 | 2 | DIBSTAT | status code |
//! | 4 | 8 | DIBSEGM | name of the lowest segment reached |
//! | 12 | 1 | DIBFIL01 | blank |
//! | 13 | 1 | DIBFIL02 | blank |
//! | 14 | 2 | DIBSEGLV | its level, two digits |
//! | 16 | 2 | DIBKFBL | length of the key feedback, binary |
//! | 18 | 8 | DIBDBDNM | name of the database |
//! | 26 | 8 | DIBDBORG | its organization |
//! | 34 | 6 | DIBFIL03 | blank |
//!
//! Invariants:
//!
//! 1. Every command that returns has set all 40 bytes.
//! 2. Whether a status returns to the program or ends it is decided here alone.

/// The length of the block.
pub const LENGTH: usize = 40;

/// The user abend of a program whose command got a status that does not return.
pub const ABEND: u16 = 1041;

/// The block's fields with their pictures.
pub(crate) const FIELDS: &[(&str, &str)] = &[
    ("DIBVER", "XX"),
    ("DIBSTAT", "XX"),
    ("DIBSEGM", "X(8)"),
    ("DIBFIL01", "X"),
    ("DIBFIL02", "X"),
    ("DIBSEGLV", "XX"),
    ("DIBKFBL", "S9(4) COMP"),
    ("DIBDBDNM", "X(8)"),
    ("DIBDBORG", "X(8)"),
    ("DIBFIL03", "X(6)"),
];

/// Status codes that return to the program. DLI-5 names the first row; of the others the rows
/// in front of "T" are answers that a call exists to give, or follow the rows that DLI-5 names
/// (a unit of work that was backed out, a warning about buffers, data that is unavailable); those
/// with "T" return so that a program can find out whether its PSB is there.
const RETURNED: &[&[u8; 2]] = &[
    b"  ", b"BA", b"BC", b"FH", b"FW", b"GA", b"GB", b"GD", b"GE", b"GG", b"GK", b"II", b"LB",
    b"NI", b"TG", // DLI-5
    b"BB", b"BD", b"FD", b"FR", b"GC", // relatives of BA, BC, FH, FW and GE
    b"BJ", b"BK", b"NA", b"NU", // what REFRESH and QUERY are there to say
    b"RA", b"RC", b"SA", b"SB", b"SC", // points to roll back to
    b"TA", b"TC", b"TE", b"TH", b"TJ", b"TL", b"TY", b"TZ", // scheduling
];

/// What becomes of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It returns with this status in the DIB.
    Returned,
    /// The program ends with [`ABEND`].
    Abend,
}

/// What a status means for the command that got it.
#[must_use]
pub fn outcome(status: [u8; 2]) -> Outcome {
    if RETURNED.contains(&&status) { Outcome::Returned } else { Outcome::Abend }
}

/// How the program reads binary halfwords.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteOrder {
    /// COMP, as on the mainframe.
    Big,
    /// COMP-5.
    Native,
}

/// The block's contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dib {
    /// The status code.
    pub status: [u8; 2],
    /// The lowest segment reached; blank if none.
    pub segment: Vec<u8>,
    /// Its level, 0 if none.
    pub level: u8,
    /// The length of the key feedback.
    pub key_length: u16,
    /// The database.
    pub database: Vec<u8>,
    /// Its organization, such as `HIDAM`.
    pub organization: Vec<u8>,
}

impl Dib {
    /// One that has a status and nothing else.
    #[must_use]
    pub fn of_status(status: [u8; 2]) -> Dib {
        Dib {
            status,
            segment: Vec::new(),
            level: 0,
            key_length: 0,
            database: Vec::new(),
            organization: Vec::new(),
        }
    }

    /// As the program sees it.
    #[must_use]
    pub fn encode(&self, order: ByteOrder) -> [u8; LENGTH] {
        let mut out = [b' '; LENGTH];
        let mut put = |at: usize, len: usize, bytes: &[u8]| {
            let len = len.min(bytes.len());
            out[at..at + len].copy_from_slice(&bytes[..len]);
        };
        put(0, 2, b"01");
        put(2, 2, &self.status);
        put(4, 8, &self.segment);
        let level = self.level.min(99);
        put(14, 2, &[b'0' + level / 10, b'0' + level % 10]);
        let key_length = match order {
            ByteOrder::Big => self.key_length.to_be_bytes(),
            ByteOrder::Native => self.key_length.to_ne_bytes(),
        };
        put(16, 2, &key_length);
        put(18, 8, &self.database);
        put(26, 8, &self.organization);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_has_forty_bytes() {
        let dib = Dib {
            status: *b"GE",
            segment: b"ACCOUNT ".to_vec(),
            level: 2,
            key_length: 14,
            database: b"CUSTDB".to_vec(),
            organization: b"HIDAM".to_vec(),
        };
        let bytes = dib.encode(ByteOrder::Big);
        assert_eq!(&bytes, b"01GEACCOUNT   02\x00\x0eCUSTDB  HIDAM         ");
        assert_eq!(dib.encode(ByteOrder::Native)[16..18], 14_u16.to_ne_bytes());
        assert_eq!(&Dib::of_status(*b"  ").encode(ByteOrder::Big)[14..16], b"00");
    }

    #[test]
    fn row_exec_dli_says_which_codes_return() {
        for status in [b"  ", b"GE", b"GB", b"II", b"LB", b"NI", b"TG", b"GD"] {
            assert_eq!(outcome(*status), Outcome::Returned);
        }
        for status in [b"AC", b"AJ", b"AM", b"DJ", b"V2", b"TP", b"AI", b"DX"] {
            assert_eq!(outcome(*status), Outcome::Abend);
        }
    }
}
