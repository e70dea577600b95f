//! How the parts of a record become bytes.
//!
//! Invariants:
//! 1. Numbers are little-endian; texts and paths have their length in two bytes in front, lists
//!    theirs in four.
//! 2. No bytes make a list take more memory than they have themselves: every part takes at least
//!    one byte, and a list grows with what was read.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use base::bytes::{Reader, push_string16};
use base::{DataSetId, GroupNumber, KeyGeneration, Lsn, UowId};

base::coding! { pub(crate) trait Coding for u8 u16 u32 u64 }

macro_rules! counted {
    ($($name:ident)*) => {$(
        impl Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                self.0.put(out);
            }
            fn get(reader: &mut Reader<'_>) -> Option<$name> {
                Some($name(Coding::get(reader)?))
            }
        }
    )*};
}

counted!(DataSetId GroupNumber KeyGeneration Lsn UowId);

impl<const N: usize> Coding for [u8; N] {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
    fn get(reader: &mut Reader<'_>) -> Option<[u8; N]> {
        reader.array()
    }
}

impl Coding for String {
    fn put(&self, out: &mut Vec<u8>) {
        push_string16(out, cut(self.as_bytes()));
    }
    fn get(reader: &mut Reader<'_>) -> Option<String> {
        std::str::from_utf8(reader.string16()?).ok().map(str::to_owned)
    }
}

impl Coding for PathBuf {
    fn put(&self, out: &mut Vec<u8>) {
        push_string16(out, cut(self.as_os_str().as_bytes()));
    }
    fn get(reader: &mut Reader<'_>) -> Option<PathBuf> {
        Some(PathBuf::from(OsStr::from_bytes(reader.string16()?)))
    }
}

impl<T: Coding> Coding for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u32).put(out);
        self.iter().for_each(|value| value.put(out));
    }
    fn get(reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let count = reader.u32()?;
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(T::get(reader)?);
        }
        Some(list)
    }
}

/// What of a text fits its length; no name and no path on Linux is longer.
fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(usize::from(u16::MAX))]
}

/// A structure whose parts go to bytes one behind the other.
macro_rules! coded {
    ($(
        $(#[$about:meta])*
        pub struct $name:ident { $($(#[$part:meta])* pub $field:ident: $type:ty,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name { $($(#[$part])* pub $field: $type,)* }

        impl $crate::coding::Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::coding::Coding::put(&self.$field, out);)*
            }
            fn get(reader: &mut base::bytes::Reader<'_>) -> Option<$name> {
                Some($name { $($field: $crate::coding::Coding::get(reader)?,)* })
            }
        }
    )*};
}

/// One of several words, stored as its number.
macro_rules! worded {
    ($(
        $(#[$about:meta])*
        pub enum $name:ident { $($(#[$word_about:meta])* $word:ident = $number:literal,)* }
    )*) => {$(
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$word_about])* $word,)* }

        impl $crate::coding::Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(match self { $($name::$word => $number,)* });
            }
            fn get(reader: &mut base::bytes::Reader<'_>) -> Option<$name> {
                match reader.u8()? { $($number => Some($name::$word),)* _ => None }
            }
        }
    )*};
}

pub(crate) use {coded, worded};
