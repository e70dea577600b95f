//! The status codes of GSAM calls (DLI-1 and DLI-12.59).
//!
//! Invariant 1: [`Status::code`] is what the PCB shows, in ASCII.

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Blank: done.
    Done,
    /// The call needs an area, and what was given is shorter than the record.
    Ab,
    /// A record has a bad length, or cannot stand in the file.
    Af,
    /// GU without RSA.
    Ah,
    /// The file cannot be opened.
    Ai,
    /// This is no RSA of the file.
    Aj,
    /// The call is not allowed with the PCB's processing options.
    Am,
    /// Reading or writing failed.
    Ao,
    /// The end of the file.
    Gb,
    /// ISRT after AI or AO.
    Ix,
}

impl Status {
    /// The two characters in the PCB.
    #[must_use]
    pub fn code(self) -> [u8; 2] {
        *match self {
            Status::Done => b"  ",
            Status::Ab => b"AB",
            Status::Af => b"AF",
            Status::Ah => b"AH",
            Status::Ai => b"AI",
            Status::Aj => b"AJ",
            Status::Am => b"AM",
            Status::Ao => b"AO",
            Status::Gb => b"GB",
            Status::Ix => b"IX",
        }
    }
}
