//! Message data from one code page to another.
//!
//! 1. Only text is converted (format `MQSTR`), behind a header of properties, too.
//! 2. What cannot be converted stays as it is, and the getter is told.

use codec::CodePage;

use crate::descriptor::{MessageDescriptor, value};
use crate::properties;
use crate::reason::Reason;

enum Page {
    Utf8,
    Single(CodePage),
}

fn page(ccsid: i32) -> Option<Page> {
    match ccsid {
        1_208 => Some(Page::Utf8),
        number => CodePage::named(&number.to_string()).map(Page::Single),
    }
}

/// Converts `data` to the code page that a getter wants. Answers a remark if it could not.
pub(crate) fn convert(
    descriptor: &mut MessageDescriptor,
    data: &mut Vec<u8>,
    wanted: i32,
) -> Option<Reason> {
    let split = properties::split(descriptor, data).ok().flatten();
    let (format, source, at) = match &split {
        Some(split) => (split.format, split.ccsid, split.data_at),
        None => (descriptor.format, descriptor.ccsid, 0),
    };
    if format == value::format::NONE || (source == wanted && at == 0) {
        // Bytes without a format are nobody's characters.
        return (format == value::format::NONE && at == 0).then_some(Reason::FORMAT_ERROR);
    }
    if format != value::format::STRING {
        return Some(Reason::NOT_CONVERTED);
    }
    if source == wanted {
        return None;
    }
    let Some(from) = page(source) else { return Some(Reason::SOURCE_CCSID_ERROR) };
    let Some(to) = page(wanted) else { return Some(Reason::TARGET_CCSID_ERROR) };
    let bytes = &data[at..];
    let text = match from {
        Page::Utf8 => match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(_) => return Some(Reason::NOT_CONVERTED),
        },
        Page::Single(page) => page.decode(bytes),
    };
    let converted = match to {
        Page::Utf8 => text.into_bytes(),
        Page::Single(page) => match page.encode(&text) {
            Ok(bytes) => bytes,
            Err(_) => return Some(Reason::NOT_CONVERTED),
        },
    };
    data.truncate(at);
    data.extend_from_slice(&converted);
    if split.is_some() {
        data[16..20].copy_from_slice(&wanted.to_le_bytes());
    } else {
        descriptor.ccsid = wanted;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ccsid: i32, format: [u8; 8]) -> MessageDescriptor {
        MessageDescriptor { ccsid, format, ..Default::default() }
    }

    #[test]
    fn text_goes_from_page_to_page() {
        let mut descriptor = of(1_208, value::format::STRING);
        let mut data = "Grüße".as_bytes().to_vec();
        assert_eq!(convert(&mut descriptor, &mut data, 273), None);
        assert_eq!((descriptor.ccsid, data.len()), (273, 5));
        assert_eq!(convert(&mut descriptor, &mut data, 1_208), None);
        assert_eq!(data, "Grüße".as_bytes());
    }

    #[test]
    fn what_cannot_be_converted_stays() {
        for (ccsid, wanted, format, expected) in [
            (1_208, 37, *b"MYFORMAT", Reason::NOT_CONVERTED),
            (9_999, 37, value::format::STRING, Reason::SOURCE_CCSID_ERROR),
            (1_208, 9_999, value::format::STRING, Reason::TARGET_CCSID_ERROR),
            (1_208, 819, value::format::STRING, Reason::NOT_CONVERTED),
            (1_208, 37, value::format::NONE, Reason::FORMAT_ERROR),
        ] {
            let mut descriptor = of(ccsid, format);
            let mut data = "10 €".as_bytes().to_vec();
            let remark = convert(&mut descriptor, &mut data, wanted);
            assert_eq!((remark, descriptor.ccsid), (Some(expected), ccsid));
            assert_eq!(data, "10 €".as_bytes());
        }
    }
}
