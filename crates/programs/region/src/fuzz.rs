//! Bytes across the border between a program and a server, for tests that try to break it.
//!
//! Invariants:
//! 1. No bytes make either side panic, read or write outside of what it was given, or keep more
//!    memory than the limits of [`crate::wire`].

use crate::layout::{self, FieldLayout, NO_NAME, PcbKind, PcbLayout, SegmentLayout, name};
use crate::server::{Ending, Failure, Feedback, Reply, Request, Server};
use crate::ssas::measure;
use crate::wire::{Answer, Work, serve};

/// Takes bytes as a message to a server, as an answer to a program, as layouts, and as a search
/// argument.
pub fn exercise(bytes: &[u8]) {
    let mut answer = Vec::new();
    let mut server = Touching { layouts: layouts() };
    if serve(bytes, &mut Work::default(), &mut server, &mut answer).is_ok() {
        read_answer(&answer);
    }
    read_answer(bytes);
    if let Some(layouts) = layout::decode(bytes) {
        assert_eq!(layout::encode(&layouts), bytes, "shapes have one form");
    }
    let PcbKind::Database(database) = &server.layouts[0].kind else { return };
    assert!(measure(database, bytes) <= bytes.len(), "a search argument stays within its bytes");
}

fn read_answer(bytes: &[u8]) {
    let Ok(answer) = Answer::parse(bytes) else { return };
    let mut sum = answer.area.len();
    answer.pcbs(|_, feedback| sum += feedback.key.len());
    sum += answer.more().map(<[u8]>::len).sum::<usize>();
    assert!(sum <= bytes.len(), "an answer's parts do not overlap");
}

fn layouts() -> Vec<PcbLayout> {
    let fields = vec![FieldLayout { name: name("KEY"), len: 3 }];
    let segments = vec![SegmentLayout {
        name: name("ROOT"),
        bytes_max: 9,
        variable: true,
        key_path: 3,
        fields,
    }];
    let database = layout::DatabaseLayout {
        dbd: name("DB"),
        organization: name("HIDAM"),
        options: *b"A   ",
        key_max: 3,
        segments,
    };
    let kind = PcbKind::Database(database);
    vec![PcbLayout { name: NO_NAME, listed: true, area_max: 64, kind }]
}

/// A server that touches every byte that it is lent.
struct Touching {
    layouts: Vec<PcbLayout>,
}

impl Server for Touching {
    fn pcbs(&self) -> &[PcbLayout] {
        &self.layouts
    }

    fn call(&mut self, request: Request<'_>, reply: &mut Reply) {
        let Request { pcb, area, ssas, more, .. } = request;
        let sum = ssas.iter().flat_map(|ssa| ssa.iter()).fold(0, |sum: u8, byte| sum ^ byte);
        more.iter_mut().for_each(|item| item.fill(sum));
        if let Some(area) = area {
            area.fill(sum);
            reply.fill(area.len().saturating_add(usize::from(sum)));
        }
        if sum == b'!' {
            reply.abend("U0778", "because the bytes say so");
        }
        let key = ssas.first().copied().unwrap_or_default();
        reply.pcb(pcb.unwrap_or_default(), Feedback { key, ..Feedback::status(*b"GE") });
    }

    fn end(&mut self, ending: Ending) -> Result<(), Failure> {
        let failure =
            || Failure { code: "HFR000".into(), text: "no".into(), remedy: String::new() };
        if ending == Ending::Normal { Ok(()) } else { Err(failure()) }
    }
}

#[cfg(test)]
mod tests {
    use definitions::Function;
    use proptest::prelude::*;

    use super::*;
    use crate::server::AibFields;
    use crate::wire::Writer;

    fn message(function: Function, ssas: &[Vec<u8>], more: &[Vec<u8>], area: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        let mut writer = Writer::call(&mut message, function, Some(0), Some(&AibFields::default()));
        for ssa in ssas {
            writer.ssa(ssa);
        }
        more.iter().for_each(|item| writer.more(item));
        writer.area(area.len() + 10, area);
        writer.finish();
        message
    }

    proptest! {
        #[test]
        fn no_bytes_do_harm(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            exercise(&bytes);
        }

        #[test]
        fn nearly_right_messages_do_no_harm(
            ssas in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6),
            more in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6),
            area in proptest::collection::vec(any::<u8>(), 0..60),
            changes in proptest::collection::vec((any::<usize>(), any::<u8>()), 0..4),
        ) {
            let mut bytes = message(Function::Gu, &ssas, &more, &area);
            exercise(&bytes);
            for (place, value) in changes {
                let place = place % bytes.len();
                bytes[place] = value;
            }
            exercise(&bytes);
        }
    }

    #[test]
    fn a_message_comes_back_with_what_the_server_said() {
        let ssas = [b"ROOT    (KEY      =ABC)".to_vec(), b"CHILD   ".to_vec()];
        let sum = ssas.concat().iter().fold(0, |sum, byte| sum ^ byte);
        let bytes = message(Function::Gu, &ssas, &[vec![1, 2, 3]], b"area");
        let mut answer = Vec::new();
        let mut server = Touching { layouts: layouts() };
        serve(&bytes, &mut Work::default(), &mut server, &mut answer).expect("a message");
        let answer = Answer::parse(&answer).expect("an answer");
        assert_eq!(answer.area, vec![sum; 14]);
        assert_eq!(answer.more().collect::<Vec<_>>(), [&[sum; 3]]);
        let mut keys = Vec::new();
        answer.pcbs(|pcb, feedback| keys.push((pcb, feedback.status, feedback.key.to_vec())));
        assert_eq!(keys, [(0, *b"GE", ssas[0].clone())]);
        assert!(answer.abend.is_none());
    }

    #[test]
    fn the_end_may_ride_behind_calls() {
        let mut bytes = message(Function::Log, &[], &[], b"xxxx");
        bytes[10] |= 4;
        Writer::end(&mut bytes, Ending::Abend);
        let mut answer = Vec::new();
        let mut server = Touching { layouts: layouts() };
        let served = serve(&bytes, &mut Work::default(), &mut server, &mut answer);
        assert_eq!(served, Ok(crate::wire::Served::End));
        let abend = Answer::parse(&answer).expect("an answer").abend.expect("a failure");
        assert_eq!(abend.code, "HFR000");
    }
}
