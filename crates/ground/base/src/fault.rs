//! What every error of Holdfast can say about itself besides its text.
//!
//! Each crate has its own error enums; each variant's text says what happened and to which object,
//! and [`Coded`] adds the stable code that scripts test and the remedy that a person reads.

use std::fmt;

/// A stable reason code such as `HFL003`: `HF`, one letter or two for the layer, three digits.
///
/// | letter | layer |
/// |---|---|
/// | `M` | the seam: disk, clock, entropy, threads |
/// | `S` | seal and keyset |
/// | `L` | log |
/// | `P` | buffer pools |
/// | `D` | data sets |
/// | `K` | locks |
/// | `U` | units of work, restart |
/// | `B` | B+tree |
/// | `T` | store trait |
/// | `Y` | system, commands; doors to the network from 900 |
/// | `A` | assembler macro source |
/// | `G` | database and program definitions, record descriptions; from 800 transactions' |
/// | `X` | EXEC DLI in COBOL sources |
/// | `F` | unload files |
/// | `C` | control statements of the DL/I test program |
/// | `E` | older command lines for files at rest |
/// | `O` | files at rest (OpenPGP) |
/// | `Z` | archives of the log |
/// | `Q` | sequential files (GSAM) |
/// | `W` | where roots go: randomizers, partitions |
/// | `H` | databases over the store |
/// | `I` | the call engine |
/// | `R` | regions and programs |
/// | `J` | scheduled PSBs, checkpoints; from 500 message queues, from 600 transactions |
/// | `N` | RECON |
/// | `V` | image copies, recovery |
/// | `HT` | the door for HTTP |
/// | `QM` | the queue manager |
/// | `MC` | commands of the queue manager (MQSC) |
/// | `AQ` | the door for AMQP |
/// | `VS` | VSAM: catalogs, clusters |
/// | `VI` | control statements (IDCAMS) |
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub &'static str);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// A code of a diagnostic, and what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeMeaning {
    /// Such as `HFG101`.
    pub code: &'static str,
    /// What it stands for, in a few words.
    pub meaning: &'static str,
}

/// Names the codes of a crate's diagnostics, and lists them with their meanings as `CODES`.
#[macro_export]
macro_rules! codes {
    ($($name:ident = $code:literal, $meaning:literal;)*) => {
        $(pub(crate) const $name: &str = $code;)*
        /// Every code with its meaning.
        pub const CODES: &[$crate::CodeMeaning] =
            &[$($crate::CodeMeaning { code: $code, meaning: $meaning }),*];
    };
}

/// An error that carries a stable code and says what a person can do about it.
///
/// ```
/// use holdfast_base::{Code, Coded};
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("{name} has no entry {key}")]
/// struct Missing {
///     name: String,
///     key: u32,
/// }
///
/// impl Coded for Missing {
///     fn code(&self) -> Code {
///         Code("HFX000")
///     }
///     fn remedy(&self) -> String {
///         format!("See that {} is loaded.", self.name)
///     }
/// }
///
/// let error = Missing { name: "PARTS".into(), key: 7 };
/// assert_eq!(error.with_code(), "PARTS has no entry 7 (HFX000)");
/// assert_eq!(error.remedy(), "See that PARTS is loaded.");
/// ```
pub trait Coded: std::error::Error {
    /// The stable code.
    fn code(&self) -> Code;
    /// What to do, as an imperative sentence; empty if nothing can be done.
    fn remedy(&self) -> String;

    /// What happened, with the code in parentheses behind it.
    fn with_code(&self) -> String {
        format!("{self} ({})", self.code())
    }
}
