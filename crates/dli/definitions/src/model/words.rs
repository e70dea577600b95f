//! The words that operands choose from, each kind an enumeration.
//!
//! Invariants:
//! 1. The order of the variants is on disk: new ones go to the end, none is removed.
//! 2. [`word`](Organization::word) is what sources write, so a definition can be shown again.

macro_rules! words {
    ($($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal),* $(,)? })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant,)*
        }

        impl $name {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The word as sources write it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self { $($name::$variant => $word,)* }
            }

            /// What that word of a source means.
            #[must_use]
            pub fn of(word: &str) -> Option<$name> {
                $name::ALL.iter().copied().find(|one| one.word() == word)
            }

            /// The number on disk.
            #[must_use]
            pub const fn number(self) -> u8 {
                self as u8
            }

            /// The variant of that number.
            #[must_use]
            pub fn from_number(number: u8) -> Option<$name> {
                $name::ALL.get(usize::from(number)).copied()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }
    )*};
}

words! {
    /// How a database is organized: the first value of `ACCESS=`.
    Organization {
        Hsam = "HSAM", Shsam = "SHSAM", Hisam = "HISAM", Shisam = "SHISAM", Hdam = "HDAM",
        Hidam = "HIDAM", Phdam = "PHDAM", Phidam = "PHIDAM", Psindex = "PSINDEX",
        Index = "INDEX", Gsam = "GSAM", Msdb = "MSDB", Dedb = "DEDB", Logical = "LOGICAL",
    }
    /// The operating system's access method: the second value of `ACCESS=`.
    AccessMethod { Vsam = "VSAM", Osam = "OSAM", Bsam = "BSAM", Qsam = "QSAM" }
    /// Whether programs that use an index as a database may delete or replace: `ACCESS=`, third.
    Protection { Prot = "PROT", NoProt = "NOPROT" }
    /// Pointers from a physical parent to its children: `PARENT=((name,SNGL|DBLE))`.
    ChildPointer { Sngl = "SNGL", Dble = "DBLE" }
    /// Whether the logical parent's key is stored in the logical child.
    KeyStorage { Virtual = "VIRTUAL", Physical = "PHYSICAL" }
    /// Insert and replace rules, and logical delete rules but for `B`.
    Rule { Logical = "L", Physical = "P", Virtual = "V" }
    /// Delete rules; `B` is for a physical parent under bidirectional virtual pairing.
    DeleteRule { Logical = "L", Physical = "P", Virtual = "V", Bidirectional = "B" }
    /// Where a twin goes that no unique key places: the second value of `RULES=`.
    TwinPlace { First = "FIRST", Last = "LAST", Here = "HERE" }
    /// Whether a SOURCE gives the whole segment to the program or its key alone.
    SegmentPart { Data = "DATA", Key = "KEY" }
    /// What a field holds: `TYPE=`.
    FieldType { Character = "C", Hexadecimal = "X", Packed = "P", Fullword = "F", Halfword = "H" }
    /// `POINTER=` of an LCHILD.
    LchildPointer {
        Sngl = "SNGL", Dble = "DBLE", None = "NONE", Indx = "INDX", Symb = "SYMB",
    }
    /// What a program does with a subset pointer.
    SubsetUsage { Read = "R", Update = "U" }
    /// `LANG=` of a PSBGEN.
    ProgramLanguage {
        Cobol = "COBOL", Assem = "ASSEM", Pli = "PL/I", Pascal = "PASCAL", C = "C", Java = "JAVA",
    }
}

impl Organization {
    /// Whether it is partitioned (HALDB).
    #[must_use]
    pub fn is_partitioned(self) -> bool {
        matches!(self, Organization::Phdam | Organization::Phidam | Organization::Psindex)
    }

    /// Whether it is an index, primary or secondary.
    #[must_use]
    pub fn is_index(self) -> bool {
        matches!(self, Organization::Index | Organization::Psindex)
    }

    /// Whether a randomizer places its roots.
    #[must_use]
    pub fn is_hashed(self) -> bool {
        matches!(self, Organization::Hdam | Organization::Phdam | Organization::Dedb)
    }

    /// Whether its roots must have a unique key (DLI-12.48 and DLI-12.67).
    #[must_use]
    pub fn needs_unique_root(self) -> bool {
        use Organization::{Dedb, Hidam, Hisam, Phidam, Psindex, Shisam};
        matches!(self, Hisam | Shisam | Hidam | Phidam | Psindex | Dedb)
    }

    /// Whether it can have one segment type only.
    #[must_use]
    pub fn is_root_only(self) -> bool {
        use Organization::{Index, Msdb, Psindex, Shisam, Shsam};
        matches!(self, Shsam | Shisam | Msdb | Index | Psindex)
    }

    /// Whether its segments may be of variable length.
    #[must_use]
    pub fn takes_variable_length(self) -> bool {
        use Organization::{Dedb, Hdam, Hidam, Hisam, Phdam, Phidam};
        matches!(self, Hisam | Hdam | Hidam | Phdam | Phidam | Dedb)
    }

    /// Whether its segments may have LCHILD statements.
    #[must_use]
    pub fn takes_lchild(self) -> bool {
        use Organization::{Dedb, Hdam, Hidam, Hisam, Phdam, Phidam, Shisam};
        self.is_index() || matches!(self, Hisam | Shisam | Hdam | Hidam | Phdam | Phidam | Dedb)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_words_come_back() {
        for one in Organization::ALL {
            assert_eq!(Organization::of(one.word()), Some(*one));
            assert_eq!(Organization::from_number(one.number()), Some(*one));
        }
        assert_eq!(Organization::of("HIDM"), None);
        assert_eq!(Organization::from_number(200), None);
        assert_eq!(Rule::of("B"), None);
    }
}
