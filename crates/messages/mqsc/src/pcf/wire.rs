//! Command messages as bytes: a header and its parameters.
//!
//! All are 4-byte numbers in the order of bytes that the message's encoding names.
//!
//! | header, 36 bytes | |
//! |---|---|
//! | 0, 4, 8 | type; length, 36; version |
//! | 12, 16, 20 | command; number in sequence; whether it is the last |
//! | 24, 28, 32 | completion code; reason; how many parameters follow |
//!
//! | parameter | type | behind type, length, identifier |
//! |---|---|---|
//! | integer | 3 | value |
//! | string | 4 | code page, length, text, padded to 4 |
//! | integers | 5 | how many, values |
//! | strings | 6 | code page, how many, length of each, texts, padded to 4 |
//! | bytes | 9 | length, bytes, padded to 4 |
//! | integer filter | 13 | operator, value |
//! | string filter | 14 | operator, code page, length, text, padded to 4 |
//! | group | 20 | how many of the parameters behind it belong to it |
//! | 64-bit integer | 23 | reserved, 8 bytes |
//!
//! 1. Lengths are believed only as far as there are bytes; nothing is reserved by a count.
//! 2. What is written can be read, and is the same then.

/// The length of a header.
pub const HEADER_BYTES: usize = 36;
const PARAMETERS_MAX: usize = 10_000;

/// The order of bytes in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The least byte first.
    Little,
    /// The greatest byte first.
    Big,
}

/// The header of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What it is: 1 a command, 2 an answer, 16 a command whose answers may be extended.
    pub kind: i32,
    /// The version of the header.
    pub version: i32,
    /// The command.
    pub command: i32,
    /// Its number among the messages of one answer, from 1.
    pub sequence: i32,
    /// Whether no other follows.
    pub last: bool,
    /// How the command ended.
    pub completion: i32,
    /// Why it did so.
    pub reason: i32,
}

/// What a parameter says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the table above says it
pub enum Content {
    Integer(i32),
    Text(String),
    Integers(Vec<i32>),
    Texts(Vec<String>),
    Bytes(Vec<u8>),
    IntegerFilter(i32, i32),
    TextFilter(i32, String),
    Group(usize),
    Long(i64),
}

/// A parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// What it is about.
    pub id: i32,
    /// What it says.
    pub content: Content,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its header.
    pub header: Header,
    /// Its parameters, those of groups behind their group.
    pub parameters: Vec<Parameter>,
}

/// Reason codes of messages that are not as they must be.
pub mod malformed {
    #![allow(missing_docs)] // the names say it
    pub const TYPE: i32 = 3001;
    pub const LENGTH: i32 = 3002;
    pub const VERSION: i32 = 3003;
    pub const COUNT: i32 = 3006;
    pub const INTEGER_LENGTH: i32 = 3009;
    pub const STRING_LENGTH: i32 = 3010;
    pub const STRUCTURE: i32 = 3013;
    pub const MESSAGE_LENGTH: i32 = 3016;
    pub const INTEGERS_LENGTH: i32 = 3028;
    pub const STRINGS_LENGTH: i32 = 3024;
}

struct Reader<'b> {
    bytes: &'b [u8],
    order: Order,
}

impl<'b> Reader<'b> {
    fn number(&mut self) -> Option<i32> {
        let (four, rest) = self.bytes.split_first_chunk::<4>()?;
        self.bytes = rest;
        Some(match self.order {
            Order::Little => i32::from_le_bytes(*four),
            Order::Big => i32::from_be_bytes(*four),
        })
    }

    fn take(&mut self, length: i32) -> Option<&'b [u8]> {
        let length = usize::try_from(length).ok()?;
        let (taken, rest) = self.bytes.split_at_checked(length)?;
        self.bytes = rest;
        Some(taken)
    }

    fn text(&mut self, length: i32) -> Option<String> {
        let bytes = self.take(length)?;
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        Some(String::from_utf8_lossy(&bytes[..end]).trim_end_matches(' ').to_owned())
    }
}

/// Reads a message.
///
/// # Errors
/// The reason code that says what is wrong with it.
pub fn read(bytes: &[u8], order: Order) -> Result<Message, i32> {
    let mut reader = Reader { bytes, order };
    let mut next = || reader.number().ok_or(malformed::MESSAGE_LENGTH);
    let (kind, length, version) = (next()?, next()?, next()?);
    let (command, sequence, control) = (next()?, next()?, next()?);
    let (completion, reason, count) = (next()?, next()?, next()?);
    match (kind, length, version) {
        (1 | 2 | 16, 36, 1..=3) => {}
        (1 | 2 | 16, 36, _) => return Err(malformed::VERSION),
        (1 | 2 | 16, ..) => return Err(malformed::LENGTH),
        _ => return Err(malformed::TYPE),
    }
    let header =
        Header { kind, version, command, sequence, last: control == 1, completion, reason };
    let count = usize::try_from(count).map_err(|_| malformed::COUNT)?;
    if count > PARAMETERS_MAX {
        return Err(malformed::COUNT);
    }
    let (mut parameters, mut left) = (Vec::new(), count);
    while left > 0 {
        let parameter = parameter(&mut reader)?;
        left -= 1;
        if let Content::Group(inner) = parameter.content {
            left = left.saturating_add(inner);
        }
        if parameters.len() == PARAMETERS_MAX {
            return Err(malformed::COUNT);
        }
        parameters.push(parameter);
    }
    if !reader.bytes.is_empty() {
        return Err(malformed::MESSAGE_LENGTH);
    }
    Ok(Message { header, parameters })
}

fn parameter(reader: &mut Reader<'_>) -> Result<Parameter, i32> {
    let kind = reader.number().ok_or(malformed::COUNT)?;
    let length = reader.number().ok_or(malformed::STRUCTURE)?;
    let wrong = match kind {
        3 | 13 => malformed::INTEGER_LENGTH,
        5 => malformed::INTEGERS_LENGTH,
        6 => malformed::STRINGS_LENGTH,
        4 | 9 | 14 => malformed::STRING_LENGTH,
        _ => malformed::STRUCTURE,
    };
    let body = reader.take(length.checked_sub(8).ok_or(wrong)?).ok_or(wrong)?;
    let mut body = Reader { bytes: body, order: reader.order };
    let id = body.number().ok_or(wrong)?;
    let content = content(kind, &mut body).ok_or(wrong)?;
    Ok(Parameter { id, content })
}

fn content(kind: i32, body: &mut Reader<'_>) -> Option<Content> {
    let read = match kind {
        3 => Content::Integer(body.number()?),
        4 => {
            let _code_page = body.number()?;
            let length = body.number()?;
            Content::Text(body.text(length)?)
        }
        5 => {
            let count = body.number()?;
            let mut all = Vec::new();
            for _ in 0..count {
                all.push(body.number()?);
            }
            Content::Integers(all)
        }
        6 => {
            let _code_page = body.number()?;
            let (count, length) = (body.number()?, body.number()?);
            let mut all = Vec::new();
            for _ in 0..count.min(i32::try_from(PARAMETERS_MAX).unwrap_or(0)) {
                all.push(body.text(length)?);
            }
            Content::Texts(all)
        }
        9 => {
            let length = body.number()?;
            Content::Bytes(body.take(length)?.to_vec())
        }
        13 => Content::IntegerFilter(body.number()?, body.number()?),
        14 => {
            let (operator, _code_page, length) = (body.number()?, body.number()?, body.number()?);
            Content::TextFilter(operator, body.text(length)?)
        }
        20 => Content::Group(usize::try_from(body.number()?).ok()?),
        23 => {
            let _reserved = body.number()?;
            let eight = <[u8; 8]>::try_from(body.take(8)?).ok()?;
            Content::Long(match body.order {
                Order::Little => i64::from_le_bytes(eight),
                Order::Big => i64::from_be_bytes(eight),
            })
        }
        _ => return None,
    };
    Some(read)
}

struct Writer {
    bytes: Vec<u8>,
    order: Order,
}

impl Writer {
    fn number(&mut self, number: i32) {
        self.bytes.extend_from_slice(&match self.order {
            Order::Little => number.to_le_bytes(),
            Order::Big => number.to_be_bytes(),
        });
    }

    fn length(&mut self, length: usize) {
        self.number(i32::try_from(length).unwrap_or(i32::MAX));
    }

    fn padded(&mut self, bytes: &[u8], to: usize, with: u8) {
        self.bytes.extend_from_slice(bytes);
        self.bytes.resize(self.bytes.len() + to.saturating_sub(bytes.len()), with);
    }
}

/// Writes a message.
pub fn write(message: &Message, order: Order) -> Vec<u8> {
    let mut writer = Writer { bytes: Vec::new(), order };
    let header = &message.header;
    writer.number(header.kind);
    writer.length(HEADER_BYTES);
    for number in [header.version, header.command, header.sequence, i32::from(header.last)] {
        writer.number(number);
    }
    writer.number(header.completion);
    writer.number(header.reason);
    // Parameters of a group are not counted beside their group.
    let grouped: usize = message
        .parameters
        .iter()
        .map(|one| if let Content::Group(inner) = one.content { inner } else { 0 })
        .sum();
    writer.length(message.parameters.len().saturating_sub(grouped));
    for parameter in &message.parameters {
        write_parameter(&mut writer, parameter);
    }
    writer.bytes
}

/// Letters in UTF-8.
const CODE_PAGE: i32 = 1208;

fn write_parameter(writer: &mut Writer, parameter: &Parameter) {
    let mut body = Writer { bytes: Vec::new(), order: writer.order };
    body.number(parameter.id);
    let kind = match &parameter.content {
        Content::Integer(value) => {
            body.number(*value);
            3
        }
        Content::Text(text) => {
            body.number(CODE_PAGE);
            body.length(text.len());
            body.padded(text.as_bytes(), text.len().next_multiple_of(4), b' ');
            4
        }
        Content::Integers(all) => {
            body.length(all.len());
            all.iter().for_each(|value| body.number(*value));
            5
        }
        Content::Texts(all) => {
            let length = all.iter().map(String::len).max().unwrap_or(0);
            body.number(CODE_PAGE);
            body.length(all.len());
            body.length(length);
            all.iter().for_each(|text| body.padded(text.as_bytes(), length, b' '));
            let end = body.bytes.len().next_multiple_of(4);
            body.bytes.resize(end, b' ');
            6
        }
        Content::Bytes(bytes) => {
            body.length(bytes.len());
            body.padded(bytes, bytes.len().next_multiple_of(4), 0);
            9
        }
        Content::IntegerFilter(operator, value) => {
            body.number(*operator);
            body.number(*value);
            13
        }
        Content::TextFilter(operator, text) => {
            body.number(*operator);
            body.number(CODE_PAGE);
            body.length(text.len());
            body.padded(text.as_bytes(), text.len().next_multiple_of(4), b' ');
            14
        }
        Content::Group(inner) => {
            body.length(*inner);
            20
        }
        Content::Long(value) => {
            body.number(0);
            body.bytes.extend_from_slice(&match body.order {
                Order::Little => value.to_le_bytes(),
                Order::Big => value.to_be_bytes(),
            });
            23
        }
    };
    writer.number(kind);
    writer.length(body.bytes.len() + 8);
    writer.bytes.extend_from_slice(&body.bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header() -> Header {
        Header {
            kind: 1,
            version: 1,
            command: 13,
            sequence: 1,
            last: true,
            completion: 0,
            reason: 0,
        }
    }

    #[test]
    fn every_parameter_comes_back_in_both_orders() {
        let contents = vec![
            Content::Integer(-7),
            Content::Text("Q.1".into()),
            Content::Integers(vec![1, 2, 3]),
            Content::Texts(vec!["A".into(), "LONGER".into()]),
            Content::Bytes(vec![1, 2, 3, 4, 5]),
            Content::IntegerFilter(4, 100),
            Content::TextFilter(18, "SYS*".into()),
            Content::Group(1),
            Content::Long(1 << 40),
        ];
        let parameters =
            contents.into_iter().zip(100..).map(|(content, id)| Parameter { id, content });
        let message = Message { header: header(), parameters: parameters.collect() };
        for order in [Order::Little, Order::Big] {
            assert_eq!(read(&write(&message, order), order).as_ref(), Ok(&message));
        }
    }

    #[test]
    fn a_string_stands_where_the_layout_says() {
        let parameters = vec![Parameter { id: 2016, content: Content::Text("ABCDE".into()) }];
        let bytes = write(&Message { header: header(), parameters }, Order::Big);
        assert_eq!(bytes.len(), 36 + 28);
        assert_eq!(bytes[36..44], [0, 0, 0, 4, 0, 0, 0, 28]);
        assert_eq!(bytes[44..48], 2016_i32.to_be_bytes());
        assert_eq!(bytes[52..56], [0, 0, 0, 5]);
        assert_eq!(&bytes[56..64], b"ABCDE   ");
    }

    #[test]
    fn what_is_cut_or_lies_is_refused() {
        let parameters = vec![Parameter { id: 2016, content: Content::Text("ABCDE".into()) }];
        let whole = write(&Message { header: header(), parameters }, Order::Little);
        for end in 0..whole.len() {
            assert!(read(&whole[..end], Order::Little).is_err(), "cut at {end}");
        }
        assert_eq!(read(&whole, Order::Big), Err(malformed::TYPE));
        let mut lies = whole.clone();
        lies[32] = 200;
        assert!(read(&lies, Order::Little).is_err());
        let mut negative = whole;
        negative[40..44].copy_from_slice(&(-4_i32).to_le_bytes());
        assert!(read(&negative, Order::Little).is_err());
    }
}
