//! Transactions, programs, routing codes and databases with their attributes and defaults.
//!
//! | attribute | of |
//! |---|---|
//! | those of `CREATE TRAN` | [`Transaction`] |
//! | those of `CREATE PGM` | [`Program`] |
//! | those of `CREATE RTC` | [`RoutingCode`] |
//! | those of `CREATE DB` | [`Database`] |
//!
//! Invariants:
//! 1. A value of these types is one that its attribute can have; whether the values fit together
//!    is for [`check`](crate::check).

use otma::Name;

use crate::attribute::{
    Access, Attribute, Class, Commands, FastPath, Language, MessageType, Mode, Priority,
    ScheduleType, Truncation,
};

/// What cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetError {
    /// There is no such attribute.
    Unknown,
    /// The value is none of its; this is what it takes.
    Value(&'static str),
}

/// Attributes by their names.
pub trait Attributes {
    /// Their names.
    const NAMES: &'static [&'static str];

    /// Sets one.
    ///
    /// # Errors
    /// If there is none of that name, or the value is none of its.
    fn set(&mut self, name: &str, value: &str) -> Result<(), SetError>;

    /// The value of one, as it is written.
    fn value(&self, name: &str) -> Option<String>;
}

macro_rules! resource {
    ($(#[$about:meta])* $type:ident {
        $($(#[$of:meta])* $attribute:literal $field:ident: $kind:ty = $default:expr),* $(,)?
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $type {
            /// Its name.
            pub name: Name,
            $($(#[$of])* pub $field: $kind,)*
        }

        impl $type {
            /// One of that name, with every attribute at its default.
            #[must_use]
            pub fn new(name: Name) -> $type {
                $type { name, $($field: $default,)* }
            }
        }

        impl Attributes for $type {
            const NAMES: &'static [&'static str] = &[$($attribute),*];

            fn set(&mut self, name: &str, value: &str) -> Result<(), SetError> {
                match name {
                    $($attribute => {
                        self.$field = <$kind>::read(value)
                            .ok_or(SetError::Value(<$kind>::EXPECTED))?;
                    })*
                    _ => return Err(SetError::Unknown),
                }
                Ok(())
            }

            fn value(&self, name: &str) -> Option<String> {
                match name {
                    $($attribute => Some(self.$field.write()),)*
                    _ => None,
                }
            }
        }
    };
}

resource! {
    /// What a client can ask for.
    Transaction {
        /// The program that serves it.
        "PGM" program: Name = Name::BLANK,
        /// Its class.
        "CLASS" class: Class = Class(1),
        /// When its unit of work ends.
        "CMTMODE" mode: Mode = Mode::Single,
        /// How many segments an input has.
        "MSGTYPE" message_type: MessageType = MessageType::Multiple,
        /// The terminal waits for an answer.
        "RESP" response: bool = false,
        /// Its priority as long as few inputs wait.
        "NPRI" normal_priority: Priority = Priority(1),
        /// Its priority when many do.
        "LPRI" limit_priority: Priority = Priority(1),
        /// How many are many.
        "LCT" limit_count: u16 = 65_535,
        /// How many inputs a program gets before others have their turn.
        "PLCT" process_limit: u16 = 65_535,
        /// How many hundredths of a second one input may take.
        "PLCTTIME" process_time: u32 = 6_553_500,
        /// How many inputs may wait for each region before another one is given to it; 65535: it
        /// has one region at a time.
        "PARLIM" parallel_limit: u16 = 65_535,
        /// How many regions it may have; 0: any number.
        "MAXRGN" regions_max: u16 = 0,
        /// How many segments an output may have; 0: any number.
        "SEGNO" segments_max: u16 = 0,
        /// How long a segment of an output may be; 0: any length.
        "SEGSZ" segment_bytes_max: u16 = 0,
        /// It is a conversation.
        "CONV" conversation: bool = false,
        /// Bytes of its scratch pad area.
        "SPASZ" spa_bytes: u16 = 0,
        /// What becomes of what is cut from it.
        "SPATRUNC" spa_truncation: Truncation = Truncation::Standard,
        /// Inputs are folded to upper case.
        "EDITUC" upper_case: bool = true,
        /// A routine that edits inputs.
        "EDITRTN" edit_routine: Name = Name::BLANK,
        /// It changes nothing.
        "INQ" inquiry: bool = false,
        /// Its inputs survive a restart.
        "RECOVER" recoverable: bool = true,
        /// Its inputs are processed one by one, in their order.
        "SERIAL" serial: bool = false,
        /// Its program waits for the next input.
        "WFI" wait_for_input: bool = false,
        /// Whether it belongs to Fast Path.
        "FP" fast_path: FastPath = FastPath::No,
        /// Bytes of its EMH buffer.
        "EMHBSZ" emh_bytes: u16 = 0,
        /// Another system processes it.
        "REMOTE" remote: bool = false,
        /// That system.
        "SIDR" remote_id: u16 = 0,
        /// This system.
        "SIDL" local_id: u16 = 0,
        /// The path to it.
        "MSNAME" msname: Name = Name::BLANK,
        /// Inputs are written before they are acknowledged.
        "DCLWA" write_ahead: bool = true,
        /// Which commands it may issue.
        "AOCMD" commands: Commands = Commands::None,
        /// Seconds after which an input is worth nothing; 0: never.
        "EXPRTIME" expires_in: u32 = 0,
        /// Statistics are logged.
        "TRANSTAT" statistics: bool = false,
        /// Inputs are routed directly.
        "DIRROUTE" direct_routing: bool = false,
    }
}

resource! {
    /// What serves transactions. Its PSB has its name.
    Program {
        /// It is a batch message program.
        "BMPTYPE" batch: bool = false,
        /// Whether it can run in several regions at a time.
        "SCHDTYPE" schedule_type: ScheduleType = ScheduleType::Parallel,
        /// Whether it belongs to Fast Path.
        "FP" fast_path: FastPath = FastPath::No,
        /// Its PSB is read for each use.
        "DOPT" dynamic: bool = false,
        /// Its PSB stays in memory.
        "RESIDENT" resident: bool = false,
        /// Its PSB is made for it.
        "GPSB" generated_psb: bool = false,
        /// Its language.
        "LANG" language: Language = Language::Unknown,
        /// Statistics are logged.
        "TRANSTAT" statistics: bool = false,
    }
}

resource! {
    /// What selects a Fast Path program.
    RoutingCode {
        /// It changes nothing.
        "INQ" inquiry: bool = false,
        /// The program.
        "PGM" program: Name = Name::BLANK,
    }
}

resource! {
    /// A database, as the online system may use it.
    Database {
        /// What it may be used for.
        "ACCTYPE" access: Access = Access::Update,
        /// Its definition stays in memory.
        "RESIDENT" resident: bool = false,
    }
}

/// The kinds of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Databases.
    Database,
    /// Programs.
    Program,
    /// Routing codes.
    RoutingCode,
    /// Transactions.
    Transaction,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Kind; 4] =
        [Kind::Database, Kind::Program, Kind::RoutingCode, Kind::Transaction];

    /// As commands name it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Kind::Database => "DB",
            Kind::Program => "PGM",
            Kind::RoutingCode => "RTC",
            Kind::Transaction => "TRAN",
        }
    }

    /// The kind that commands name so.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.word() == word)
    }

    /// The names of its attributes.
    #[must_use]
    pub const fn attributes(self) -> &'static [&'static str] {
        match self {
            Kind::Database => Database::NAMES,
            Kind::Program => Program::NAMES,
            Kind::RoutingCode => RoutingCode::NAMES,
            Kind::Transaction => Transaction::NAMES,
        }
    }
}

/// A resource of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Definition {
    /// A database.
    Database(Database),
    /// A program.
    Program(Program),
    /// A routing code.
    RoutingCode(RoutingCode),
    /// A transaction.
    Transaction(Box<Transaction>),
}

impl Definition {
    /// One of that kind and name, with every attribute at its default.
    #[must_use]
    pub fn new(kind: Kind, name: Name) -> Definition {
        match kind {
            Kind::Database => Definition::Database(Database::new(name)),
            Kind::Program => Definition::Program(Program::new(name)),
            Kind::RoutingCode => Definition::RoutingCode(RoutingCode::new(name)),
            Kind::Transaction => Definition::Transaction(Box::new(Transaction::new(name))),
        }
    }

    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        match self {
            Definition::Database(_) => Kind::Database,
            Definition::Program(_) => Kind::Program,
            Definition::RoutingCode(_) => Kind::RoutingCode,
            Definition::Transaction(_) => Kind::Transaction,
        }
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> Name {
        match self {
            Definition::Database(one) => one.name,
            Definition::Program(one) => one.name,
            Definition::RoutingCode(one) => one.name,
            Definition::Transaction(one) => one.name,
        }
    }

    /// Sets an attribute.
    ///
    /// # Errors
    /// If there is none of that name, or the value is none of its.
    pub fn set(&mut self, attribute: &str, value: &str) -> Result<(), SetError> {
        match self {
            Definition::Database(one) => one.set(attribute, value),
            Definition::Program(one) => one.set(attribute, value),
            Definition::RoutingCode(one) => one.set(attribute, value),
            Definition::Transaction(one) => one.set(attribute, value),
        }
    }

    /// The value of an attribute, as it is written.
    #[must_use]
    pub fn value(&self, attribute: &str) -> Option<String> {
        match self {
            Definition::Database(one) => one.value(attribute),
            Definition::Program(one) => one.value(attribute),
            Definition::RoutingCode(one) => one.value(attribute),
            Definition::Transaction(one) => one.value(attribute),
        }
    }

    /// What differs from the defaults, as `SET` takes it.
    #[must_use]
    pub fn settings(&self) -> String {
        let plain = Definition::new(self.kind(), self.name());
        let mut text = String::new();
        for attribute in self.kind().attributes() {
            let Some(value) = self.value(attribute) else { continue };
            if plain.value(attribute).as_ref() != Some(&value) {
                let comma = if text.is_empty() { "" } else { "," };
                text.push_str(&format!("{comma}{attribute}({value})"));
            }
        }
        text
    }

    /// As the command that makes it.
    #[must_use]
    pub fn command(&self) -> String {
        let settings = self.settings();
        let set = if settings.is_empty() { String::new() } else { format!(" SET({settings})") };
        format!("CREATE {} NAME({}){set}", self.kind().word(), self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_set_and_shown_by_their_names() {
        let name = Name::new("PART").expect("a name");
        let mut one = Definition::new(Kind::Transaction, name);
        assert_eq!(one.command(), "CREATE TRAN NAME(PART)");
        one.set("PGM", "DFSSAM02").expect("a name");
        one.set("CLASS", "4").expect("a class");
        assert_eq!(one.command(), "CREATE TRAN NAME(PART) SET(PGM(DFSSAM02),CLASS(4))");
        assert_eq!(one.set("CLASS", "1000"), Err(SetError::Value("a class from 1 to 999")));
        assert_eq!(one.set("COLOUR", "4"), Err(SetError::Unknown));
        for kind in Kind::ALL {
            let mut one = Definition::new(kind, name);
            for attribute in kind.attributes() {
                let value = one.value(attribute).expect("it has this attribute");
                assert_eq!(one.set(attribute, &value), Ok(()), "{attribute}({value})");
            }
        }
    }
}
