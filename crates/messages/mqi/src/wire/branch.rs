//! Calls of transaction managers, and their answers, as fields.
//!
//! | call | number | how |
//! |---|---|---|
//! | start, join, resume | 1, 2, 3 | 0 |
//! | end | 4 | 0 done, 1 failed, 2 suspended |
//! | prepare | 5 | 0 |
//! | commit | 6 | 1 in one phase |
//! | back out | 7 | 0 |
//! | recover | 8 | 0, and no identifier; 1: what is behind the one it has |
//! | forget | 9 | 0 |
//!
//! A call is its number, how, and an identifier: format (8 bytes), transaction and branch. An
//! answer is a number (0 done, 1 read only, 2 a list; from 10 on why not) and a list of
//! identifiers.

use queue_manager::branch::{BranchAnswer, BranchCall, BranchError, BranchId, WorkEnd};

use super::codec::{Reader, Writer};

/// Why not, by number.
const ERRORS: [(i32, BranchError); 9] = [
    (10, BranchError::Unknown),
    (11, BranchError::Exists),
    (12, BranchError::Protocol),
    (13, BranchError::Outside),
    (14, BranchError::BackedOut),
    (15, BranchError::DecidedCommit),
    (16, BranchError::DecidedBackOut),
    (17, BranchError::Failed),
    (18, BranchError::Stopping),
];

fn write_branch(branch: &BranchId, to: &mut Writer) {
    to.long(branch.format()).bytes(branch.transaction()).bytes(branch.branch());
}

fn read_branch(from: &mut Reader<'_>) -> Option<BranchId> {
    BranchId::new(from.long()?, from.bytes()?, from.bytes()?)
}

pub(super) fn write_call(call: &BranchCall, to: &mut Writer) {
    let (number, how, branch) = match call {
        BranchCall::Start(branch) => (1, 0, Some(branch)),
        BranchCall::Join(branch) => (2, 0, Some(branch)),
        BranchCall::Resume(branch) => (3, 0, Some(branch)),
        BranchCall::End(branch, how) => {
            let how = match how {
                WorkEnd::Done => 0,
                WorkEnd::Failed => 1,
                WorkEnd::Suspended => 2,
            };
            (4, how, Some(branch))
        }
        BranchCall::Prepare(branch) => (5, 0, Some(branch)),
        BranchCall::Commit { branch, one_phase } => (6, i32::from(*one_phase), Some(branch)),
        BranchCall::BackOut(branch) => (7, 0, Some(branch)),
        BranchCall::Recover => (8, 0, None),
        BranchCall::RecoverAfter(branch) => (8, 1, Some(branch)),
        BranchCall::Forget(branch) => (9, 0, Some(branch)),
    };
    to.number(number).number(how);
    if let Some(branch) = branch {
        write_branch(branch, to);
    }
}

pub(super) fn read_call(from: &mut Reader<'_>) -> Option<BranchCall> {
    let (number, how) = (from.number()?, from.number()?);
    if (number, how) == (8, 0) {
        return Some(BranchCall::Recover);
    }
    let branch = read_branch(from)?;
    Some(match (number, how) {
        (1, 0) => BranchCall::Start(branch),
        (2, 0) => BranchCall::Join(branch),
        (3, 0) => BranchCall::Resume(branch),
        (4, 0) => BranchCall::End(branch, WorkEnd::Done),
        (4, 1) => BranchCall::End(branch, WorkEnd::Failed),
        (4, 2) => BranchCall::End(branch, WorkEnd::Suspended),
        (5, 0) => BranchCall::Prepare(branch),
        (6, 0 | 1) => BranchCall::Commit { branch, one_phase: how == 1 },
        (7, 0) => BranchCall::BackOut(branch),
        (8, 1) => BranchCall::RecoverAfter(branch),
        (9, 0) => BranchCall::Forget(branch),
        _ => return None,
    })
}

/// Writes an answer.
pub fn write_answer(answer: &Result<BranchAnswer, BranchError>, to: &mut Writer) {
    let listed = match answer {
        Ok(BranchAnswer::Listed(listed)) => listed.as_slice(),
        _ => &[],
    };
    to.number(match answer {
        Ok(BranchAnswer::Done) => 0,
        Ok(BranchAnswer::ReadOnly) => 1,
        Ok(BranchAnswer::Listed(_)) => 2,
        Err(error) => {
            let known = ERRORS.iter().find(|(_, known)| known == error);
            known.map_or(17, |(number, _)| *number)
        }
    });
    to.count(listed.len());
    listed.iter().for_each(|branch| write_branch(branch, to));
}

/// What an answer's fields say; `None` if they are none.
pub fn read_answer(from: &mut Reader<'_>) -> Option<Result<BranchAnswer, BranchError>> {
    let number = from.number()?;
    let mut listed = Vec::new();
    for _ in 0..from.count(10)? {
        listed.push(read_branch(from)?);
    }
    Some(match number {
        0 => Ok(BranchAnswer::Done),
        1 => Ok(BranchAnswer::ReadOnly),
        2 => Ok(BranchAnswer::Listed(listed)),
        _ => Err(ERRORS.iter().find(|(known, _)| *known == number)?.1),
    })
}

#[cfg(test)]
mod tests {
    use queue_manager::branch::LISTED_MAX;

    use super::*;

    // A list of all of them was longer than a frame may be, and no manager learned of any.
    #[test]
    fn the_longest_list_goes_in_a_frame() {
        let longest = BranchId::new(i64::MAX, &[1; 64], &[2; 64]).expect("one");
        let answer = Ok(BranchAnswer::Listed(vec![longest; LISTED_MAX]));
        let mut to = Writer::new();
        to.number(0).number(0);
        write_answer(&answer, &mut to);
        assert!(to.into_bytes().len() <= crate::wire::frame::FIELDS_BYTES_MAX);
    }

    #[test]
    fn calls_and_answers_come_out_as_they_went_in() {
        let branch = BranchId::new(7, b"t", b"").expect("one");
        let calls = [
            BranchCall::Start(branch.clone()),
            BranchCall::Join(branch.clone()),
            BranchCall::Resume(branch.clone()),
            BranchCall::End(branch.clone(), WorkEnd::Done),
            BranchCall::End(branch.clone(), WorkEnd::Failed),
            BranchCall::End(branch.clone(), WorkEnd::Suspended),
            BranchCall::Prepare(branch.clone()),
            BranchCall::Commit { branch: branch.clone(), one_phase: true },
            BranchCall::Commit { branch: branch.clone(), one_phase: false },
            BranchCall::BackOut(branch.clone()),
            BranchCall::Recover,
            BranchCall::RecoverAfter(branch.clone()),
            BranchCall::Forget(branch.clone()),
        ];
        for call in calls {
            let mut to = Writer::new();
            write_call(&call, &mut to);
            let bytes = to.into_bytes();
            assert_eq!(read_call(&mut Reader::new(&bytes)), Some(call));
        }
        let errors = ERRORS.iter().map(|(_, error)| Err(*error));
        let listed = BranchAnswer::Listed(vec![branch; 3]);
        for answer in [Ok(BranchAnswer::Done), Ok(BranchAnswer::ReadOnly), Ok(listed)]
            .into_iter()
            .chain(errors)
        {
            let mut to = Writer::new();
            write_answer(&answer, &mut to);
            let bytes = to.into_bytes();
            assert_eq!(read_answer(&mut Reader::new(&bytes)), Some(answer));
        }
    }
}
