//! Frames between two ends of a channel, and tables of rules for dead letters.

use channels::frame::{Frame, HEADER_BYTES, Header, Role, Terms};

/// What is read as a frame is written as the same again; a table of rules is read or refused.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let mut left = bytes;
    while let Some(head) = left.first_chunk::<HEADER_BYTES>() {
        let Some(header) = Header::read(head) else { break };
        let Some(end) = HEADER_BYTES.checked_add(header.length) else { break };
        let Some(body) = left.get(HEADER_BYTES..end) else { break };
        if let Some(frame) = Frame::read(header.kind, body) {
            let mut again = Vec::new();
            frame.write(&mut again);
            let read = Header::read(again[..HEADER_BYTES].try_into().expect("a header"));
            let read = read.and_then(|header| Frame::read(header.kind, &again[HEADER_BYTES..]));
            // Texts that are longer than any name are cut when they are written.
            assert!(read.is_some(), "what was written can be read");
        }
        left = &left[end..];
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = mqsc::dead_letters::Rules::read(text);
    }
}

/// A conversation of a sender, and a table of rules.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let terms = Terms {
        batch_size: 50,
        heartbeat_s: 300,
        length_max: 4 << 20,
        sequence_max: 999_999_999,
        fast: true,
    };
    let (channel, manager) = ("TO.QM2".to_owned(), "QM1".to_owned());
    let frames = [
        Frame::Hello { version: 1, role: Role::Sends, terms, channel, manager },
        Frame::TakeOver { last: 1, sequence: 2 },
        Frame::Message { sequence: 3, data: b"XQH ".to_vec() },
        Frame::EndOfBatch { batch: 4, sequence: 3 },
        Frame::Close { stopped: false },
    ];
    let mut conversation = Vec::new();
    frames.iter().for_each(|frame| frame.write(&mut conversation));
    let rules = b"WAIT(NO)\nREASON(MQRC_Q_FULL) ACTION(RETRY) RETRY(2)\nACTION(IGNORE)\n".to_vec();
    vec![conversation, rules]
}
