//! What an answer has to know of its question: it travels with the input, as its correlator, and
//! comes back with each output, over restarts too.
//!
//! | bytes | |
//! |---|---|
//! | 4, 1 | `HFBR`, version 1 |
//! | 1 | 1: the message had a header; 2: its reply has none behind it; 4: mode 1; 8: it expires |
//! | 4 each | report options, encoding, code page, priority, persistence |
//! | 8 | when it expires, milliseconds since 1970 UTC |
//! | 24 each | message identifier, correlation identifier |
//! | 48 each | reply-to queue and its queue manager |
//! | 12 | user |
//! | 8, 16 | format of the reply, instance of the conversation |
//!
//! Invariants:
//! 1. What was written is read as it was; other bytes are no origin.

use codec::CodePage;
use otma::{CommitMode, Correlator, Output};
use queue_manager::descriptor::value::{self, msg_type, report};
use queue_manager::{MessageDescriptor, ObjectName};

use crate::iih::{IMS, IMS_VAR_STRING, Iih, Reading, flags};
use crate::request::{Request, write_segments};

const MARK: [u8; 5] = *b"HFBR\x01";
const HAS_HEADER: u8 = 1;
const WITHOUT_FORMAT: u8 = 2;
const WAITED: u8 = 4;
const EXPIRES: u8 = 8;
const BYTES: usize = 5 + 1 + 5 * 4 + 8 + 2 * 24 + 2 * 48 + 12 + 8 + 16;

/// What an answer has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    has_header: bool,
    /// Its reply's header says nothing of what follows.
    without_format: bool,
    mode: CommitMode,
    report: i32,
    encoding: i32,
    ccsid: i32,
    priority: i32,
    persistence: i32,
    /// If its replies expire with it.
    expires_ms: Option<u64>,
    msg_id: [u8; 24],
    correl_id: [u8; 24],
    pub(crate) reply_to: (ObjectName, ObjectName),
    pub(crate) user: [u8; 12],
    format: [u8; 8],
    instance: [u8; 16],
}

impl Origin {
    /// That of a request; `instance` is its conversation's.
    pub(crate) fn of(
        md: &MessageDescriptor,
        request: &Request,
        instance: [u8; 16],
        now_ms: u64,
    ) -> Origin {
        let header = request.header.clone().unwrap_or_default();
        let passes = header.flags & flags::PASS_EXPIRATION != 0 && md.expiry > 0;
        let lives = u64::try_from(md.expiry).unwrap_or(0) * 100;
        Origin {
            has_header: request.header.is_some(),
            without_format: header.flags & flags::REPLY_FORMAT_NONE != 0,
            mode: header.mode,
            report: md.report,
            encoding: md.encoding,
            ccsid: md.ccsid,
            priority: md.priority,
            persistence: md.persistence,
            expires_ms: passes.then(|| now_ms.saturating_add(lives)),
            msg_id: md.msg_id,
            correl_id: md.correl_id,
            reply_to: (md.reply_to_q, md.reply_to_q_mgr),
            user: md.user_identifier,
            format: header.reply_to_format,
            instance,
        }
    }

    /// As it travels with an input.
    pub(crate) fn write(&self) -> Correlator {
        let mut bytes = Vec::with_capacity(BYTES);
        bytes.extend_from_slice(&MARK);
        let is = |is: bool, bit: u8| if is { bit } else { 0 };
        bytes.push(
            is(self.has_header, HAS_HEADER)
                | is(self.without_format, WITHOUT_FORMAT)
                | is(self.mode == CommitMode::SendThenCommit, WAITED)
                | is(self.expires_ms.is_some(), EXPIRES),
        );
        for number in [self.report, self.encoding, self.ccsid, self.priority, self.persistence] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.expires_ms.unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&self.msg_id);
        bytes.extend_from_slice(&self.correl_id);
        bytes.extend_from_slice(&self.reply_to.0.0);
        bytes.extend_from_slice(&self.reply_to.1.0);
        bytes.extend_from_slice(&self.user);
        bytes.extend_from_slice(&self.format);
        bytes.extend_from_slice(&self.instance);
        Correlator(bytes)
    }

    /// The origin in a correlator.
    pub(crate) fn read(Correlator(bytes): &Correlator) -> Option<Origin> {
        let mut rest = bytes.strip_prefix(&MARK)?;
        if bytes.len() != BYTES {
            return None;
        }
        fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
            let (first, behind) = rest.split_first_chunk::<N>()?;
            *rest = behind;
            Some(*first)
        }
        let [bits] = take::<1>(&mut rest)?;
        let mut numbers = [0; 5];
        for number in &mut numbers {
            *number = i32::from_le_bytes(take(&mut rest)?);
        }
        let [report, encoding, ccsid, priority, persistence] = numbers;
        let expires_ms = u64::from_le_bytes(take(&mut rest)?);
        let is = |bit: u8| bits & bit != 0;
        Some(Origin {
            has_header: is(HAS_HEADER),
            without_format: is(WITHOUT_FORMAT),
            mode: if is(WAITED) { CommitMode::SendThenCommit } else { CommitMode::CommitThenSend },
            report,
            encoding,
            ccsid,
            priority,
            persistence,
            expires_ms: is(EXPIRES).then_some(expires_ms),
            msg_id: take(&mut rest)?,
            correl_id: take(&mut rest)?,
            reply_to: (ObjectName(take(&mut rest)?), ObjectName(take(&mut rest)?)),
            user: take(&mut rest)?,
            format: take(&mut rest)?,
            instance: take(&mut rest)?,
        })
    }

    /// The message that an output becomes.
    pub(crate) fn reply(&self, output: &Output, now_ms: u64) -> (MessageDescriptor, Vec<u8>) {
        let asked = |bit: i32| self.report & bit != 0;
        let native = Reading { order: crate::iih::ByteOrder::of(self.encoding), ebcdic: None };
        let how = Reading::of(self.encoding, self.ccsid).unwrap_or(native);
        let body = write_segments(&output.segments, how.order);
        let mut descriptor = MessageDescriptor {
            msg_type: msg_type::REPLY,
            encoding: self.encoding,
            ccsid: self.ccsid,
            format: IMS_VAR_STRING,
            priority: self.priority,
            persistence: self.persistence,
            correl_id: if asked(report::PASS_CORREL_ID) { self.correl_id } else { self.msg_id },
            ..MessageDescriptor::default()
        };
        if asked(report::PASS_MSG_ID) {
            descriptor.msg_id = self.msg_id;
        }
        if asked(report::PASS_DISCARD_AND_EXPIRY) {
            descriptor.report = self.report & report::DISCARD_MSG;
        }
        if let Some(at) = self.expires_ms {
            let left = at.saturating_sub(now_ms).div_ceil(100).max(1);
            descriptor.expiry = i32::try_from(left).unwrap_or(value::EXPIRY_UNLIMITED);
        }
        if !self.has_header {
            return (descriptor, body);
        }
        descriptor.format = IMS;
        let blank = self.format.iter().all(|byte| matches!(byte, b' ' | 0));
        let format = match (self.without_format, blank) {
            (true, _) => value::format::NONE,
            (false, true) => IMS_VAR_STRING,
            (false, false) => self.format,
        };
        let header = Iih {
            format,
            map_name: output.mod_name,
            instance: self.instance,
            in_conversation: output.in_conversation,
            mode: self.mode,
            ..Iih::default()
        };
        let data = [header.write(how), body].concat();
        (descriptor, data)
    }

    /// The code page of its characters, if that is EBCDIC.
    pub(crate) fn page(&self) -> Option<CodePage> {
        Reading::of(self.encoding, self.ccsid)?.ebcdic
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that fails says where
mod tests {
    use super::*;
    use otma::{Encoding, Name, OutputId, Segments};

    fn descriptor() -> MessageDescriptor {
        MessageDescriptor {
            report: report::PASS_CORREL_ID,
            encoding: 785,
            ccsid: 1_208,
            priority: 4,
            persistence: 1,
            expiry: 70,
            msg_id: [1; 24],
            correl_id: [2; 24],
            reply_to_q: ObjectName::from("REPLIES"),
            reply_to_q_mgr: ObjectName::from("QM1"),
            user_identifier: *b"ann         ",
            format: IMS,
            ..MessageDescriptor::default()
        }
    }

    fn request(header: &Iih) -> Request {
        let data = [header.write(Reading::of(785, 1_208).unwrap()), b"\0\x06\0\0TR".to_vec()];
        Request::read(&descriptor(), &data.concat()).unwrap()
    }

    fn output() -> Output {
        let mut segments = Segments::new();
        segments.push([0; 2], b"DONE").unwrap();
        Output {
            id: OutputId(1),
            segments,
            mod_name: Name(*b"SCREEN1 "),
            encoding: Encoding::Ascii,
            in_conversation: true,
            wants_answer: false,
            more_queued: false,
            correlator: None,
        }
    }

    #[test]
    fn an_origin_comes_back_and_other_bytes_are_none() {
        let header = Iih { flags: flags::PASS_EXPIRATION, ..Iih::default() };
        let origin = Origin::of(&descriptor(), &request(&header), [7; 16], 1_000);
        let written = origin.write();
        assert_eq!(Origin::read(&written).as_ref(), Some(&origin));
        assert_eq!(origin.expires_ms, Some(8_000));
        for length in 0..written.0.len() {
            assert_eq!(Origin::read(&Correlator(written.0[..length].to_vec())), None);
        }
    }

    #[test]
    fn a_reply_is_as_its_request_says() {
        let header = Iih { mode: CommitMode::SendThenCommit, ..Iih::default() };
        let origin = Origin::of(&descriptor(), &request(&header), [7; 16], 0);
        let (md, data) = origin.reply(&output(), 0);
        assert_eq!((md.correl_id, md.msg_id), ([2; 24], [0; 24]));
        assert_eq!((md.msg_type, md.priority, md.persistence, md.expiry), (2, 4, 1, -1));
        assert_eq!(md.format, IMS);
        let how = Reading::of(md.encoding, md.ccsid).unwrap();
        let header = Iih::read(&data, how).unwrap();
        assert_eq!((header.format, header.instance), (IMS_VAR_STRING, [7; 16]));
        assert!(header.in_conversation && header.mode == CommitMode::SendThenCommit);
        assert_eq!(header.map_name, Name(*b"SCREEN1 "));
        assert_eq!(&data[84..], b"\0\x08\0\0DONE");
    }

    #[test]
    fn a_request_without_a_header_is_answered_without_one() {
        let md = MessageDescriptor { format: IMS_VAR_STRING, report: 0, ..descriptor() };
        let request = Request::read(&md, b"\0\x06\0\0TR").unwrap();
        let (md, data) = Origin::of(&md, &request, [0; 16], 0).reply(&output(), 0);
        assert_eq!((md.format, md.correl_id), (IMS_VAR_STRING, [1; 24]));
        assert_eq!(data, b"\0\x08\0\0DONE");
    }
}
