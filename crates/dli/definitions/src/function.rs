//! The functions of DL/I calls: the four letters by which a program says what it wants.
//!
//! Invariants:
//! 1. The codec loses nothing: the bytes of a function are those that it was made of, known or not.
//! 2. Functions are compared as they are written; in lower case they are unknown (DLI-12.79).

use std::fmt;

macro_rules! functions {
    ($($name:ident $text:literal $what:literal;)*) => {
        /// The function of a call.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Function {
            $(#[doc = $what] $name,)*
            /// Four bytes that are none of the functions; made by [`Function::of`] alone.
            Unknown([u8; 4]),
        }

        impl Function {
            /// Every function that is known.
            pub const ALL: &'static [Function] = &[$(Function::$name),*];

            /// The function that these bytes name, padded with blanks.
            #[must_use]
            pub const fn of(bytes: [u8; 4]) -> Function {
                match &bytes {
                    $($text => Function::$name,)*
                    _ => Function::Unknown(bytes),
                }
            }

            /// Its bytes, padded with blanks.
            #[must_use]
            pub const fn bytes(self) -> [u8; 4] {
                match self {
                    $(Function::$name => *$text,)*
                    Function::Unknown(bytes) => bytes,
                }
            }
        }
    };
}

functions! {
    Gu b"GU  " "Get unique; of messages, the first segment.";
    Gn b"GN  " "Get next.";
    Gnp b"GNP " "Get next within the parent.";
    Ghu b"GHU " "Get hold unique.";
    Ghn b"GHN " "Get hold next.";
    Ghnp b"GHNP" "Get hold next within the parent.";
    Isrt b"ISRT" "Insert.";
    Repl b"REPL" "Replace.";
    Dlet b"DLET" "Delete.";
    Pos b"POS " "Where a position is.";
    Fld b"FLD " "Verify and change fields.";
    Deq b"DEQ " "Give back what a lock class keeps.";
    Open b"OPEN" "Open a sequential file.";
    Clse b"CLSE" "Close a sequential file.";
    Chkp b"CHKP" "Checkpoint, basic or symbolic.";
    Xrst b"XRST" "Extended restart.";
    Sync b"SYNC" "Sync point.";
    Rolb b"ROLB" "Roll back, and go on.";
    Roll b"ROLL" "Roll back, and end.";
    Rols b"ROLS" "Roll back to a point.";
    Sets b"SETS" "Set a point to roll back to.";
    Setu b"SETU" "Set such a point if that is possible.";
    Log b"LOG " "Write a record to the log.";
    Stat b"STAT" "Statistics.";
    Inqy b"INQY" "Inquiry.";
    Init b"INIT" "Say which status codes the program knows.";
    Gscd b"GSCD" "Addresses of control blocks.";
    Term b"TERM" "Give up the PSB.";
    Apsb b"APSB" "Allocate a PSB.";
    Dpsb b"DPSB" "Deallocate a PSB.";
    Pcb b"PCB " "Schedule a PSB, from CICS.";
    Purg b"PURG" "End a message.";
    Chng b"CHNG" "Give an alternate PCB its destination.";
    Seto b"SETO" "Set options of messages.";
    Auth b"AUTH" "Ask for an authorisation.";
    Cmd b"CMD " "Issue an operator's command.";
    Gcmd b"GCMD" "Get the answer to a command.";
    Icmd b"ICMD" "Issue a command through an AIB.";
    Rcmd b"RCMD" "Get the answer to that.";
    Gmsg b"GMSG" "Get a message of the automated operator.";
    Ical b"ICAL" "A synchronous call to another system.";
}

impl Function {
    /// Whether it is a get of segments or records, with or without hold.
    #[must_use]
    pub const fn is_get(self) -> bool {
        matches!(self, Function::Gu | Function::Gn | Function::Gnp) || self.is_get_hold()
    }

    /// Whether it is a get with hold.
    #[must_use]
    pub const fn is_get_hold(self) -> bool {
        matches!(self, Function::Ghu | Function::Ghn | Function::Ghnp)
    }

    /// Whether it inserts, replaces or deletes.
    #[must_use]
    pub const fn is_change(self) -> bool {
        matches!(self, Function::Isrt | Function::Repl | Function::Dlet)
    }
}

/// Without padding.
impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.bytes();
        f.pad(String::from_utf8_lossy(&bytes).trim_end_matches([' ', '\0']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codec_loses_nothing() {
        for function in Function::ALL {
            assert_eq!(Function::of(function.bytes()), *function);
        }
        for bytes in [*b"GUXY", *b"gu  ", *b"GU\0\0", [0xFF; 4]] {
            assert_eq!(Function::of(bytes), Function::Unknown(bytes));
            assert_eq!(Function::of(bytes).bytes(), bytes);
        }
        assert_eq!(Function::Gu.to_string(), "GU");
    }

    #[test]
    fn a_get_with_hold_is_a_get() {
        let count = |is: fn(Function) -> bool| {
            Function::ALL.iter().filter(|function| is(**function)).count()
        };
        assert_eq!(count(Function::is_get), 6);
        assert_eq!(count(Function::is_get_hold), 3);
        assert_eq!(count(Function::is_change), 3);
    }
}
