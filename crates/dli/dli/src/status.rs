//! Status codes: the two characters by which a call answers (DLI-1).

use std::fmt;

/// A status code.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(pub [u8; 2]);

macro_rules! statuses {
    ($($name:ident $text:literal $what:literal;)*) => {
        impl Status {
            $(#[doc = $what] pub const $name: Status = Status(*$text);)*
        }
    };
}

statuses! {
    OK b"  " "Done.";
    AB b"AB" "The call needs an I/O area.";
    AC b"AC" "An SSA names no segment of the PCB, or is out of order.";
    AD b"AD" "The function is unknown, or not one for this PCB.";
    AF b"AF" "A GSAM record of variable length has a bad length.";
    AH b"AH" "The call needs an SSA.";
    AI b"AI" "The data set cannot be opened.";
    AJ b"AJ" "An SSA is malformed or not valid for the call.";
    AK b"AK" "An SSA names an unknown field.";
    AL b"AL" "The call is not one for this kind of program.";
    AM b"AM" "The processing options or the sensitivity do not allow the call.";
    AO b"AO" "An error of input or output.";
    BA b"BA" "Data is unavailable; what the call had done is undone.";
    BB b"BB" "Data is unavailable; everything since the last commit is undone.";
    BJ b"BJ" "All databases of the PSB are unavailable.";
    BK b"BK" "Some databases of the PSB are unavailable, wholly or in part.";
    DA b"DA" "A key or a field that may not be replaced was changed.";
    DJ b"DJ" "No get-hold stands before the DLET or REPL.";
    DX b"DX" "The delete rule forbids it.";
    FM b"FM" "The randomizer, or the choice of a partition, rejected the root key.";
    GA b"GA" "A get without SSAs crossed into a higher level.";
    GB b"GB" "The end of the database.";
    GD b"GD" "An occurrence of the path is no longer there.";
    GE b"GE" "No segment satisfies the call.";
    GG b"GG" "A read without locks met something inconsistent.";
    GK b"GK" "A get without SSAs met another segment type at the same level.";
    GL b"GL" "A class letter is missing, or a log code is too low.";
    GP b"GP" "No parentage, or the segment is not beneath the parent.";
    II b"II" "The segment is there already.";
    IX b"IX" "The insert rule forbids it.";
    LB b"LB" "Load: the segment is there already.";
    LC b"LC" "Load: the key is out of sequence.";
    LD b"LD" "Load: no parent has been loaded.";
    LE b"LE" "Load: the segment types are out of sequence.";
    LF b"LF" "Load: a logical child cannot be loaded here.";
    NA b"NA" "Some data behind the PCB is unavailable.";
    NI b"NI" "A unique index has such an entry already.";
    RX b"RX" "The replace rule forbids it.";
    SC b"SC" "SETS is not possible with these PCBs.";
    SB b"SB" "More than nine levels of SETS.";
    RA b"RA" "The token of ROLS is unknown.";
    V1 b"V1" "The length of a segment of variable length is out of bounds.";
    QC b"QC" "No message is waiting.";
}

impl Status {
    /// Whether the call did what was asked: blank, GA and GK.
    #[must_use]
    pub fn is_ok(self) -> bool {
        matches!(self, Status::OK | Status::GA | Status::GK)
    }
}

impl From<crate::ssa::Status> for Status {
    fn from(status: crate::ssa::Status) -> Status {
        Status(status.bytes())
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = [char::from(self.0[0]), char::from(self.0[1])];
        f.pad(&text.iter().collect::<String>())
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{self}'")
    }
}
