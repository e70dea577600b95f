//! The file control block that a COBOL program passes with every request: version 3, 216 bytes.
//!
//! Numbers have their greatest byte first; pointers are 8 bytes as the machine has them.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | file status |
//! | 2, 4 | 2, 1 | length of the block, version |
//! | 5, 6, 7 | 1 | organization, access (X'80': has FILE STATUS), open mode (X'80': not open) |
//! | 8 | 1 | 1 records of variable length |
//! | 21 | 1 | X'80' OPTIONAL, X'10' EXTERNAL, X'01' line advancing |
//! | 47 | 1 | X'80' made by GnuCOBOL |
//! | 54 | 2 | length of the file's name |
//! | 60, 66 | 2 | key of reference, effective length of the key |
//! | 82, 84 | 2, 4 | end of page is checked; options of READ, WRITE and CLOSE |
//! | 88, 92, 96 | 4 | length of the record: now, least, most |
//! | 144 | 8 | relative key |
//! | 152 | 8 | ours: which open file it is |
//! | 160, 168, 184 | 8 | addresses of the record, the name, the key definitions |
//!
//! | offset | bytes | of the key definitions |
//! |---|---|---|
//! | 0 | 2 | length of everything |
//! | 6 | 2 | keys |
//! | 14 + 16 n | 2, 2 | of key n: components; offset of the first of them |
//! | 18 + 16 n | 1 | X'40' duplicates, X'02' sparse |
//! | 20 + 16 n | 1 | the character of sparse keys |
//! | | 2, 4, 4 | each component: unused, position, length |
//!
//! Invariants:
//! 1. Nothing here follows an address. What stands behind one is checked like bytes from outside.

/// The length of a block.
pub const FCD_BYTES: usize = 216;
/// The only version that there is.
const VERSION: u8 = 1;
/// The longest record that a program may have.
pub const RECORD_BYTES_MAX: u32 = 64 << 20;
/// The most keys of a file.
pub const KEYS_MAX: usize = 255;
/// What stands in front of the keys' definitions.
const KEYS_HEADER: usize = 14;
/// What each key's definition has.
const KEY_BYTES: usize = 16;
/// What each component's has.
const COMPONENT_BYTES: usize = 10;
const NOT_OPEN: u8 = 0x80;

/// How records stand in a file, as the program has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Organization {
    /// Lines of text.
    LineSequential,
    /// One after the other.
    Sequential,
    /// By keys.
    Indexed,
    /// By number.
    Relative,
}

/// How a program goes through a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// From record to record.
    Sequential,
    /// By key or number.
    Random,
    /// Both.
    Dynamic,
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenMode {
    /// To be read.
    Input,
    /// To be written anew.
    Output,
    /// To be read and changed.
    InputOutput,
    /// To be written at its end.
    Extend,
}

impl OpenMode {
    /// As the block has it.
    #[must_use]
    pub fn byte(self) -> u8 {
        match self {
            OpenMode::Input => 0,
            OpenMode::Output => 1,
            OpenMode::InputOutput => 2,
            OpenMode::Extend => 3,
        }
    }

    /// From the block's byte.
    #[must_use]
    pub fn of(byte: u8) -> Option<OpenMode> {
        match byte {
            0 => Some(OpenMode::Input),
            1 => Some(OpenMode::Output),
            2 => Some(OpenMode::InputOutput),
            3 => Some(OpenMode::Extend),
            _ => None,
        }
    }

    /// Whether records can be read.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, OpenMode::Input | OpenMode::InputOutput)
    }

    /// Whether anything is changed.
    #[must_use]
    pub fn writes(self) -> bool {
        self != OpenMode::Input
    }
}

/// A block.
#[derive(Clone)]
pub struct Fcd(pub [u8; FCD_BYTES]);

impl std::fmt::Debug for Fcd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fcd").field("organization", &self.organization()).finish_non_exhaustive()
    }
}

impl Default for Fcd {
    fn default() -> Fcd {
        let mut fcd = Fcd([0; FCD_BYTES]);
        fcd.0[3] = FCD_BYTES as u8;
        fcd.0[4] = VERSION;
        fcd.0[7] = NOT_OPEN;
        fcd
    }
}

impl Fcd {
    fn u16(&self, at: usize) -> u16 {
        u16::from_be_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from_be_bytes([self.0[at], self.0[at + 1], self.0[at + 2], self.0[at + 3]])
    }

    fn u64_be(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) << 32 | u64::from(self.u32(at + 4))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
    }

    fn native(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.0[at..at + 8]);
        u64::from_ne_bytes(bytes)
    }

    /// Whether it is a block that is understood.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        usize::from(self.u16(2)) == FCD_BYTES && self.0[4] == VERSION
    }

    /// The organization, if it is known.
    #[must_use]
    pub fn organization(&self) -> Option<Organization> {
        match self.0[5] {
            0 => Some(Organization::LineSequential),
            1 => Some(Organization::Sequential),
            2 => Some(Organization::Indexed),
            3 => Some(Organization::Relative),
            _ => None,
        }
    }

    /// Says which organization.
    pub fn set_organization(&mut self, organization: Organization) {
        self.0[5] = match organization {
            Organization::LineSequential => 0,
            Organization::Sequential => 1,
            Organization::Indexed => 2,
            Organization::Relative => 3,
        };
    }

    /// The access.
    #[must_use]
    pub fn access(&self) -> Access {
        match self.0[6] & 0x7f {
            4 => Access::Random,
            8 => Access::Dynamic,
            _ => Access::Sequential,
        }
    }

    /// Says which access.
    pub fn set_access(&mut self, access: Access) {
        self.0[6] = match access {
            Access::Sequential => 0,
            Access::Random => 4,
            Access::Dynamic => 8,
        };
    }

    /// Whether records have different lengths.
    #[must_use]
    pub fn is_variable(&self) -> bool {
        self.record_least() != self.record_most()
    }

    /// Whether GnuCOBOL's run time made the block.
    #[must_use]
    pub fn is_of_gnucobol(&self) -> bool {
        self.0[47] & 0x80 != 0
    }

    /// Whether the file need not be there.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.0[21] & 0x80 != 0
    }

    /// Says whether the file need not be there.
    pub fn set_optional(&mut self, optional: bool) {
        self.0[21] = self.0[21] & 0x7f | u8::from(optional) << 7;
    }

    /// Says what came of the request.
    pub fn set_status(&mut self, status: [u8; 2]) {
        self.put(0, &status);
    }

    /// What came of the request.
    #[must_use]
    pub fn status(&self) -> [u8; 2] {
        [self.0[0], self.0[1]]
    }

    /// Says what the file is open for; `None`: it is not open.
    pub fn set_open(&mut self, mode: Option<OpenMode>) {
        self.0[7] = mode.map_or(NOT_OPEN, OpenMode::byte);
    }

    /// The length of the name.
    #[must_use]
    pub fn name_bytes(&self) -> usize {
        usize::from(self.u16(54))
    }

    /// Which key is meant: 0 is the prime key.
    #[must_use]
    pub fn key_of_reference(&self) -> usize {
        usize::from(self.u16(60))
    }

    /// Says which key is meant.
    pub fn set_key_of_reference(&mut self, key: u16) {
        self.put(60, &key.to_be_bytes());
    }

    /// How many bytes of the key count.
    #[must_use]
    pub fn key_bytes(&self) -> usize {
        usize::from(self.u16(66))
    }

    /// Says how many bytes of the key count.
    pub fn set_key_bytes(&mut self, bytes: u16) {
        self.put(66, &bytes.to_be_bytes());
    }

    /// The options of libcob.
    #[must_use]
    pub fn options(&self) -> u32 {
        self.u32(84)
    }

    /// Says which options.
    pub fn set_options(&mut self, options: u32) {
        self.put(84, &options.to_be_bytes());
    }

    /// How long the record is.
    #[must_use]
    pub fn record_bytes(&self) -> u32 {
        self.u32(88)
    }

    /// Says how long the record is.
    pub fn set_record_bytes(&mut self, bytes: u32) {
        self.put(88, &bytes.to_be_bytes());
    }

    /// The shortest record.
    #[must_use]
    pub fn record_least(&self) -> u32 {
        self.u32(92)
    }

    /// The longest record: what its area has room for.
    #[must_use]
    pub fn record_most(&self) -> u32 {
        self.u32(96)
    }

    /// Says how long records may be.
    pub fn set_record_limits(&mut self, least: u32, most: u32) {
        self.put(92, &least.to_be_bytes());
        self.put(96, &most.to_be_bytes());
    }

    /// The relative key, of which libcob fills four bytes.
    #[must_use]
    pub fn relative_key(&self) -> u64 {
        self.u64_be(144)
    }

    /// Says which relative key.
    pub fn set_relative_key(&mut self, key: u64) {
        self.put(144, &key.to_be_bytes());
    }

    /// What we keep in it.
    #[must_use]
    pub fn handle(&self) -> u64 {
        self.native(152)
    }

    /// Keeps something in it.
    pub fn set_handle(&mut self, handle: u64) {
        self.put(152, &handle.to_ne_bytes());
    }

    /// The record's address.
    #[must_use]
    pub fn record_address(&self) -> u64 {
        self.native(160)
    }

    /// The name's address.
    #[must_use]
    pub fn name_address(&self) -> u64 {
        self.native(168)
    }

    /// The address of the key definitions.
    #[must_use]
    pub fn keys_address(&self) -> u64 {
        self.native(184)
    }
}

/// A key of an indexed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyDefinition {
    /// Where it begins in the record.
    pub offset: u32,
    /// How long it is.
    pub bytes: u32,
    /// Whether two records may have the same.
    pub duplicates: bool,
    /// Records whose key has nothing but this character are not found by it.
    pub sparse: Option<u8>,
    /// Offsets and lengths of its further parts.
    pub rest: Vec<(u32, u32)>,
}

impl KeyDefinition {
    /// All parts.
    pub fn parts(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        std::iter::once((self.offset, self.bytes)).chain(self.rest.iter().copied())
    }

    /// The length of all parts.
    #[must_use]
    pub fn whole(&self) -> usize {
        self.parts().map(|(_, bytes)| bytes as usize).sum()
    }
}

/// Reads key definitions; `None` if they make no sense for records of so many bytes.
#[must_use]
pub fn keys_of(bytes: &[u8], record_most: u32) -> Option<Vec<KeyDefinition>> {
    let u16_at = |at: usize| Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let u32_at = |at: usize| Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?));
    let count = usize::from(u16_at(6)?);
    if count > KEYS_MAX {
        return None;
    }
    let key = |number: usize| {
        let at = KEYS_HEADER + KEY_BYTES * number;
        let components = usize::from(u16_at(at)?);
        let first = usize::from(u16_at(at + 2)?);
        let (flags, sparse) = (*bytes.get(at + 4)?, *bytes.get(at + 6)?);
        let mut parts = Vec::with_capacity(components);
        for component in 0..components {
            let at = first + component * COMPONENT_BYTES;
            let (offset, bytes) = (u32_at(at + 2)?, u32_at(at + 6).filter(|bytes| *bytes > 0)?);
            if offset.checked_add(bytes)? > record_most {
                return None;
            }
            parts.push((offset, bytes));
        }
        let ((offset, bytes), rest) = parts.split_first()?;
        Some(KeyDefinition {
            offset: *offset,
            bytes: *bytes,
            duplicates: flags & 0x40 != 0,
            sparse: (flags & 0x02 != 0).then_some(sparse),
            rest: rest.to_vec(),
        })
    };
    (0..count).map(key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_stand_where_the_compiler_puts_them() {
        let mut fcd = Fcd::default();
        assert!(fcd.is_sound());
        fcd.set_record_limits(4, 80);
        fcd.set_relative_key(7);
        fcd.set_open(Some(OpenMode::InputOutput));
        assert_eq!((fcd.0[95], fcd.0[99], fcd.0[151], fcd.0[7]), (4, 80, 7, 2));
        assert!(fcd.is_variable());
        fcd.0[4] = 0;
        assert!(!fcd.is_sound());
    }

    #[test]
    fn keys_that_reach_out_of_the_record_are_none() {
        let mut bytes = vec![0; KEYS_HEADER + KEY_BYTES + COMPONENT_BYTES];
        bytes[7] = 1;
        bytes[KEYS_HEADER + 1] = 1;
        bytes[KEYS_HEADER + 3] = (KEYS_HEADER + KEY_BYTES) as u8;
        bytes[KEYS_HEADER + 4] = 0x40;
        let at = KEYS_HEADER + KEY_BYTES;
        bytes[at + 5] = 2;
        bytes[at + 9] = 8;
        let rest = Vec::new();
        let key = KeyDefinition { offset: 2, bytes: 8, duplicates: true, sparse: None, rest };
        assert_eq!(keys_of(&bytes, 10), Some(vec![key]));
        assert_eq!(keys_of(&bytes, 9), None);
        for len in 0..bytes.len() {
            assert_eq!(keys_of(&bytes[..len], 10), None, "{len}");
        }
    }
}
