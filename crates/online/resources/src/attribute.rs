//! Values of attributes as they are written, and as they are kept.
//!
//! Invariants:
//! 1. What [`Attribute::write`] writes, [`Attribute::read`] reads as the same value.

use otma::Name;

/// A value that an attribute can have.
pub trait Attribute: Sized + PartialEq {
    /// What it looks like, for people.
    const EXPECTED: &'static str;

    /// The value; `None` if the text is none.
    fn read(text: &str) -> Option<Self>;

    /// The text.
    fn write(&self) -> String;
}

impl Attribute for bool {
    const EXPECTED: &'static str = "Y or N";

    fn read(text: &str) -> Option<bool> {
        match text {
            "Y" | "YES" => Some(true),
            "N" | "NO" => Some(false),
            _ => None,
        }
    }

    fn write(&self) -> String {
        (if *self { "Y" } else { "N" }).to_owned()
    }
}

impl Attribute for u16 {
    const EXPECTED: &'static str = "a number from 0 to 65535";

    fn read(text: &str) -> Option<u16> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Attribute for u32 {
    const EXPECTED: &'static str = "a number from 0 to 4294967295";

    fn read(text: &str) -> Option<u32> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl Attribute for Name {
    const EXPECTED: &'static str = "a name of at most 8 letters, digits, @, #, $";

    fn read(text: &str) -> Option<Name> {
        let is_good = |byte: u8| byte.is_ascii_alphanumeric() || b"@#$_-+*".contains(&byte);
        Name::new(text).filter(|_| text.bytes().all(is_good))
    }

    fn write(&self) -> String {
        self.text()
    }
}

/// A scheduling class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Class(pub u16);

impl Attribute for Class {
    const EXPECTED: &'static str = "a class from 1 to 999";

    fn read(text: &str) -> Option<Class> {
        text.parse().ok().filter(|class| (1..=999).contains(class)).map(Class)
    }

    fn write(&self) -> String {
        self.0.to_string()
    }
}

/// A scheduling priority; 0 is not scheduled by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(pub u8);

impl Attribute for Priority {
    const EXPECTED: &'static str = "a priority from 0 to 14";

    fn read(text: &str) -> Option<Priority> {
        text.parse().ok().filter(|priority| *priority <= 14).map(Priority)
    }

    fn write(&self) -> String {
        self.0.to_string()
    }
}

macro_rules! choices {
    ($(#[$about:meta])* $name:ident = $expected:literal
     { $($(#[$one:meta])* $variant:ident = $text:literal $(| $other:literal)*),* $(,)? }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[$one])* $variant),*
        }

        impl Attribute for $name {
            const EXPECTED: &'static str = $expected;

            fn read(text: &str) -> Option<$name> {
                match text {
                    $($text $(| $other)* => Some($name::$variant),)*
                    _ => None,
                }
            }

            fn write(&self) -> String {
                match self {
                    $($name::$variant => $text,)*
                }
                .to_owned()
            }
        }
    };
}

choices! {
    /// When a unit of work ends.
    Mode = "SNGL or MULT" {
        /// With each message.
        Single = "SNGL",
        /// When the program ends.
        Multiple = "MULT",
    }
}

choices! {
    /// How many segments an input has.
    MessageType = "MULTSEG or SNGLSEG" {
        /// Any number.
        Multiple = "MULTSEG",
        /// One.
        Single = "SNGLSEG",
    }
}

choices! {
    /// Which end of a scratch pad area is lost when a smaller one follows.
    Truncation = "S or R" {
        /// The standard of the system.
        Standard = "S" | "STRUNC",
        /// What is cut is forgotten.
        Remembered = "R" | "RTRUNC",
    }
}

choices! {
    /// Whether something belongs to Fast Path.
    FastPath = "N, E or P" {
        /// No.
        No = "N",
        /// Only.
        Exclusive = "E",
        /// Perhaps.
        Potential = "P",
    }
}

choices! {
    /// Whether a program can run in several regions at a time.
    ScheduleType = "PARALLEL or SERIAL" {
        /// Yes.
        Parallel = "PARALLEL",
        /// No.
        Serial = "SERIAL",
    }
}

choices! {
    /// The language of a program.
    Language = "ASSEM, COBOL, JAVA, PASCAL or PLI" {
        /// Not said.
        Unknown = "" | "NONE",
        /// Assembler.
        Assembler = "ASSEM",
        /// COBOL.
        Cobol = "COBOL",
        /// Java.
        Java = "JAVA",
        /// Pascal.
        Pascal = "PASCAL",
        /// PL/I.
        Pli = "PLI" | "PL/I",
    }
}

choices! {
    /// What a database may be used for.
    Access = "UPD, READ, BRWS or EXCL" {
        /// Everything, shared.
        Update = "UPD" | "UP",
        /// Reading with integrity.
        Read = "READ" | "RD",
        /// Reading without.
        Browse = "BRWS" | "RO",
        /// Everything, alone.
        Exclusive = "EXCL" | "EX",
    }
}

choices! {
    /// Which commands a transaction may issue.
    Commands = "N, CMD, TRAN or Y" {
        /// None.
        None = "N" | "NO",
        /// Those of its program.
        Command = "CMD",
        /// Those of the transaction.
        Transaction = "TRAN",
        /// All.
        Yes = "Y" | "YES",
    }
}
