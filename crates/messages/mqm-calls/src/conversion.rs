//! Character sets: MQXCNVC, and the conversion that a get asks for.
//!
//! Invariants:
//! 1. Text is converted or left as it is, never half of it. What cannot be converted comes with
//!    a warning, in the character set that it has.

use std::ffi::c_void;

use codec::CodePage;
use mqi::structures::{Md, Mde};
use mqi::table::Structure as _;
use queue_manager::descriptor::value::{ENCODING_NATIVE, format};
use queue_manager::{Completion, Outcome, Reason};

use crate::finish::finish;
use crate::{memory, state};

/// The character set of this machine, where 0 asks for it.
const NATIVE_CCSID: i32 = 1208;
/// How long the extension of a descriptor is.
const EXTENSION_BYTES: usize = 72;
/// Fill the target with blanks.
const FILL_TARGET_BUFFER: i32 = 8;
/// What the source stands for in numbers does not matter to single bytes.
const KNOWN_OPTIONS: i32 = 0x3_33FF;
const SOURCE_LENGTH_ERROR: Reason = Reason(2143);
const SOURCE_BUFFER_ERROR: Reason = Reason(2145);
const TARGET_LENGTH_ERROR: Reason = Reason(2144);
const TARGET_BUFFER_ERROR: Reason = Reason(2146);

/// A character set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Characters {
    /// UTF-8.
    Unicode,
    /// One character a byte.
    Page(CodePage),
    /// ISO 8859-1.
    Latin1,
    /// ASCII alone.
    Ascii,
}

impl Characters {
    fn of(ccsid: i32) -> Option<Characters> {
        match ccsid {
            0 | 1208 => Some(Characters::Unicode),
            819 => Some(Characters::Latin1),
            367 => Some(Characters::Ascii),
            other => CodePage::named(&other.to_string()).map(Characters::Page),
        }
    }

    fn decode(self, bytes: &[u8]) -> Option<String> {
        match self {
            Characters::Unicode => String::from_utf8(bytes.to_vec()).ok(),
            Characters::Page(page) => Some(page.decode(bytes)),
            Characters::Latin1 => Some(bytes.iter().map(|byte| char::from(*byte)).collect()),
            Characters::Ascii => {
                bytes.is_ascii().then(|| bytes.iter().map(|byte| char::from(*byte)).collect())
            }
        }
    }

    fn encode(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Characters::Unicode => Some(text.as_bytes().to_vec()),
            Characters::Page(page) => page.encode(text).ok(),
            Characters::Latin1 => text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect(),
            Characters::Ascii => text.is_ascii().then(|| text.as_bytes().to_vec()),
        }
    }
}

/// Text in another character set; the reason, if that cannot be.
fn convert(bytes: &[u8], from: i32, to: i32) -> Result<Vec<u8>, Reason> {
    let source = Characters::of(from).ok_or(Reason::SOURCE_CCSID_ERROR)?;
    let target = Characters::of(to).ok_or(Reason::TARGET_CCSID_ERROR)?;
    if source == target {
        return Ok(bytes.to_vec());
    }
    let text = source.decode(bytes).ok_or(Reason::NOT_CONVERTED)?;
    target.encode(&text).ok_or(Reason::NOT_CONVERTED)
}

/// Converts what was got to the character set that was asked for; says how it ended, and how long
/// the message is.
pub(crate) fn convert_got(
    md: &mut Md,
    (ccsid, encoding): (i32, i32),
    outcome: Outcome,
    length: i32,
    data: &mut [u8],
) -> (Outcome, i32) {
    let target = if ccsid == 0 { NATIVE_CCSID } else { ccsid };
    let target_encoding = if encoding == 0 { ENCODING_NATIVE } else { encoding };
    if md.format == format::NONE || outcome.completion != Completion::Ok {
        return (outcome, length);
    }
    if md.format == format::MD_EXTENSION
        && let Some(done) = convert_extended(md, (target, target_encoding), length, data)
    {
        return done;
    }
    if md.format != format::STRING {
        let same = md.ccsid == target && md.encoding == target_encoding;
        let warning = Outcome::warning(Reason::FORMAT_ERROR);
        return (if same { outcome } else { warning }, length);
    }
    let got = usize::try_from(length).unwrap_or_default().min(data.len());
    match convert(data.get(..got).unwrap_or_default(), md.ccsid, target) {
        Ok(text) if text.len() > data.len() => {
            (Outcome::warning(Reason::CONVERTED_MSG_TOO_BIG), length)
        }
        Ok(text) => {
            data.iter_mut().zip(&text).for_each(|(to, from)| *to = *from);
            md.ccsid = target;
            md.encoding = target_encoding;
            (outcome, i32::try_from(text.len()).unwrap_or(length))
        }
        Err(reason) => (Outcome::warning(reason), length),
    }
}

/// Converts what is behind the extension of a descriptor, and says so there; `None` if it is not
/// one of the queue manager's.
fn convert_extended(
    md: &mut Md,
    target: (i32, i32),
    length: i32,
    data: &mut [u8],
) -> Option<(Outcome, i32)> {
    let front = data.get(..EXTENSION_BYTES)?;
    let mut extension = Mde::read(front).ok().filter(|_| md.encoding == ENCODING_NATIVE)?;
    let before = extension.clone();
    let Mde { encoding, ccsid, format, .. } = extension;
    let mut inner = Md { encoding, ccsid, format, ..Md::initial() };
    let (front, behind) = data.split_at_mut_checked(EXTENSION_BYTES)?;
    let front_bytes = i32::try_from(EXTENSION_BYTES).ok()?;
    let rest = length.checked_sub(front_bytes)?;
    let (outcome, rest) = convert_got(&mut inner, target, Outcome::OK, rest, behind);
    (extension.encoding, extension.ccsid) = (inner.encoding, inner.ccsid);
    extension.give(&before, front);
    md.ccsid = target.0;
    Some((outcome, rest.checked_add(front_bytes)?))
}

/// Converts characters, for programs that convert data themselves.
///
/// # Safety
/// The arguments are what the interface says of them, and the caller's own.
#[allow(clippy::too_many_arguments)] // the interface's own
pub unsafe fn xcnvc(
    hconn: i32,
    options: i32,
    source: i32,
    source_length: i32,
    from: *mut c_void,
    target: i32,
    target_length: i32,
    to: *mut c_void,
    data_length: *mut i32,
    completion: *mut i32,
    reason: *mut i32,
) {
    // SAFETY: the arguments are the caller's, as the interface says.
    unsafe {
        finish(completion, reason, || {
            // Nothing of a connection is needed; a handle that is one of none is refused.
            if hconn > 0 {
                state::find(hconn)?;
            }
            if options & !KNOWN_OPTIONS != 0 {
                return Err(Reason::OPTIONS_ERROR);
            }
            let from =
                memory::input(from, source_length, SOURCE_LENGTH_ERROR, SOURCE_BUFFER_ERROR)?;
            let into = memory::output(to, target_length, TARGET_LENGTH_ERROR, TARGET_BUFFER_ERROR)?;
            if data_length.is_null() {
                return Err(Reason::DATA_LENGTH_ERROR);
            }
            let text = convert(from, source, target)?;
            if text.len() > into.len() {
                return Ok(Outcome::warning(Reason::CONVERTED_MSG_TOO_BIG));
            }
            into.iter_mut().zip(&text).for_each(|(to, from)| *to = *from);
            if options & FILL_TARGET_BUFFER != 0 {
                let blank = match Characters::of(target) {
                    Some(Characters::Page(page)) => page.blank(),
                    _ => b' ',
                };
                into.iter_mut().skip(text.len()).for_each(|byte| *byte = blank);
            }
            memory::set(data_length, i32::try_from(text.len()).unwrap_or(i32::MAX));
            Ok(Outcome::OK)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_a_mainframe_comes_readable() {
        let mut data = [0xC8, 0xC5, 0xD3, 0xD3, 0xD6, 0];
        let mut md = Md { format: format::STRING, ccsid: 500, ..Md::initial() };
        let got = convert_got(&mut md, (1208, 546), Outcome::OK, 5, &mut data);
        assert_eq!((got, &data[..5], md.ccsid), ((Outcome::OK, 5), &b"HELLO"[..], 1208));
    }

    #[test]
    fn text_behind_an_extension_is_converted_and_the_extension_says_so() {
        let extension = Mde { format: format::STRING, ccsid: 500, ..Mde::initial() };
        let mut data = [extension.bytes(), vec![0xC8, 0xC5, 0xD3, 0xD3, 0xD6]].concat();
        let mut md = Md { format: format::MD_EXTENSION, ccsid: 1208, ..Md::initial() };
        let got = convert_got(&mut md, (1208, 546), Outcome::OK, 77, &mut data);
        assert_eq!((got, &data[72..]), ((Outcome::OK, 77), &b"HELLO"[..]));
        let after = Mde::read(&data[..72]).unwrap();
        assert_eq!((after.ccsid, after.format, md.format), (1208, format::STRING, *b"MQHMDE  "));
        // What is cut short is left as it is.
        let mut short = data[..40].to_vec();
        let got = convert_got(&mut md, (819, 546), Outcome::OK, 40, &mut short);
        assert_eq!(got, (Outcome::warning(Reason::FORMAT_ERROR), 40));
        assert_eq!(short, data[..40]);
    }

    #[test]
    fn text_that_no_target_has_is_left_as_it_is() {
        let mut data = "\u{20ac}".as_bytes().to_vec();
        let mut md = Md { format: format::STRING, ccsid: 1208, ..Md::initial() };
        let got = convert_got(&mut md, (819, 546), Outcome::OK, 3, &mut data);
        assert_eq!(got.0, Outcome::warning(Reason::NOT_CONVERTED));
        assert_eq!((&data[..], md.ccsid), ("\u{20ac}".as_bytes(), 1208));
    }
}
