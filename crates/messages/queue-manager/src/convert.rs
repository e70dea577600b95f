//! Message data from one code page to another.
//!
//! 1. Only text is converted (format `MQSTR`), behind a header of properties, too.
//! 2. What cannot be converted stays as it is, and the getter is told.
//! 3. Nothing is to be done for data that are in the form that is asked for, whatever they are.

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
    if source == wanted {
        return None;
    }
    match format {
        value::format::STRING => {}
        // Bytes without a format are nobody's characters.
        value::format::NONE => return split.is_none().then_some(Reason::FORMAT_ERROR),
        _ => return Some(Reason::NOT_CONVERTED),
    }
    match text(&data[at..], source.ccsid, wanted.ccsid) {
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
            (1_208, 37, *b"MYFORMAT", Reason::NOT_CONVERTED),
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
