//! What a structure of the interface is made of, and how its fields stand in memory.
//!
//! A structure is declared once, with `structure!`: fields with their offsets, and the length of
//! each version. Readers and writers, the encoding on the wire, the C headers and the COBOL
//! copybooks are all made from that one declaration.
//!
//! Invariants:
//! 1. A field that does not lie whole within the length of the stated version is neither read nor
//!    written: the caller's memory may end there.
//! 2. What is read without a change is written back as nothing: only fields that differ are
//!    written, so that descriptors in memory that others use are left alone.
//! 3. All numbers are little endian, as the machine's own are.
//!
//! The changes of a structure, as they stand on the wire:
//!
//! | field | bytes | meaning |
//! |---|---|---|
//! | mask | 1-19 | base 128, low bits first: bit n says that field n differs from the base |
//! | values | any | the fields that differ, in their order, each as it stands in memory; pointers are left out |

/// What kind of value a field has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// A number of four bytes.
    Long,
    /// A handle of a message, eight bytes.
    Handle,
    /// The address of something that is given so in the header.
    Pointer(&'static str),
    /// Characters, padded with blanks.
    Text(usize),
    /// One character.
    Character,
    /// Bytes.
    Bytes(usize),
    /// Numbers of four bytes.
    Longs(usize),
    /// Four bytes of a string of variable length: where it is, and how long.
    Variable,
    /// The first descriptor's form within another structure.
    Descriptor,
}

impl Kind {
    /// How many bytes it takes.
    #[must_use]
    pub const fn len(self) -> usize {
        match self {
            Kind::Long => 4,
            Kind::Handle | Kind::Pointer(_) => 8,
            Kind::Text(len) | Kind::Bytes(len) => len,
            Kind::Character => 1,
            Kind::Longs(count) => 4 * count,
            Kind::Variable => CharV::LEN,
            Kind::Descriptor => 324,
        }
    }

    /// Whether it takes no bytes: no kind does.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// At which multiples of bytes it stands.
    #[must_use]
    pub const fn alignment(self) -> usize {
        match self {
            Kind::Long | Kind::Longs(_) | Kind::Descriptor => 4,
            Kind::Handle | Kind::Pointer(_) | Kind::Variable => 8,
            Kind::Text(_) | Kind::Bytes(_) | Kind::Character => 1,
        }
    }
}

/// A field as it is declared.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name in C.
    pub name: &'static str,
    /// How far from the start of the structure it stands.
    pub offset: usize,
    /// What it holds.
    pub kind: Kind,
    /// What it holds if no program says otherwise, as it stands in memory.
    pub default: Vec<u8>,
}

impl Field {
    /// The first byte behind it.
    #[must_use]
    pub fn end(&self) -> usize {
        self.offset + self.kind.len()
    }
}

/// A structure as it is declared.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Its name in C, as `MQMD`.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// The length of each version, beginning with version 1.
    pub lengths: &'static [usize],
    /// Its fields, in their order.
    pub fields: Vec<Field>,
}

impl Layout {
    /// The length of its newest version.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lengths.last().copied().unwrap_or_default()
    }

    /// Whether it has no length: none is so.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first version that has a field.
    #[must_use]
    pub fn version_of(&self, field: &Field) -> usize {
        1 + self.lengths.iter().position(|len| field.end() <= *len).unwrap_or_default()
    }
}

/// A string of variable length: where its bytes are, as the caller says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CharV {
    /// Its address, or 0.
    pub ptr: u64,
    /// How far from the start of the structure it stands, if it has no address.
    pub offset: i32,
    /// How much room there is at its place for an answer.
    pub buf_size: i32,
    /// How many bytes it has; -1 if a zero byte ends it.
    pub length: i32,
    /// Its character set.
    pub ccsid: i32,
}

impl CharV {
    const LEN: usize = 24;
    /// No string.
    pub const NONE: CharV = CharV { ptr: 0, offset: 0, buf_size: 0, length: 0, ccsid: 1208 };
}

/// A value that a field can have.
pub trait Value: Clone + PartialEq {
    /// Reads it; the bytes are as many as its kind takes.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Appends it as it stands in memory.
    fn write(&self, out: &mut Vec<u8>);
    /// Whether it means something to another process.
    const TRAVELS: bool = true;
}

impl Value for i32 {
    fn read(bytes: &[u8]) -> Option<i32> {
        Some(i32::from_le_bytes(bytes.try_into().ok()?))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
}

impl Value for i64 {
    fn read(bytes: &[u8]) -> Option<i64> {
        Some(i64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
}

/// An address in the caller's memory.
impl Value for u64 {
    fn read(bytes: &[u8]) -> Option<u64> {
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    const TRAVELS: bool = false;
}

impl<const N: usize> Value for [u8; N] {
    fn read(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }
}

impl<const N: usize> Value for [i32; N] {
    fn read(bytes: &[u8]) -> Option<[i32; N]> {
        let mut all = [0; N];
        for (one, four) in all.iter_mut().zip(bytes.chunks_exact(4)) {
            *one = i32::read(four)?;
        }
        (bytes.len() == 4 * N).then_some(all)
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|one| one.write(out));
    }
}

impl Value for u8 {
    fn read(bytes: &[u8]) -> Option<u8> {
        bytes.first().copied()
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.push(*self);
    }
}

impl Value for CharV {
    fn read(bytes: &[u8]) -> Option<CharV> {
        let long = |at: usize| i32::read(bytes.get(at..at + 4)?);
        Some(CharV {
            ptr: u64::read(bytes.get(..8)?)?,
            offset: long(8)?,
            buf_size: long(12)?,
            length: long(16)?,
            ccsid: long(20)?,
        })
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.ptr.write(out);
        [self.offset, self.buf_size, self.length, self.ccsid].iter().for_each(|one| one.write(out));
    }

    const TRAVELS: bool = false;
}

/// Text of a constant, padded with blanks to a field's length.
#[must_use]
pub const fn text<const N: usize>(content: &str) -> [u8; N] {
    let mut field = [b' '; N];
    let bytes = content.as_bytes();
    let mut at = 0;
    while at < bytes.len() && at < N {
        field[at] = bytes[at];
        at += 1;
    }
    field
}

/// Why a structure is not one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Invalid {
    /// It does not begin with its four letters.
    Identifier,
    /// Its version is none that there is.
    Version,
    /// There are fewer bytes than its version has.
    Short,
}

/// A structure of the interface.
pub trait Structure: Clone + PartialEq {
    /// The length of each version, beginning with version 1.
    const LENGTHS: &'static [usize];
    /// As it is declared.
    fn layout() -> Layout;
    /// As it is if no program says otherwise, with a version.
    fn initial() -> Self;
    /// Which version it says it is; 1 if it has no versions.
    fn version(&self) -> i32;
    /// Reads the fields that lie within so many bytes; others stay as they are.
    fn take(&mut self, bytes: &[u8]) -> Result<(), Invalid>;
    /// Writes the fields that differ from `before` and lie within so many bytes.
    fn give(&self, before: &Self, bytes: &mut [u8]);
    /// Appends what differs from a base.
    fn changes(&self, base: &Self, out: &mut Vec<u8>);
    /// Takes what differs from the base, which is this one; says how many bytes that took.
    fn change(&mut self, bytes: &[u8]) -> Option<usize>;

    /// How many bytes a version has; `None` if there is no such version.
    #[must_use]
    fn len_of(version: i32) -> Option<usize> {
        let index = usize::try_from(version).ok()?.checked_sub(1)?;
        Self::LENGTHS.get(index).copied()
    }

    /// Reads a structure whose first eight bytes are its letters and its version.
    ///
    /// # Errors
    /// If it is not the structure, or shorter than its version says.
    fn read(bytes: &[u8]) -> Result<Self, Invalid> {
        let len = Self::stated_len(bytes)?;
        let mut value = Self::initial();
        value.take(bytes.get(..len).ok_or(Invalid::Short)?)?;
        Ok(value)
    }

    /// How long a structure is by what its first eight bytes say.
    ///
    /// # Errors
    /// If it does not begin with its letters, or has no such version.
    fn stated_len(bytes: &[u8]) -> Result<usize, Invalid> {
        let layout = Self::initial_bytes();
        if bytes.get(..4).ok_or(Invalid::Short)? != layout.get(..4).unwrap_or_default() {
            return Err(Invalid::Identifier);
        }
        let version = i32::read(bytes.get(4..8).ok_or(Invalid::Short)?).ok_or(Invalid::Short)?;
        Self::len_of(version).ok_or(Invalid::Version)
    }

    /// The first bytes of every such structure: its four letters.
    fn initial_bytes() -> [u8; 4];

    /// All bytes of its version.
    #[must_use]
    fn bytes(&self) -> Vec<u8> {
        let newest = Self::LENGTHS.last().copied().unwrap_or_default();
        let mut bytes = vec![0; Self::len_of(self.version()).unwrap_or(newest)];
        self.put_all(&mut bytes);
        bytes
    }

    /// Writes every field that lies within so many bytes.
    fn put_all(&self, bytes: &mut [u8]);
}

/// Appends a number in base 128, low bits first.
pub(crate) fn put_mask(mut mask: u128, out: &mut Vec<u8>) {
    loop {
        let low = (mask & 0x7f) as u8;
        mask >>= 7;
        if mask == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

/// Reads a number in base 128, and how many bytes it took.
pub(crate) fn take_mask(bytes: &[u8]) -> Option<(u128, usize)> {
    let mut mask = 0_u128;
    for (index, byte) in bytes.iter().enumerate().take(19) {
        let part = u128::from(byte & 0x7f);
        let shift = 7 * u32::try_from(index).ok()?;
        mask |= part.checked_shl(shift).filter(|moved| moved >> shift == part)?;
        if byte & 0x80 == 0 {
            return Some((mask, index + 1));
        }
    }
    None
}

macro_rules! kind {
    (Long) => {
        $crate::table::Kind::Long
    };
    (Handle) => {
        $crate::table::Kind::Handle
    };
    (Character) => {
        $crate::table::Kind::Character
    };
    (Variable) => {
        $crate::table::Kind::Variable
    };
    (Descriptor) => {
        $crate::table::Kind::Descriptor
    };
    (Pointer $to:literal) => {
        $crate::table::Kind::Pointer($to)
    };
    (Text $n:literal) => {
        $crate::table::Kind::Text($n)
    };
    (Bytes $n:literal) => {
        $crate::table::Kind::Bytes($n)
    };
    (Longs $n:literal) => {
        $crate::table::Kind::Longs($n)
    };
}

macro_rules! holds {
    (Long) => {
        i32
    };
    (Handle) => {
        i64
    };
    (Character) => {
        u8
    };
    (Variable) => {
        $crate::table::CharV
    };
    (Descriptor) => {
        [u8; 324]
    };
    (Pointer $to:literal) => {
        u64
    };
    (Text $n:literal) => {
        [u8; $n]
    };
    (Bytes $n:literal) => {
        [u8; $n]
    };
    (Longs $n:literal) => {
        [i32; $n]
    };
}

/// Declares a structure: `offset Name name: Kind = default`.
macro_rules! structure {
    (
        $(#[doc = $about:literal])+
        $rust:ident = $c:literal $id:literal $lengths:tt versioned by $versioned:expr;
        $($offset:literal $name:ident $field:ident: $kind:ident $($arg:literal)? = $default:expr;)+
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, PartialEq, Eq, Debug)]
        #[allow(missing_docs)] // the fields are the interface's own
        pub struct $rust { $(pub $field: holds!($kind $($arg)?),)+ }

        impl $crate::table::Structure for $rust {
            const LENGTHS: &'static [usize] = &$lengths;

            fn layout() -> $crate::table::Layout {
                let initial = Self::initial();
                let fields = vec![$($crate::table::Field {
                    name: stringify!($name),
                    offset: $offset,
                    kind: kind!($kind $($arg)?),
                    default: {
                        let mut default = Vec::new();
                        $crate::table::Value::write(&initial.$field, &mut default);
                        default
                    },
                },)+];
                let about = concat!($($about),+).trim();
                $crate::table::Layout { name: $c, about, lengths: Self::LENGTHS, fields }
            }

            fn initial() -> Self {
                Self { $($field: $default,)+ }
            }

            fn version(&self) -> i32 {
                let of: fn(&Self) -> i32 = $versioned;
                of(self)
            }

            fn initial_bytes() -> [u8; 4] {
                $crate::table::text($id)
            }

            fn take(&mut self, bytes: &[u8]) -> Result<(), $crate::table::Invalid> {
                $(
                    const { assert!($offset % kind!($kind $($arg)?).alignment() == 0) };
                    if let Some(at) = bytes.get($offset..$offset + kind!($kind $($arg)?).len()) {
                        self.$field = $crate::table::Value::read(at)
                            .ok_or($crate::table::Invalid::Short)?;
                    }
                )+
                Ok(())
            }

            fn give(&self, before: &Self, bytes: &mut [u8]) {
                let mut value = Vec::new();
                $(
                    let end = $offset + kind!($kind $($arg)?).len();
                    if self.$field != before.$field && let Some(at) = bytes.get_mut($offset..end) {
                        value.clear();
                        $crate::table::Value::write(&self.$field, &mut value);
                        at.copy_from_slice(&value);
                    }
                )+
            }

            fn put_all(&self, bytes: &mut [u8]) {
                let mut value = Vec::new();
                $(
                    let end = $offset + kind!($kind $($arg)?).len();
                    if let Some(at) = bytes.get_mut($offset..end) {
                        value.clear();
                        $crate::table::Value::write(&self.$field, &mut value);
                        at.copy_from_slice(&value);
                    }
                )+
            }

            fn changes(&self, base: &Self, out: &mut Vec<u8>) {
                use $crate::table::Value;
                fn travels<V: Value>(_: &V) -> bool { V::TRAVELS }
                let (mut mask, mut bit) = (0_u128, 0_u32);
                $(
                    if travels(&self.$field) && self.$field != base.$field {
                        mask |= 1 << bit;
                    }
                    bit += 1;
                )+
                const { assert!([$($offset),+].len() <= 128) };
                let _ = bit;
                $crate::table::put_mask(mask, out);
                let mut bit = 0_u32;
                $(
                    if mask >> bit & 1 == 1 { Value::write(&self.$field, out); }
                    bit += 1;
                )+
                let _ = bit;
            }

            fn change(&mut self, bytes: &[u8]) -> Option<usize> {
                use $crate::table::Value;
                fn travels<V: Value>(_: &V) -> bool { V::TRAVELS }
                let (mut mask, mut at) = $crate::table::take_mask(bytes)?;
                $(
                    if mask & 1 == 1 {
                        let len = kind!($kind $($arg)?).len();
                        if !travels(&self.$field) { return None; }
                        self.$field = Value::read(bytes.get(at..at + len)?)?;
                        at += len;
                    }
                    mask >>= 1;
                )+
                (mask == 0).then_some(at)
            }
        }
    };
}
