//! Names of eight characters, one type for each kind, so that none is taken for another.
//!
//! Invariants:
//! 1. A name has 1 to 8 printable ASCII characters without blanks, then blanks up to 8.
//! 2. Names compare as their bytes do, which is the order in which they are listed.

/// `text` padded to eight bytes, unless it is empty, too long or not printable.
fn padded(text: &str) -> Option<[u8; 8]> {
    let bytes = text.as_bytes();
    if bytes.is_empty() || bytes.len() > 8 || !bytes.iter().all(u8::is_ascii_graphic) {
        return None;
    }
    let mut name = [b' '; 8];
    name[..bytes.len()].copy_from_slice(bytes);
    Some(name)
}

fn trimmed(bytes: &[u8; 8]) -> &str {
    let len = bytes.iter().position(|byte| *byte == b' ').unwrap_or(8);
    std::str::from_utf8(&bytes[..len]).unwrap_or("")
}

macro_rules! names {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 8]);

        impl $name {
            /// The name of that text; `None` if it is empty, longer than 8, or not printable.
            #[must_use]
            pub fn new(text: &str) -> Option<$name> {
                padded(text).map($name)
            }

            /// A name as it stands in stored bytes, blanks at its end.
            #[must_use]
            pub fn from_bytes(bytes: [u8; 8]) -> Option<$name> {
                let name = $name::new(trimmed(&bytes))?;
                (name.0 == bytes).then_some(name)
            }

            /// The eight bytes, padded with blanks.
            #[must_use]
            pub fn bytes(&self) -> &[u8; 8] {
                &self.0
            }

            /// The name without its blanks.
            #[must_use]
            pub fn text(&self) -> &str {
                trimmed(&self.0)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.text())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.text())
            }
        }
    )*};
}

names! {
    /// The name of a database definition.
    DbdName;
    /// The name of a program specification.
    PsbName;
    /// The name of a PCB, by which the AIB interface finds it.
    PcbName;
    /// The name of a segment type.
    SegmentName;
    /// The name of a field, `/CKxxx` and `/SXxxx` among them.
    FieldName;
    /// The name of a data definition.
    DdName;
    /// The name of a module: randomizer, exit, compression routine.
    ModuleName;
    /// The name of a logical terminal or a transaction: the destination of an alternate PCB.
    TerminalName;
    /// The label of a data set group.
    GroupName;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_padded_and_comes_back() {
        let name = SegmentName::new("ACCT").unwrap();
        assert_eq!(name.bytes(), b"ACCT    ");
        assert_eq!(name.text(), "ACCT");
        assert_eq!(format!("{name:>6}|{name:?}"), "  ACCT|ACCT");
        assert_eq!(SegmentName::from_bytes(*name.bytes()), Some(name));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for text in ["", "NINECHARS", "A B", "\u{e9}", "A\n"] {
            assert_eq!(FieldName::new(text), None, "{text:?}");
        }
        for bytes in [*b"        ", *b" ACCT   ", *b"AC CT   ", *b"ACCT\0\0\0\0", [0xFF; 8]] {
            assert_eq!(FieldName::from_bytes(bytes), None, "{bytes:?}");
        }
    }
}
