//! What comes back for a call, field by field, as [`crate::wire`] has it.

use queue_manager::{Completion, Outcome, Reason};

use crate::structures::Od;
use crate::wire::codec::Reader;
use crate::wire::{Object, Posting, Wanted, read_records};

pub(super) fn outcome(from: &mut Reader<'_>) -> Option<Outcome> {
    let completion = match from.number()? {
        0 => Completion::Ok,
        1 => Completion::Warning,
        2 => Completion::Failed,
        _ => return None,
    };
    Some(Outcome { completion, reason: Reason(from.number()?) })
}

fn outcomes(from: &mut Reader<'_>) -> Option<Vec<Outcome>> {
    let count = from.count(8)?;
    (0..count).map(|_| outcome(from)).collect()
}

pub(super) fn object_answer(
    from: &mut Reader<'_>,
    object: &Object,
) -> Option<(Od, String, Vec<Outcome>)> {
    let od = from.structure(&object.od)?;
    let string = String::from_utf8(from.bytes()?.to_vec()).ok()?;
    Some((od, string, outcomes(from)?))
}

pub(super) fn posting_answer(
    from: &mut Reader<'_>,
    posting: &Posting,
) -> Option<(Posting, Vec<Outcome>)> {
    let md = from.structure(&posting.md)?;
    let pmo = from.structure(&posting.pmo)?;
    let (records, wants_responses) = (read_records(from)?, posting.wants_responses);
    // The caller has memory for as many as it has sent.
    (records.len() <= posting.records.len()).then_some(())?;
    Some((Posting { md, pmo, records, wants_responses }, outcomes(from)?))
}

pub(super) fn wanted_answer(from: &mut Reader<'_>, wanted: &Wanted) -> Option<(Wanted, i32)> {
    let md = from.structure(&wanted.md)?;
    let gmo = from.structure(&wanted.gmo)?;
    Some((Wanted { md, gmo, room: wanted.room }, from.number()?))
}
