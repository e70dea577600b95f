//! How blocks are protected: the format, and the generation of the key.

use base::KeyGeneration;

/// How a block is protected. The numbers stand on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// In clear, with a checksum against accidents.
    Plain = 1,
    /// Encrypted and authenticated.
    Sealed = 2,
}

impl Format {
    /// The format of that number on disk.
    #[must_use]
    pub fn from_byte(byte: u8) -> Option<Format> {
        match byte {
            1 => Some(Format::Plain),
            2 => Some(Format::Sealed),
            _ => None,
        }
    }
}

impl std::fmt::Display for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Format::Plain => "plain",
            Format::Sealed => "sealed",
        })
    }
}

/// How a page is protected: plain or sealed, and under which generation of the data key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Form {
    /// Plain or sealed.
    pub format: Format,
    /// The generation; 0 if plain.
    pub generation: KeyGeneration,
}

impl Form {
    /// In clear.
    pub const PLAIN: Form = Form { format: Format::Plain, generation: KeyGeneration(0) };

    /// Sealed with that generation of the data key.
    #[must_use]
    pub fn sealed(generation: KeyGeneration) -> Form {
        Form { format: Format::Sealed, generation }
    }
}
