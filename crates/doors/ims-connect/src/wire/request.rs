//! A request: a header, and segments.

use otma::{Encoding, Name, SEGMENT_BYTES_MAX, SEGMENT_HEAD, Segments};

use super::codes::Reason;
use super::irm::{Function, Irm, field};
use super::pages::Pages;

/// The shortest message.
pub const MESSAGE_BYTES_MIN: usize = 0x58;
/// Bytes from which the exit's id is known.
pub const HEAD_BYTES: usize = 16;
/// Where the exit's id stands.
pub const EXIT_AT: usize = 8;
/// What ends a request.
const END: [u8; 4] = [0, 4, 0, 0];
const PING: &[u8] = b"PING IMS_CONNECT";

/// Why bytes are no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The header's length or level.
    IrmLength,
    /// The message's length, or that of a segment.
    TotalLength,
    /// No data where the function wants some.
    NoData,
    /// A function that there is not.
    Function,
}

impl Rejection {
    /// The reason code.
    #[must_use]
    pub fn reason(self) -> Reason {
        match self {
            Rejection::IrmLength => Reason::IrmLength,
            Rejection::TotalLength => Reason::TotalLength,
            Rejection::NoData => Reason::NoData,
            Rejection::Function => Reason::BadBuffer,
        }
    }
}

/// A request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Its header.
    pub irm: Irm,
    /// Its data, in the client's code page.
    pub segments: Segments,
}

/// The exit's id in the first bytes of a message, in ASCII, and the code page that it is in.
/// `None` if no id looks like that.
#[must_use]
pub fn exit_id(head: &[u8; HEAD_BYTES], pages: &Pages) -> Option<([u8; 8], Encoding)> {
    let bytes: [u8; 8] = field(head, EXIT_AT);
    [Encoding::Ascii, Encoding::Ebcdic].into_iter().find_map(|encoding| {
        let id = pages.name(bytes, encoding).0;
        let named = id.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
        let is_sign =
            |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'*';
        (named && is_sign(&id[0])).then_some((id, encoding))
    })
}

/// The first word of a message's data, in ASCII: the transaction's code or a command's verb.
#[must_use]
pub fn word(segments: &Segments, encoding: Encoding, pages: &Pages) -> Name {
    let mut name: [u8; 8] = [b' '; 8];
    let data = segments.data().next().unwrap_or_default();
    let count = data.len().min(8);
    name[..count].copy_from_slice(&data[..count]);
    pages.translate(&mut name[..count], encoding, Encoding::Ascii);
    if let Some(end) = name.iter().position(|byte| matches!(byte, b' ' | b',' | b'(' | 0)) {
        name[end..].fill(b' ');
    }
    Name(name)
}

/// Whether a request asks if anybody is there.
#[must_use]
pub fn is_ping(segments: &Segments, encoding: Encoding, pages: &Pages) -> bool {
    let mut all = segments.data();
    let Some(data) = all.next().filter(|data| data.starts_with(&ping_bytes(encoding, pages)))
    else {
        return false;
    };
    let mut rest = data[PING.len()..].to_vec();
    pages.translate(&mut rest, encoding, Encoding::Ascii);
    all.next().is_none() && rest.iter().all(|byte| matches!(byte, b' ' | 0))
}

/// The segments of a request that asks if anybody is there.
#[must_use]
pub fn ping(encoding: Encoding, pages: &Pages) -> Segments {
    let mut segments = Segments::new();
    // It is short.
    let _ = segments.push([0, 0], &ping_bytes(encoding, pages));
    segments
}

fn ping_bytes(encoding: Encoding, pages: &Pages) -> Vec<u8> {
    let mut bytes = PING.to_vec();
    pages.translate(&mut bytes, Encoding::Ascii, encoding);
    bytes
}

impl Request {
    /// The request in a whole message.
    ///
    /// # Errors
    /// If its lengths do not fit together.
    pub fn decode(message: &[u8], encoding: Encoding, pages: &Pages) -> Result<Request, Rejection> {
        let length = u32::from_be_bytes(field(message, 0));
        if message.len() < MESSAGE_BYTES_MIN || usize::try_from(length) != Ok(message.len()) {
            return Err(Rejection::TotalLength);
        }
        let (irm, at) = Irm::decode(message, encoding, pages)?;
        let body = message[at..].strip_suffix(&END).ok_or(Rejection::TotalLength)?;
        let mut rest = body;
        while let Some(head) = rest.first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*head));
            // A segment without data before the end would be an end before the end.
            let fits = (SEGMENT_HEAD + 1..=SEGMENT_BYTES_MAX).contains(&length);
            if !fits || length > rest.len() {
                return Err(Rejection::TotalLength);
            }
            rest = &rest[length..];
        }
        let segments = Segments::from_bytes(body.to_vec()).map_err(|_| Rejection::TotalLength)?;
        if irm.function.has_data() && segments.is_empty() {
            return Err(Rejection::NoData);
        }
        Ok(Request { irm, segments })
    }

    /// The message of a request.
    #[must_use]
    pub fn encode(&self, encoding: Encoding, pages: &Pages) -> Vec<u8> {
        let mut out = vec![0; 4];
        self.irm.encode(&mut out, encoding, pages);
        out.extend_from_slice(self.segments.as_bytes());
        out.extend_from_slice(&END);
        let length = out.len() as u32;
        out[..4].copy_from_slice(&length.to_be_bytes());
        out
    }

    /// Whether the request wants data to be sent back.
    #[must_use]
    pub fn wants_reply(&self) -> bool {
        use Function::{Callout, SendOnly, SendOnlyError};
        !matches!(self.irm.function, Callout | SendOnly | SendOnlyError)
    }
}
