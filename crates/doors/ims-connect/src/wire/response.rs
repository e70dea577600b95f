//! A response: segments, and how it went.
//!
//! | segment | bytes |
//! |---|---|
//! | `*REQMOD*` | LL 20, ZZ, id 8, format's name 8 |
//! | `*GENCID*` | LL 20, ZZ, id 8, client id 8 |
//! | `*CORTKN*` | LL 48, ZZ, id 8, system 4, member 8, message 8, tpipe 8, user 8 |
//! | data | LL, ZZ, data |
//! | `*CSMOKY*` | LL 12, flags 1, protocol level 1, id 8 |
//! | `*REQSTS*` | LL 20, flags 1, detail 1, id 8, return code 4, reason code 4 |

use otma::{Encoding, Name, SEGMENT_HEAD, Segments};
use thiserror::Error;

use super::codes::{Reason, ReturnCode};
use super::irm::{CorrelationToken, field};
use super::pages::Pages;

/// What a ping is answered with.
pub const PING_RESPONSE: &str = "HWSC0030I *PING RESPONSE*";

const MOD_ID: &[u8; 8] = b"*REQMOD*";
const CLIENT_ID: &[u8; 8] = b"*GENCID*";
const TOKEN_ID: &[u8; 8] = b"*CORTKN*";
const COMPLETE_ID: &[u8; 8] = b"*CSMOKY*";
const STATUS_ID: &[u8; 8] = b"*REQSTS*";
const TOKEN_BYTES: usize = 48;

/// Flags of a complete status message.
pub mod csm_flag {
    /// More outputs wait.
    pub const MORE_QUEUED: u8 = 0x80;
    /// The conversation goes on.
    pub const CONVERSATION: u8 = 0x40;
    /// An acknowledgement is waited for.
    pub const WANTS_ACK: u8 = 0x20;
    /// The protocol level counts.
    pub const LEVEL: u8 = 0x10;
}

/// A complete status message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Csm {
    /// Flags, see [`csm_flag`].
    pub flags: u8,
    /// Protocol level: 02 is commit mode 0 with acknowledgements that nobody waits for.
    pub level: u8,
}

/// A request status message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rsm {
    /// Flags, as of a complete status message.
    pub flags: u8,
    /// What the check of the user said, or a reason of the transaction manager.
    pub detail: u8,
    /// Return code.
    pub code: u32,
    /// Reason code.
    pub reason: u32,
}

impl Rsm {
    /// A status with a reason that has a name.
    #[must_use]
    pub fn new(code: ReturnCode, reason: Reason) -> Rsm {
        Rsm { flags: 0, detail: 0, code: code.code(), reason: reason.code() }
    }
}

/// How a request went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Well.
    Complete(Csm),
    /// Otherwise, or that something else happened.
    Request(Rsm),
}

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The format's name (MOD).
    pub mod_name: Option<Name>,
    /// The client id.
    pub client: Option<Name>,
    /// The correlation token of a callout.
    pub token: Option<CorrelationToken>,
    /// Data, in the client's code page.
    pub data: Segments,
    /// How it went.
    pub status: Status,
}

/// Why bytes are no response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ResponseError {
    /// A length does not fit.
    #[error("the length at byte {0} of the response does not fit")]
    Length(usize),
    /// Nothing says how it went.
    #[error("the response has no status")]
    NoStatus,
    /// Something stands behind the status.
    #[error("bytes stand behind the status of the response")]
    Behind,
}

/// How many bytes a response without LLLL has, if it is complete.
///
/// # Errors
/// If a length does not fit.
pub fn response_length(bytes: &[u8], pages: &Pages) -> Result<Option<usize>, ResponseError> {
    let mut at = 0;
    while let Some(head) = bytes.get(at..at + 2) {
        let length = usize::from(u16::from_be_bytes(field(head, 0)));
        if length < SEGMENT_HEAD {
            return Err(ResponseError::Length(at));
        }
        let Some(segment) = bytes.get(at..at + length) else { break };
        at += length;
        if matches!(kind(segment, pages), Some((COMPLETE_ID | STATUS_ID, _))) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

impl Response {
    /// A response that is nothing but a status.
    #[must_use]
    pub fn status(status: Rsm) -> Response {
        let status = Status::Request(status);
        Response { mod_name: None, client: None, token: None, data: Segments::new(), status }
    }

    /// A response with data.
    #[must_use]
    pub fn complete(data: Segments, flags: u8) -> Response {
        // Level 02: an acknowledgement of mode 0 need not be waited for.
        let status = Status::Complete(Csm { flags: flags | csm_flag::LEVEL, level: 2 });
        Response { mod_name: None, client: None, token: None, data, status }
    }

    /// Its bytes, with LLLL before them if `prefixed`.
    #[must_use]
    pub fn encode(&self, prefixed: bool, encoding: Encoding, pages: &Pages) -> Vec<u8> {
        let mut out = Vec::with_capacity(80 + self.data.as_bytes().len());
        if prefixed {
            out.extend_from_slice(&[0; 4]);
        }
        let id = |id: &[u8; 8]| pages.name_bytes(Name(*id), encoding);
        let named = [(MOD_ID, self.mod_name), (CLIENT_ID, self.client)];
        for (kind, name) in named.into_iter().filter_map(|(kind, name)| Some((kind, name?))) {
            out.extend_from_slice(&[0, 20, 0, 0]);
            out.extend_from_slice(&id(kind));
            out.extend_from_slice(&pages.name_bytes(name, encoding));
        }
        if let Some(token) = &self.token {
            out.extend_from_slice(&[0, TOKEN_BYTES as u8, 0, 0]);
            out.extend_from_slice(&id(TOKEN_ID));
            out.extend_from_slice(&token.encode(encoding, pages));
        }
        out.extend_from_slice(self.data.as_bytes());
        match self.status {
            Status::Complete(csm) => {
                out.extend_from_slice(&[0, 12, csm.flags, csm.level]);
                out.extend_from_slice(&id(COMPLETE_ID));
            }
            Status::Request(rsm) => {
                out.extend_from_slice(&[0, 20, rsm.flags, rsm.detail]);
                out.extend_from_slice(&id(STATUS_ID));
                out.extend_from_slice(&rsm.code.to_be_bytes());
                out.extend_from_slice(&rsm.reason.to_be_bytes());
            }
        }
        if prefixed {
            let length = out.len() as u32;
            out[..4].copy_from_slice(&length.to_be_bytes());
        }
        out
    }

    /// The response in bytes, without LLLL.
    ///
    /// # Errors
    /// If lengths do not fit, or it says not how it went.
    pub fn decode(bytes: &[u8], pages: &Pages) -> Result<Response, ResponseError> {
        let mut response = Response::status(Rsm::default());
        let mut data = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            let length = usize::from(u16::from_be_bytes(field(bytes, at)));
            let segment = bytes.get(at..at + length).filter(|_| length >= SEGMENT_HEAD);
            let segment = segment.ok_or(ResponseError::Length(at))?;
            at += length;
            match kind(segment, pages) {
                Some((MOD_ID, page)) => {
                    response.mod_name = Some(pages.name(field(segment, 12), page));
                }
                Some((CLIENT_ID, page)) => {
                    response.client = Some(pages.name(field(segment, 12), page));
                }
                Some((TOKEN_ID, page)) => {
                    // Some servers have another length and two bytes more before the token.
                    let begin = segment.len() - (TOKEN_BYTES - 12);
                    response.token = Some(CorrelationToken::decode(&segment[begin..], page, pages));
                }
                Some((COMPLETE_ID, _)) => {
                    let csm = Csm { flags: segment[2], level: segment[3] };
                    response.status = Status::Complete(csm);
                    return response.finished(data, at == bytes.len());
                }
                Some((STATUS_ID, _)) => {
                    let [flags, detail] = field(segment, 2);
                    let code = u32::from_be_bytes(field(segment, 12));
                    let reason = u32::from_be_bytes(field(segment, 16));
                    response.status = Status::Request(Rsm { flags, detail, code, reason });
                    return response.finished(data, at == bytes.len());
                }
                _ => data.extend_from_slice(segment),
            }
        }
        Err(ResponseError::NoStatus)
    }

    fn finished(mut self, data: Vec<u8>, ends: bool) -> Result<Response, ResponseError> {
        self.data = Segments::from_bytes(data).map_err(|_| ResponseError::Length(0))?;
        if ends { Ok(self) } else { Err(ResponseError::Behind) }
    }
}

/// The id of a segment that is no data, and how long one may be.
type Known = (&'static [u8; 8], fn(usize) -> bool);

/// The id of a segment that is no data, and its code page.
fn kind(segment: &[u8], pages: &Pages) -> Option<(&'static [u8; 8], Encoding)> {
    let known: [Known; 5] = [
        (MOD_ID, |length| length == 20),
        (CLIENT_ID, |length| length == 20),
        (TOKEN_ID, |length| length >= TOKEN_BYTES),
        (COMPLETE_ID, |length| length == 12),
        (STATUS_ID, |length| length == 20),
    ];
    if segment.len() < 12 || !matches!(segment[4], b'*' | 0x5c) {
        return None;
    }
    let encoding = if segment[4] == b'*' { Encoding::Ascii } else { Encoding::Ebcdic };
    let id = pages.name(field(segment, 4), encoding).0;
    let found = known.into_iter().find(|(known, fits)| **known == id && fits(segment.len()));
    found.map(|(known, _)| (known, encoding))
}
