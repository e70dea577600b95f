//! Amounts of bytes as people write them: `64 MiB`, `512 KiB`, or plain `4096`.
//!
//! Invariant 1: an amount that was written is read as the same amount.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};

/// An amount of bytes in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

impl Bytes {
    /// Reads an amount.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn parse(text: &str) -> Result<Bytes, String> {
        let text = text.trim();
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(text.len());
        let (digits, unit) = text.split_at(split);
        let unit = unit.trim();
        let bad =
            || format!("\"{text}\" is no amount of bytes; write 65536, \"64 KiB\", \"1 GiB\"");
        let count: u64 = digits.replace('_', "").parse().map_err(|_| bad())?;
        let shift = if unit.is_empty() {
            0
        } else {
            let known = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit));
            known.ok_or_else(bad)?.1
        };
        count.checked_mul(1 << shift).map(Bytes).ok_or_else(bad)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fits =
            |(_, shift): &&(&str, u32)| self.0 >= 1 << shift && self.0.is_multiple_of(1 << shift);
        let (unit, shift) = UNITS.iter().find(fits).unwrap_or(&("B", 0));
        write!(f, "{} {unit}", self.0 >> shift)
    }
}

impl std::str::FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Bytes, String> {
        Bytes::parse(text)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Bytes, D::Error> {
        struct Amount;
        impl Visitor<'_> for Amount {
            type Value = Bytes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of bytes such as 65536 or \"64 KiB\"")
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Bytes, E> {
                let value = u64::try_from(value);
                value.map(Bytes).map_err(|_| E::custom("an amount of bytes is not negative"))
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Bytes, E> {
                Ok(Bytes(value))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Bytes, E> {
                Bytes::parse(text).map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Amount)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_they_are_written() {
        for (text, bytes) in
            [("4096", 4096), ("64 KiB", 65_536), ("1GiB", 1 << 30), ("3 b", 3), ("1_000", 1_000)]
        {
            assert_eq!(Bytes::parse(text), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "KiB", "-1", "1.5 GiB", "9 parsecs", "99999999999 TiB"] {
            assert!(Bytes::parse(text).is_err(), "{text}");
        }
        for bytes in [0, 1, 1023, 1024, 3 << 20, (1 << 30) + 1] {
            assert_eq!(Bytes::parse(&Bytes(bytes).to_string()), Ok(Bytes(bytes)), "{bytes}");
        }
    }
}
