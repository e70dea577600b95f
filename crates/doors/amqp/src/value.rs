//! Values of AMQP 1.0, and their bytes.
//!
//! | first byte | value | | first byte | value |
//! |---|---|---|---|---|
//! | 00 | described: descriptor, value | | 40 | null |
//! | 41, 42, 56 | boolean | | 43, 52, 70 | uint of 0, 1, 4 bytes |
//! | 44, 53, 80 | ulong of 0, 1, 8 bytes | | 50, 60 | ubyte, ushort |
//! | 51, 61, 54, 71, 55, 81 | byte, short, int, long | | 72, 82 | float, double |
//! | 73, 83, 98 | char, timestamp, uuid | | 74, 84, 94 | decimals, as bytes |
//! | a0, b0 | binary | | a1, b1, a3, b3 | string, symbol |
//! | 45, c0, d0 | list | | c1, d1 | map | | e0, f0 | array |
//!
//! 1. Lengths and counts are believed only as far as there are bytes, and values nest at most
//!    [`NESTING_MAX`] deep.
//! 2. Bytes become at most as many values as they are, and at most [`VALUES_MAX`]; only elements
//!    that take no byte are more, up to [`NOTHINGS_MAX`].
//! 3. What is written can be read, and is the same then.

/// How deep values nest.
pub(crate) const NESTING_MAX: usize = 32;
/// Values of a message, or of a frame.
pub(crate) const VALUES_MAX: usize = 1 << 18;
/// Values that take no byte: elements of arrays whose kind says all.
pub(crate) const NOTHINGS_MAX: usize = 256;
/// The longest name that elements of an array may be described by: each has it.
const DESCRIPTOR_BYTES_MAX: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Ubyte(u8),
    Ushort(u16),
    Uint(u32),
    Ulong(u64),
    Byte(i8),
    Short(i16),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Char(u32),
    Timestamp(i64),
    Uuid([u8; 16]),
    Decimal(u8, Vec<u8>),
    Binary(Vec<u8>),
    Text(String),
    Symbol(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Array(Vec<Value>),
    Described(Box<(Value, Value)>),
}

impl Value {
    /// A composite: a list with the number of its kind.
    pub(crate) fn composite(code: u64, fields: Vec<Value>) -> Value {
        Value::Described(Box::new((Value::Ulong(code), Value::List(fields))))
    }

    /// A text, or nothing.
    pub(crate) fn text_or_null(text: Option<&str>) -> Value {
        text.map_or(Value::Null, |text| Value::Text(text.to_owned()))
    }

    /// A symbol.
    pub(crate) fn symbol(text: &str) -> Value {
        Value::Symbol(text.to_owned())
    }

    /// The number, if it has no more than 32 bits.
    pub(crate) fn uint(&self) -> Option<u32> {
        self.number().and_then(|number| u32::try_from(number).ok())
    }

    /// The number, whatever its width.
    pub(crate) fn number(&self) -> Option<u64> {
        match *self {
            Value::Ubyte(number) => Some(u64::from(number)),
            Value::Ushort(number) => Some(u64::from(number)),
            Value::Uint(number) => Some(u64::from(number)),
            Value::Ulong(number) => Some(number),
            Value::Int(number) => u64::try_from(number).ok(),
            Value::Long(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    /// The text of a string or symbol.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Value::Text(text) | Value::Symbol(text) => Some(text),
            _ => None,
        }
    }

    /// Whether it is true.
    pub(crate) fn is_true(&self) -> bool {
        *self == Value::Bool(true)
    }

    /// The number of a composite and its fields. Kinds may also be named; those that are used here
    /// have numbers that their names stand for.
    pub(crate) fn as_composite(&self) -> Option<(u64, &[Value])> {
        let Value::Described(parts) = self else { return None };
        let code = match &parts.0 {
            Value::Symbol(name) => {
                NAMES.iter().find(|(known, _)| known == name).map(|(_, code)| *code)?
            }
            other => other.number()?,
        };
        match &parts.1 {
            Value::List(fields) => Some((code, fields)),
            _ => Some((code, &[])),
        }
    }

    /// Symbols of a field that takes one or several.
    pub(crate) fn symbols(&self) -> Vec<&str> {
        match self {
            Value::Array(all) | Value::List(all) => all.iter().filter_map(Value::text).collect(),
            one => one.text().into_iter().collect(),
        }
    }
}

/// Names of kinds that peers may write for their numbers.
const NAMES: &[(&str, u64)] = &[
    ("amqp:accepted:list", 0x24),
    ("amqp:rejected:list", 0x25),
    ("amqp:released:list", 0x26),
    ("amqp:modified:list", 0x27),
    ("amqp:source:list", 0x28),
    ("amqp:target:list", 0x29),
    ("amqp:coordinator:list", 0x30),
    ("amqp:declare:list", 0x31),
    ("amqp:discharge:list", 0x32),
    ("amqp:transactional-state:list", 0x34),
];

/// A field of a list; null where the list is shorter.
pub(crate) fn field(fields: &[Value], at: usize) -> &Value {
    fields.get(at).unwrap_or(&Value::Null)
}

/// Reads values from bytes.
pub(crate) struct Reader<'b> {
    pub(crate) bytes: &'b [u8],
    /// How many values may come of them.
    values: usize,
}

impl<'b> Reader<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Reader<'b> {
        Reader { bytes, values: bytes.len().min(VALUES_MAX) + NOTHINGS_MAX }
    }

    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        self.bytes = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.array::<1>()?[0])
    }

    fn size(&mut self, wide: bool) -> Option<usize> {
        match wide {
            true => usize::try_from(u32::from_be_bytes(self.array()?)).ok(),
            false => Some(usize::from(self.u8()?)),
        }
    }

    /// The next value; `None` if the bytes are none.
    pub(crate) fn value(&mut self) -> Option<Value> {
        self.nested(NESTING_MAX)
    }

    fn nested(&mut self, left: usize) -> Option<Value> {
        let left = left.checked_sub(1)?;
        match self.u8()? {
            0x00 => {
                let descriptor = self.nested(left)?;
                let value = self.nested(left)?;
                Some(Value::Described(Box::new((descriptor, value))))
            }
            code => self.coded(code, left),
        }
    }

    fn coded(&mut self, code: u8, left: usize) -> Option<Value> {
        self.values = self.values.checked_sub(1)?;
        Some(match code {
            0x40 => Value::Null,
            0x41 => Value::Bool(true),
            0x42 => Value::Bool(false),
            0x56 => Value::Bool(self.u8()? != 0),
            0x43 => Value::Uint(0),
            0x52 => Value::Uint(u32::from(self.u8()?)),
            0x70 => Value::Uint(u32::from_be_bytes(self.array()?)),
            0x44 => Value::Ulong(0),
            0x53 => Value::Ulong(u64::from(self.u8()?)),
            0x80 => Value::Ulong(u64::from_be_bytes(self.array()?)),
            0x50 => Value::Ubyte(self.u8()?),
            0x60 => Value::Ushort(u16::from_be_bytes(self.array()?)),
            0x51 => Value::Byte(i8::from_be_bytes(self.array()?)),
            0x61 => Value::Short(i16::from_be_bytes(self.array()?)),
            0x54 => Value::Int(i32::from(i8::from_be_bytes(self.array()?))),
            0x71 => Value::Int(i32::from_be_bytes(self.array()?)),
            0x55 => Value::Long(i64::from(i8::from_be_bytes(self.array()?))),
            0x81 => Value::Long(i64::from_be_bytes(self.array()?)),
            0x72 => Value::Float(f32::from_be_bytes(self.array()?)),
            0x82 => Value::Double(f64::from_be_bytes(self.array()?)),
            0x73 => Value::Char(u32::from_be_bytes(self.array()?)),
            0x83 => Value::Timestamp(i64::from_be_bytes(self.array()?)),
            0x98 => Value::Uuid(self.array()?),
            0x74 => Value::Decimal(code, self.take(4)?.to_vec()),
            0x84 => Value::Decimal(code, self.take(8)?.to_vec()),
            0x94 => Value::Decimal(code, self.take(16)?.to_vec()),
            0xa0 | 0xb0 => {
                let size = self.size(code == 0xb0)?;
                Value::Binary(self.take(size)?.to_vec())
            }
            0xa1 | 0xb1 => Value::Text(self.text(code == 0xb1)?),
            0xa3 | 0xb3 => Value::Symbol(self.text(code == 0xb3)?),
            0x45 => Value::List(Vec::new()),
            0xc0 | 0xd0 | 0xc1 | 0xd1 | 0xe0 | 0xf0 => return self.compound(code, left),
            _ => return None,
        })
    }

    fn text(&mut self, wide: bool) -> Option<String> {
        let size = self.size(wide)?;
        String::from_utf8(self.take(size)?.to_vec()).ok()
    }

    fn compound(&mut self, code: u8, left: usize) -> Option<Value> {
        let wide = code & 0x10 != 0;
        let size = self.size(wide)?;
        let mut inner = Reader { bytes: self.take(size)?, values: self.values };
        let value = inner.elements(code, wide, left)?;
        self.values = inner.values;
        inner.bytes.is_empty().then_some(value)
    }

    /// What is in a list, a map, or an array.
    fn elements(&mut self, code: u8, wide: bool, left: usize) -> Option<Value> {
        let count = self.size(wide)?;
        if code & 0xf0 >= 0xe0 {
            return self.array_of(count, left);
        }
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(self.nested(left)?);
        }
        if code & 0x0f == 0 {
            return Some(Value::List(all));
        }
        let mut pairs = Vec::new();
        let mut all = all.into_iter();
        while let Some(key) = all.next() {
            pairs.push((key, all.next()?));
        }
        Some(Value::Map(pairs))
    }

    fn array_of(&mut self, count: usize, left: usize) -> Option<Value> {
        let (descriptor, kind) = match self.u8()? {
            0x00 => (Some(self.nested(left)?), self.u8()?),
            kind => (None, kind),
        };
        // Each element has it: one that is long would be there as often as they are.
        let is_short = |value: &Value| match value {
            Value::Symbol(name) => name.len() <= DESCRIPTOR_BYTES_MAX,
            value => value.number().is_some(),
        };
        let can_be = count <= self.bytes.len().max(NOTHINGS_MAX);
        if !can_be || !descriptor.as_ref().is_none_or(is_short) {
            return None;
        }
        let left = left.checked_sub(1)?;
        let mut all = Vec::new();
        for _ in 0..count {
            let value = self.coded(kind, left)?;
            all.push(match &descriptor {
                Some(descriptor) => Value::Described(Box::new((descriptor.clone(), value))),
                None => value,
            });
        }
        Some(Value::Array(all))
    }
}

/// Writes a value behind `bytes`.
pub(crate) fn write(value: &Value, bytes: &mut Vec<u8>) {
    match value {
        Value::Null => bytes.push(0x40),
        Value::Bool(true) => bytes.push(0x41),
        Value::Bool(false) => bytes.push(0x42),
        Value::Ubyte(number) => bytes.extend([0x50, *number]),
        Value::Ushort(number) => fixed(0x60, &number.to_be_bytes(), bytes),
        Value::Uint(number) => fixed(0x70, &number.to_be_bytes(), bytes),
        Value::Ulong(number) => match u8::try_from(*number) {
            Ok(small) => bytes.extend([0x53, small]),
            Err(_) => fixed(0x80, &number.to_be_bytes(), bytes),
        },
        Value::Byte(number) => fixed(0x51, &number.to_be_bytes(), bytes),
        Value::Short(number) => fixed(0x61, &number.to_be_bytes(), bytes),
        Value::Int(number) => fixed(0x71, &number.to_be_bytes(), bytes),
        Value::Long(number) => fixed(0x81, &number.to_be_bytes(), bytes),
        Value::Float(number) => fixed(0x72, &number.to_be_bytes(), bytes),
        Value::Double(number) => fixed(0x82, &number.to_be_bytes(), bytes),
        Value::Char(number) => fixed(0x73, &number.to_be_bytes(), bytes),
        Value::Timestamp(number) => fixed(0x83, &number.to_be_bytes(), bytes),
        Value::Uuid(uuid) => fixed(0x98, uuid, bytes),
        Value::Decimal(code, digits) => fixed(*code, digits, bytes),
        Value::Binary(binary) => sized(0xa0, binary, bytes),
        Value::Text(text) => sized(0xa1, text.as_bytes(), bytes),
        Value::Symbol(text) => sized(0xa3, text.as_bytes(), bytes),
        Value::List(all) => {
            let mut body = Vec::new();
            all.iter().for_each(|one| write(one, &mut body));
            counted(0xd0, all.len(), &body, bytes);
        }
        Value::Map(pairs) => {
            let mut body = Vec::new();
            for (key, value) in pairs {
                write(key, &mut body);
                write(value, &mut body);
            }
            counted(0xd1, pairs.len() * 2, &body, bytes);
        }
        Value::Array(all) => array(all, bytes),
        Value::Described(parts) => {
            bytes.push(0x00);
            write(&parts.0, bytes);
            write(&parts.1, bytes);
        }
    }
}

fn fixed(code: u8, body: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(code);
    bytes.extend_from_slice(body);
}

fn sized(code: u8, body: &[u8], bytes: &mut Vec<u8>) {
    match u8::try_from(body.len()) {
        Ok(size) => bytes.extend([code, size]),
        Err(_) => {
            bytes.push(code | 0x10);
            bytes.extend_from_slice(&size_of(body.len()).to_be_bytes());
        }
    }
    bytes.extend_from_slice(body);
}

fn size_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn counted(code: u8, count: usize, body: &[u8], bytes: &mut Vec<u8>) {
    bytes.push(code);
    bytes.extend_from_slice(&size_of(body.len() + 4).to_be_bytes());
    bytes.extend_from_slice(&size_of(count).to_be_bytes());
    bytes.extend_from_slice(body);
}

/// Arrays here are arrays of symbols; others become lists, which every peer takes as well.
fn array(all: &[Value], bytes: &mut Vec<u8>) {
    let symbols: Option<Vec<&str>> = all
        .iter()
        .map(|one| if let Value::Symbol(text) = one { Some(&**text) } else { None })
        .collect();
    let Some(symbols) = symbols else { return write(&Value::List(all.to_vec()), bytes) };
    let mut body = vec![0xb3];
    for symbol in &symbols {
        body.extend_from_slice(&size_of(symbol.len()).to_be_bytes());
        body.extend_from_slice(symbol.as_bytes());
    }
    counted(0xf0, symbols.len(), &body, bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn again(value: &Value) -> Value {
        let mut bytes = Vec::new();
        write(value, &mut bytes);
        let mut reader = Reader::new(&bytes);
        let read = reader.value().expect("what was written is a value");
        assert!(reader.bytes.is_empty());
        read
    }

    #[test]
    fn every_kind_of_value_comes_back() {
        let long = "x".repeat(300);
        let values = vec![
            Value::Null,
            Value::Bool(true),
            Value::Ubyte(7),
            Value::Ushort(700),
            Value::Uint(70_000),
            Value::Ulong(3),
            Value::Ulong(1 << 40),
            Value::Byte(-1),
            Value::Short(-300),
            Value::Int(-70_000),
            Value::Long(-1 << 40),
            Value::Float(1.5),
            Value::Double(-2.5),
            Value::Char(0x1F600),
            Value::Timestamp(1_700_000_000_000),
            Value::Uuid([9; 16]),
            Value::Decimal(0x94, vec![1; 16]),
            Value::Binary(vec![1, 2, 3]),
            Value::Text(long.clone()),
            Value::Symbol(long),
            Value::Map(vec![(Value::symbol("k"), Value::List(vec![Value::Null]))]),
            Value::Array(vec![Value::symbol("a"), Value::symbol("bb")]),
            Value::composite(0x24, vec![]),
        ];
        for value in &values {
            assert_eq!(&again(value), value);
        }
        let all = Value::List(values);
        assert_eq!(again(&all), all);
    }

    #[test]
    fn short_forms_are_read() {
        let read = |bytes: &[u8]| Reader::new(bytes).value();
        assert_eq!(read(&[0x43]), Some(Value::Uint(0)));
        assert_eq!(read(&[0x44]), Some(Value::Ulong(0)));
        assert_eq!(read(&[0x54, 0xFF]), Some(Value::Int(-1)));
        assert_eq!(read(&[0x45]), Some(Value::List(vec![])));
        assert_eq!(read(&[0xc0, 2, 1, 0x40]), Some(Value::List(vec![Value::Null])));
        let two = Value::Array(vec![Value::symbol("a"), Value::symbol("b")]);
        assert_eq!(read(&[0xe0, 6, 2, 0xa3, 1, b'a', 1, b'b']), Some(two));
    }

    #[test]
    fn what_lies_about_its_length_is_no_value() {
        let read = |bytes: &[u8]| Reader::new(bytes).value();
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[0xa1, 5, b'a']), None);
        assert_eq!(read(&[0xb1, 0xFF, 0xFF, 0xFF, 0xFF]), None);
        assert_eq!(read(&[0xd0, 0, 0, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF]), None);
        assert_eq!(read(&[0xf0, 0, 0, 0, 5, 0xFF, 0xFF, 0xFF, 0xFF, 0x40]), None);
        assert_eq!(read(&[0xff]), None);
        assert_eq!(read(&vec![0x00; 100_000]), None);
    }

    #[test]
    fn an_array_of_nothing_has_few_elements_and_no_bytes_behind_them() {
        let read = |bytes: &[u8]| Reader::new(bytes).value();
        for kind in [0x40, 0x41, 0x42, 0x43, 0x44, 0x45] {
            assert_eq!(read(&[0xf0, 0, 0, 0, 6, 0xFF, 0xFF, 0xFF, 0xFF, kind, 0]), None);
            assert_eq!(read(&[0xf0, 0, 0, 0, 6, 0, 0, 0, 2, kind, 0]), None);
        }
        let three = Value::Array(vec![Value::Null; 3]);
        assert_eq!(read(&[0xe0, 2, 3, 0x40]), Some(three));
        // Many small arrays of nothing are not more than one.
        let mut many = Vec::new();
        (0..100).for_each(|_| many.extend([0xe0, 2, 0xFF, 0x40]));
        let mut list = Vec::new();
        counted(0xd0, 100, &many, &mut list);
        assert_eq!(read(&list), None);
    }

    #[test]
    fn what_describes_elements_of_an_array_is_a_number_or_short() {
        let array = |descriptor: &Value| {
            let mut body = vec![0x00];
            write(descriptor, &mut body);
            body.extend([0x50, 7, 8]);
            let mut bytes = Vec::new();
            counted(0xf0, 2, &body, &mut bytes);
            Reader::new(&bytes).value()
        };
        let described =
            |of: &Value, number| Value::Described(Box::new((of.clone(), Value::Ubyte(number))));
        for short in [Value::Ulong(9), Value::symbol("a:b")] {
            let two = vec![described(&short, 7), described(&short, 8)];
            assert_eq!(array(&short), Some(Value::Array(two)));
        }
        assert_eq!(array(&Value::Symbol("x".repeat(65))), None);
        assert_eq!(array(&Value::List(vec![Value::Null; 3])), None);
    }

    #[test]
    fn a_value_is_not_of_more_values_than_any_may_be() {
        let list = |count: usize| {
            let mut bytes = Vec::new();
            counted(0xd0, count, &vec![0x40; count], &mut bytes);
            Reader::new(&bytes).value().is_some()
        };
        assert!(list(VALUES_MAX - 1) && !list(VALUES_MAX + NOTHINGS_MAX));
    }
}
