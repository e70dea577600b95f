//! How the smallest parts become bytes: numbers, texts, lists, names, words.
//!
//! Invariants:
//! 1. Every value takes at least one byte, so a list cannot be longer than its bytes.
//! 2. Texts and lists are cut at 65,535, which no source reaches; a cut is never inside of a
//!    character.

use base::bytes::Reader;

use crate::model::{
    AccessMethod, ChildPointer, DbdName, DdName, DeleteRule, FieldName, FieldType, GroupName,
    KeyStorage, LchildPointer, ModuleName, Organization, PcbName, Pointers, ProcessingOptions,
    ProgramLanguage, Protection, PsbName, Rule, SegmentName, SegmentPart, SubsetUsage,
    TerminalName, TwinPlace,
};

base::coding! { pub(super) trait Coding for u8 u16 u32 }

impl Coding for char {
    fn put(&self, out: &mut Vec<u8>) {
        u32::from(*self).put(out);
    }
    fn get(reader: &mut Reader<'_>) -> Option<char> {
        char::from_u32(reader.u32()?)
    }
}

impl Coding for String {
    fn put(&self, out: &mut Vec<u8>) {
        let mut end = self.len().min(usize::from(u16::MAX));
        while !self.is_char_boundary(end) {
            end -= 1;
        }
        base::bytes::push_string16(out, &self.as_bytes()[..end]);
    }
    fn get(reader: &mut Reader<'_>) -> Option<String> {
        std::str::from_utf8(reader.string16()?).ok().map(str::to_owned)
    }
}

impl<T: Coding> Coding for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        let len = u16::try_from(self.len()).unwrap_or(u16::MAX);
        len.put(out);
        self.iter().take(usize::from(len)).for_each(|one| one.put(out));
    }
    fn get(reader: &mut Reader<'_>) -> Option<Vec<T>> {
        let len = reader.u16()?;
        (0..len).map(|_| T::get(reader)).collect()
    }
}

macro_rules! names {
    ($($name:ident)*) => {$(
        impl Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(self.bytes());
            }
            fn get(reader: &mut Reader<'_>) -> Option<$name> {
                $name::from_bytes(reader.array()?)
            }
        }
    )*};
}

names!(DbdName PsbName PcbName SegmentName FieldName DdName ModuleName TerminalName GroupName);

macro_rules! words {
    ($($name:ident)*) => {$(
        impl Coding for $name {
            fn put(&self, out: &mut Vec<u8>) {
                out.push(self.number());
            }
            fn get(reader: &mut Reader<'_>) -> Option<$name> {
                $name::from_number(reader.u8()?)
            }
        }
    )*};
}

words!(Organization AccessMethod Protection ChildPointer KeyStorage Rule DeleteRule TwinPlace);
words!(SegmentPart FieldType LchildPointer SubsetUsage ProgramLanguage);

impl Coding for Pointers {
    fn put(&self, out: &mut Vec<u8>) {
        self.bits().put(out);
    }
    fn get(reader: &mut Reader<'_>) -> Option<Pointers> {
        Pointers::from_bits(reader.u16()?)
    }
}

impl Coding for ProcessingOptions {
    /// Only the text: members are stored as written, and resolving reduces them again.
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.shown());
    }
    fn get(reader: &mut Reader<'_>) -> Option<ProcessingOptions> {
        let shown = reader.array::<4>()?;
        let text = std::str::from_utf8(&shown).ok()?;
        let options = ProcessingOptions::parse(text.trim_end_matches(' ')).ok()?;
        (*options.shown() == shown).then_some(options)
    }
}
