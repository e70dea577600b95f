//! Message data from one code page to another.
//!
//! | format | |
//! |---|---|
//! | `MQSTR` | text |
//! | `MQDEAD`, `MQHMDE` | a header of numbers and names, then data of the format that it says |
//! | `MQTRIG` | numbers and names |
//! | blank | nobody knows: `FORMAT_ERROR`; behind a header it stays as it is |
//! | others that begin with `MQ` | there is a rule, but not here: `NOT_CONVERTED` |
//! | others | a program's own, whose rule nobody has told: `FORMAT_ERROR` |
//!
//! 1. Headers of properties stand in front of any of these.
//! 2. What cannot be converted stays as it is, all of it, and the getter is told.
//! 3. Nothing is to be done for data that are in the form that is asked for, whatever they are.
//! 4. A header says of what follows it in which form that is, before and after.

use codec::CodePage;

use crate::descriptor::{MessageDescriptor, value};
use crate::properties;
use crate::reason::Reason;

/// What characters and numbers of data are written in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    ccsid: i32,
    encoding: i32,
}

impl Form {
    /// What a getter asks for in its descriptor; 0 stands for the queue manager's own.
    pub(crate) fn asked(by: &MessageDescriptor, own_ccsid: i32) -> Form {
        let ccsid = if by.ccsid > value::ccsid::Q_MGR { by.ccsid } else { own_ccsid };
        let encoding = if by.encoding == 0 { value::ENCODING_NATIVE } else { by.encoding };
        Form { ccsid, encoding }
    }
}

enum Page {
    Utf8,
    Single(CodePage),
}

impl Page {
    fn of(ccsid: i32) -> Option<Page> {
        match ccsid {
            1_208 => Some(Page::Utf8),
            number => CodePage::named(&number.to_string()).map(Page::Single),
        }
    }

    fn decode(&self, bytes: &[u8]) -> Option<String> {
        match self {
            Page::Utf8 => std::str::from_utf8(bytes).ok().map(str::to_owned),
            Page::Single(CodePage::Ascii) if !bytes.is_ascii() => None,
            Page::Single(page) => Some(page.decode(bytes)),
        }
    }

    fn encode(&self, text: String) -> Option<Vec<u8>> {
        match self {
            Page::Utf8 => Some(text.into_bytes()),
            Page::Single(page) => page.encode(&text).ok(),
        }
    }
}

/// The blank of a code page.
#[must_use]
pub fn blank(ccsid: i32) -> u8 {
    match Page::of(ccsid) {
        Some(Page::Single(page)) => page.blank(),
        _ => b' ',
    }
}

/// Text of a code page in another one.
///
/// # Errors
/// `SOURCE_CCSID_ERROR` or `TARGET_CCSID_ERROR` for a page that is not known; `NOT_CONVERTED` if
/// the bytes are no text of the one, or a character is not in the other.
pub fn text(bytes: &[u8], from: i32, to: i32) -> Result<Vec<u8>, Reason> {
    if from == to {
        return Ok(bytes.to_vec());
    }
    let source = Page::of(from).ok_or(Reason::SOURCE_CCSID_ERROR)?;
    let target = Page::of(to).ok_or(Reason::TARGET_CCSID_ERROR)?;
    let text = source.decode(bytes).ok_or(Reason::NOT_CONVERTED)?;
    target.encode(text).ok_or(Reason::NOT_CONVERTED)
}

/// A header that numbers and characters stand in; everything else in it is bytes.
struct Layout {
    len: usize,
    numbers: &'static [usize],
    texts: &'static [(usize, usize)],
    /// Where encoding, code page and format of what follows stand.
    next: Option<(usize, usize, usize)>,
}

const DEAD_LETTER: Layout = Layout {
    len: 172,
    numbers: &[4, 8, 108, 112, 124],
    texts: &[(0, 4), (12, 48), (60, 48), (116, 8), (128, 28), (156, 8), (164, 8)],
    next: Some((108, 112, 116)),
};
const MD_EXTENSION: Layout = Layout {
    len: 72,
    numbers: &[4, 8, 12, 16, 28, 56, 60, 64, 68],
    texts: &[(0, 4), (20, 8)],
    next: Some((12, 16, 20)),
};
const TRIGGER: Layout = Layout {
    len: 684,
    numbers: &[4, 168],
    texts: &[(0, 4), (8, 48), (56, 48), (104, 64), (172, 256), (428, 128), (556, 128)],
    next: None,
};

fn layout(format: [u8; 8]) -> Option<&'static Layout> {
    match format {
        value::format::DEAD_LETTER_HEADER => Some(&DEAD_LETTER),
        value::format::MD_EXTENSION => Some(&MD_EXTENSION),
        value::format::TRIGGER => Some(&TRIGGER),
        _ => None,
    }
}

fn is_big_endian(encoding: i32) -> Result<bool, Reason> {
    match encoding & 0xf {
        1 => Ok(true),
        2 => Ok(false),
        _ => Err(Reason::NOT_CONVERTED),
    }
}

/// The characters of a field in another code page, in as many bytes.
fn field(bytes: &[u8], from: i32, to: i32) -> Result<Vec<u8>, Reason> {
    let mut converted = text(bytes, from, to)?;
    let blank = blank(to);
    while converted.len() > bytes.len() && converted.last() == Some(&blank) {
        converted.pop();
    }
    if converted.len() > bytes.len() {
        return Err(Reason::NOT_CONVERTED);
    }
    converted.resize(bytes.len(), blank);
    Ok(converted)
}

/// A header in another form.
fn header(of: &Layout, bytes: &[u8], from: Form, to: Form) -> Result<Vec<u8>, Reason> {
    let mut out = bytes.to_vec();
    let swaps = is_big_endian(from.encoding)? != is_big_endian(to.encoding)?;
    for at in of.numbers.iter().filter(|_| swaps) {
        if let Some(number) = out.get_mut(*at..*at + 4) {
            number.reverse();
        }
    }
    for (at, len) in of.texts {
        if let Some(there) = out.get_mut(*at..*at + *len) {
            let converted = field(there, from.ccsid, to.ccsid)?;
            there.copy_from_slice(&converted);
        }
    }
    Ok(out)
}

fn number_at(header: &[u8], at: usize, encoding: i32) -> Result<i32, Reason> {
    let bytes = header.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    let bytes = bytes.ok_or(Reason::FORMAT_ERROR)?;
    Ok(if is_big_endian(encoding)? { i32::from_be_bytes(bytes) } else { i32::from_le_bytes(bytes) })
}

fn set_number(header: &mut [u8], at: usize, encoding: i32, number: i32) -> Result<(), Reason> {
    let bytes = if is_big_endian(encoding)? { number.to_be_bytes() } else { number.to_le_bytes() };
    let there = header.get_mut(at..at + 4).ok_or(Reason::FORMAT_ERROR)?;
    there.copy_from_slice(&bytes);
    Ok(())
}

/// Data of a format in another form, header by header.
fn converted(
    mut format: [u8; 8],
    mut from: Form,
    mut bytes: &[u8],
    to: Form,
) -> Result<Vec<u8>, Reason> {
    let mut out = Vec::with_capacity(bytes.len());
    loop {
        let Some(of) = layout(format) else {
            match format {
                value::format::STRING => {
                    out.extend_from_slice(&text(bytes, from.ccsid, to.ccsid)?);
                }
                // Bytes without a format are nobody's characters.
                value::format::NONE => out.extend_from_slice(bytes),
                _ if from == to => out.extend_from_slice(bytes),
                _ if format.starts_with(b"MQ") => return Err(Reason::NOT_CONVERTED),
                _ => return Err(Reason::FORMAT_ERROR),
            }
            return Ok(out);
        };
        let (own, rest) = bytes.split_at_checked(of.len).ok_or(Reason::FORMAT_ERROR)?;
        let mut changed = header(of, own, from, to)?;
        let Some((encoding_at, ccsid_at, format_at)) = of.next else {
            out.extend_from_slice(&changed);
            out.extend_from_slice(rest);
            return Ok(out);
        };
        let said = |at, known| {
            let number = number_at(own, at, from.encoding)?;
            Ok(if number > 0 { number } else { known })
        };
        let encoding: Result<i32, Reason> = said(encoding_at, from.encoding);
        let ccsid: Result<i32, Reason> = said(ccsid_at, from.ccsid);
        let next = Form { ccsid: ccsid?, encoding: encoding? };
        let named = own.get(format_at..format_at + 8).ok_or(Reason::FORMAT_ERROR)?;
        // A name of a format is known by its characters in the system's own code page.
        let named = field(named, from.ccsid, 1_208)?;
        format = named.try_into().map_err(|_| Reason::FORMAT_ERROR)?;
        if format != value::format::NONE {
            set_number(&mut changed, encoding_at, to.encoding, to.encoding)?;
            set_number(&mut changed, ccsid_at, to.encoding, to.ccsid)?;
        }
        out.extend_from_slice(&changed);
        (from, bytes) = (next, rest);
    }
}

/// Converts `data` to the form that a getter wants. Answers a remark if it could not.
pub(crate) fn convert(
    descriptor: &mut MessageDescriptor,
    data: &mut Vec<u8>,
    wanted: Form,
) -> Option<Reason> {
    let split = properties::split(descriptor, data).ok().flatten();
    let (format, source, at) = match &split {
        Some(split) => {
            (split.format, Form { ccsid: split.ccsid, encoding: split.encoding }, split.data_at)
        }
        None => {
            let MessageDescriptor { format, ccsid, encoding, .. } = *descriptor;
            (format, Form { ccsid, encoding }, 0)
        }
    };
    if source == wanted && layout(format).is_none() {
        return None;
    }
    if format == value::format::NONE {
        return split.is_none().then_some(Reason::FORMAT_ERROR);
    }
    match converted(format, source, &data[at..], wanted) {
        Ok(converted) => {
            data.truncate(at);
            data.extend_from_slice(&converted);
        }
        Err(reason) => return Some(reason),
    }
    if split.is_some() {
        properties::describe_data(descriptor, data, (wanted.ccsid, wanted.encoding));
    } else {
        (descriptor.ccsid, descriptor.encoding) = (wanted.ccsid, wanted.encoding);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ccsid: i32, format: [u8; 8]) -> MessageDescriptor {
        MessageDescriptor { ccsid, format, ..Default::default() }
    }

    fn native(ccsid: i32) -> Form {
        Form { ccsid, encoding: value::ENCODING_NATIVE }
    }

    #[test]
    fn text_goes_from_page_to_page() {
        let mut descriptor = of(1_208, value::format::STRING);
        let mut data = "Grüße".as_bytes().to_vec();
        assert_eq!(convert(&mut descriptor, &mut data, native(273)), None);
        assert_eq!((descriptor.ccsid, data.len()), (273, 5));
        assert_eq!(convert(&mut descriptor, &mut data, native(1_208)), None);
        assert_eq!(data, "Grüße".as_bytes());
    }

    #[test]
    fn what_cannot_be_converted_stays() {
        for (ccsid, wanted, format, expected) in [
            (1_208, 37, *b"MYFORMAT", Reason::FORMAT_ERROR),
            (1_208, 37, *b"MQCICS  ", Reason::NOT_CONVERTED),
            (1_208, 37, value::format::DEAD_LETTER_HEADER, Reason::FORMAT_ERROR),
            (9_999, 37, value::format::STRING, Reason::SOURCE_CCSID_ERROR),
            (1_208, 9_999, value::format::STRING, Reason::TARGET_CCSID_ERROR),
            (1_208, 819, value::format::STRING, Reason::NOT_CONVERTED),
            (367, 819, value::format::STRING, Reason::NOT_CONVERTED),
            (1_208, 37, value::format::NONE, Reason::FORMAT_ERROR),
        ] {
            let mut descriptor = of(ccsid, format);
            let mut data = "10 €".as_bytes().to_vec();
            let remark = convert(&mut descriptor, &mut data, native(wanted));
            assert_eq!((remark, descriptor.ccsid), (Some(expected), ccsid));
            assert_eq!(data, "10 €".as_bytes());
        }
    }

    /// A header before undelivered text, as another machine has it.
    fn undelivered(format: &[u8; 8], ccsid: i32, text: &[u8]) -> Vec<u8> {
        let mut data = vec![0x40; 172];
        data[..4].copy_from_slice(&[0xc4, 0xd3, 0xc8, 0x40]);
        let page = |bytes: &[u8]| super::text(bytes, 1_208, 37).unwrap();
        data[12..19].copy_from_slice(&page(b"LOST.IN"));
        data[116..124].copy_from_slice(&page(format));
        for (at, number) in [(4, 1), (8, 2_085), (108, 785), (112, ccsid), (124, 6)] {
            data[at..at + 4].copy_from_slice(&i32::to_be_bytes(number));
        }
        data.extend_from_slice(text);
        data
    }

    fn converts(data: &mut Vec<u8>, wanted: Form) -> (Option<Reason>, i32) {
        let mut descriptor = MessageDescriptor {
            ccsid: 37,
            encoding: 785,
            format: value::format::DEAD_LETTER_HEADER,
            ..MessageDescriptor::default()
        };
        let remark = convert(&mut descriptor, data, wanted);
        (remark, descriptor.ccsid)
    }

    #[test]
    fn a_header_is_converted_with_the_text_behind_it() {
        let mut data = undelivered(b"MQSTR   ", 500, &[0xc8, 0x89]);
        assert_eq!(converts(&mut data, native(1_208)), (None, 1_208));
        assert_eq!((&data[..4], &data[12..20]), (&b"DLH "[..], &b"LOST.IN "[..]));
        let number = |at: usize| i32::from_le_bytes(data[at..at + 4].try_into().unwrap());
        assert_eq!([number(4), number(8), number(108), number(112)], [1, 2_085, 546, 1_208]);
        assert_eq!((&data[116..124], &data[172..]), (&b"MQSTR   "[..], &b"Hi"[..]));
    }

    #[test]
    fn behind_a_header_bytes_stay_and_what_is_not_known_keeps_all_as_it_was() {
        let mut bytes = undelivered(b"        ", 37, &[1, 2]);
        assert_eq!(converts(&mut bytes, native(1_208)), (None, 1_208));
        assert_eq!((&bytes[112..116], &bytes[172..]), (&[37, 0, 0, 0][..], &[1, 2][..]));
        for (format, reason) in
            [(b"MYFORMAT", Reason::FORMAT_ERROR), (b"MQCICS  ", Reason::NOT_CONVERTED)]
        {
            let before = undelivered(format, 37, &[1, 2]);
            let mut data = before.clone();
            assert_eq!(converts(&mut data, native(1_208)), (Some(reason), 37));
            assert_eq!(data, before);
        }
        // One that stands in its own front again and again takes no stack.
        let mut deep = Vec::new();
        for _ in 0..5_000 {
            deep.extend_from_slice(&undelivered(b"MQDEAD  ", 37, &[]));
        }
        assert_eq!(converts(&mut deep, native(1_208)).0, Some(Reason::FORMAT_ERROR));
    }

    #[test]
    fn what_is_in_the_form_that_is_asked_for_is_whole_whatever_it_is() {
        for format in [value::format::NONE, *b"MYFORMAT", value::format::STRING] {
            for ccsid in [1_200, 1_208, 37] {
                let mut data = vec![0xff, 0xfe];
                let remark = convert(&mut of(ccsid, format), &mut data, native(ccsid));
                assert_eq!((remark, data), (None, vec![0xff, 0xfe]));
            }
        }
        // Numbers of another machine are another form; text has none.
        let other = Form { ccsid: 37, encoding: 785 };
        let mut data = vec![0xc1];
        let remark = convert(&mut of(37, value::format::NONE), &mut data, other);
        assert_eq!(remark, Some(Reason::FORMAT_ERROR));
        let mut text = of(37, value::format::STRING);
        assert_eq!(convert(&mut text, &mut data, other), None);
        assert_eq!((text.encoding, data), (785, vec![0xc1]));
    }
}
