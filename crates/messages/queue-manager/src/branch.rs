//! Branches of global transactions: units of work that another transaction manager ends.
//!
//! | set | key | value |
//! |---|---|---|
//! | `HOLDFAST.MQ.BRANCHES` | identifier: format (8, big endian), length of the transaction (1), transaction, branch | record |
//!
//! | bytes of a record | |
//! |---|---|
//! | 1 | version, 1 |
//! | 1 | `P` prepared; decided by an operator: `C` committed, `B` backed out |
//! | 8 | when, milliseconds since 1970 UTC |
//! | 2, then | length of the user's name, the name |
//! | 4, then 4 and 8 each | messages put: number of the queue, place |
//! | 4, then 4 and 8 each | messages got: the same |
//! | 4, then 8, 2, then each | retained publications: place, length of the topic string, the string |
//!
//! Numbers are little endian.
//!
//! ```text
//!  start --> calls --> end --> prepare --> commit, or back out
//!                         \--> commit in one phase, or back out
//! ```
//!
//! 1. A prepared branch outlives its connection, and the system: what it put stays hidden, what it
//!    got stays held, until a decision has come. It has no unit of work in the store meanwhile.
//! 2. What becomes of a branch is one unit of work: its messages and its record go together.
//! 3. A branch that is not prepared ends with the connection that worked in it last: it is backed
//!    out.
//! 4. Only its own user, and administrators, see a branch that is prepared and decide about it.
//! 5. What an operator has decided is remembered until the transaction manager has heard of it.

use base::bytes::Reader;
use base::hex;

use crate::queue::Place;

const VERSION: u8 = 1;
/// The set of these records.
pub(crate) const BRANCHES: &str = "HOLDFAST.MQ.BRANCHES";
/// The most branches of a list: more would be too long for an answer.
pub const LISTED_MAX: usize = 10_000;
/// The longest part of an identifier.
const PART_BYTES_MAX: usize = 64;

/// The identifier of a branch.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchId {
    format: i64,
    transaction: Vec<u8>,
    branch: Vec<u8>,
}

impl BranchId {
    /// Of its parts; `None` if they cannot be those of a branch.
    #[must_use]
    pub fn new(format: i64, transaction: &[u8], branch: &[u8]) -> Option<BranchId> {
        let fits = (1..=PART_BYTES_MAX).contains(&transaction.len());
        let fits = fits && branch.len() <= PART_BYTES_MAX && format != -1;
        let (transaction, branch) = (transaction.to_vec(), branch.to_vec());
        fits.then_some(BranchId { format, transaction, branch })
    }

    /// Which rules the other parts follow.
    #[must_use]
    pub fn format(&self) -> i64 {
        self.format
    }

    /// The transaction.
    #[must_use]
    pub fn transaction(&self) -> &[u8] {
        &self.transaction
    }

    /// The branch of it.
    #[must_use]
    pub fn branch(&self) -> &[u8] {
        &self.branch
    }

    /// As displays show it: format, transaction and branch in hexadecimal digits, with colons.
    #[must_use]
    pub fn parse(text: &str) -> Option<BranchId> {
        let mut parts = text.trim().splitn(3, ':');
        let format = parts.next()?.parse().ok()?;
        BranchId::new(format, &hex::read(parts.next()?)?, &hex::read(parts.next()?)?)
    }

    pub(crate) fn key(&self) -> Vec<u8> {
        let mut key = self.format.to_be_bytes().to_vec();
        key.push(u8::try_from(self.transaction.len()).unwrap_or(u8::MAX));
        key.extend_from_slice(&self.transaction);
        key.extend_from_slice(&self.branch);
        key
    }

    pub(crate) fn of_key(key: &[u8]) -> Option<BranchId> {
        let (format, rest) = key.split_first_chunk::<8>()?;
        let (length, rest) = rest.split_first()?;
        let (transaction, branch) = rest.split_at_checked(usize::from(*length))?;
        BranchId::new(i64::from_be_bytes(*format), transaction, branch)
    }
}

impl std::fmt::Display for BranchId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (transaction, branch) = (hex::upper(&self.transaction), hex::upper(&self.branch));
        write!(f, "{}:{transaction}:{branch}", self.format)
    }
}

impl std::fmt::Debug for BranchId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// How work in a branch ends for a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WorkEnd {
    /// It is done.
    Done,
    /// It has failed: the branch can only be backed out.
    Failed,
    /// It goes on later.
    Suspended,
}

/// What a transaction manager asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BranchCall {
    /// Calls belong to a new branch from now on.
    Start(BranchId),
    /// Calls belong to a branch that there is.
    Join(BranchId),
    /// Calls belong to a branch again that was suspended.
    Resume(BranchId),
    /// Calls belong to it no longer.
    End(BranchId, WorkEnd),
    /// It can be committed, whatever happens, until a decision comes.
    Prepare(BranchId),
    /// It is committed; `one_phase`: without having been prepared.
    Commit {
        /// Which.
        branch: BranchId,
        /// In one phase.
        one_phase: bool,
    },
    /// It is backed out.
    BackOut(BranchId),
    /// Which are prepared, or were decided by an operator? The first [`LISTED_MAX`] of them.
    Recover,
    /// The same, of those behind a branch in their order, until there are none.
    RecoverAfter(BranchId),
    /// What an operator has decided is known.
    Forget(BranchId),
}

/// What a transaction manager is answered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BranchAnswer {
    /// It is done.
    Done,
    /// There is nothing to be committed: the branch is over.
    ReadOnly,
    /// These.
    Listed(Vec<BranchId>),
}

/// Why what a transaction manager has asked for is not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BranchError {
    /// There is no such branch.
    #[error("there is no such branch")]
    Unknown,
    /// There is such a branch already.
    #[error("there is such a branch already")]
    Exists,
    /// It is not where that can be asked for.
    #[error("the branch is not where that can be asked for")]
    Protocol,
    /// The connection has work of its own that is not ended.
    #[error("the connection has work of its own that is not ended")]
    Outside,
    /// It was backed out.
    #[error("the branch was backed out")]
    BackedOut,
    /// An operator has committed it.
    #[error("an operator has committed the branch")]
    DecidedCommit,
    /// An operator has backed it out.
    #[error("an operator has backed out the branch")]
    DecidedBackOut,
    /// It could not be done now; the branch is as it was.
    #[error("it could not be done now; the branch is as it was")]
    Failed,
    /// The queue manager ends.
    #[error("the queue manager ends")]
    Stopping,
}

/// Where a branch stands, as displays show it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BranchState {
    /// A connection works in it.
    Active,
    /// Work in it has ended, or is suspended.
    Idle,
    /// It is prepared.
    Prepared,
    /// An operator has committed it.
    DecidedCommit,
    /// An operator has backed it out.
    DecidedBackOut,
}

/// What displays show of a branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BranchStatus {
    /// Its identifier.
    pub branch: BranchId,
    /// Where it stands.
    pub state: BranchState,
    /// Whose it is.
    pub user: String,
    /// Since when, milliseconds since 1970 UTC.
    pub since_ms: u64,
    /// Messages put and got.
    pub messages: usize,
}

/// What is kept of a branch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Record {
    pub(crate) state: BranchState,
    pub(crate) since_ms: u64,
    pub(crate) user: String,
    pub(crate) puts: Vec<(u32, Place)>,
    pub(crate) gets: Vec<(u32, Place)>,
    pub(crate) retained: Vec<(Place, String)>,
}

impl Record {
    pub(crate) fn write(&self) -> Vec<u8> {
        let state = match self.state {
            BranchState::DecidedCommit => b'C',
            BranchState::DecidedBackOut => b'B',
            _ => b'P',
        };
        let mut bytes = vec![VERSION, state];
        let text = |bytes: &mut Vec<u8>, text: &str| {
            let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
            bytes.extend_from_slice(&length.to_le_bytes());
            bytes.extend_from_slice(text.as_bytes().get(..length.into()).unwrap_or_default());
        };
        bytes.extend_from_slice(&self.since_ms.to_le_bytes());
        text(&mut bytes, &self.user);
        for list in [&self.puts, &self.gets] {
            bytes.extend_from_slice(&(list.len() as u32).to_le_bytes());
            for (queue, place) in list {
                bytes.extend_from_slice(&queue.to_le_bytes());
                bytes.extend_from_slice(&place.to_le_bytes());
            }
        }
        bytes.extend_from_slice(&(self.retained.len() as u32).to_le_bytes());
        for (place, topic) in &self.retained {
            bytes.extend_from_slice(&place.to_le_bytes());
            text(&mut bytes, topic);
        }
        bytes
    }

    pub(crate) fn read(bytes: &[u8]) -> Option<Record> {
        let mut from = Reader::new(bytes);
        if from.u8()? != VERSION {
            return None;
        }
        let state = match from.u8()? {
            b'P' => BranchState::Prepared,
            b'C' => BranchState::DecidedCommit,
            b'B' => BranchState::DecidedBackOut,
            _ => return None,
        };
        let since_ms = from.u64()?;
        let user = text_of(&mut from)?;
        let mut lists = [Vec::new(), Vec::new()];
        for list in &mut lists {
            for _ in 0..from.u32()? {
                list.push((from.u32()?, from.u64()?));
            }
        }
        let mut retained = Vec::new();
        for _ in 0..from.u32()? {
            retained.push((from.u64()?, text_of(&mut from)?));
        }
        let [puts, gets] = lists;
        let all = Record { state, since_ms, user, puts, gets, retained };
        from.rest().is_empty().then_some(all)
    }
}

fn text_of(from: &mut Reader<'_>) -> Option<String> {
    let length = usize::from(from.u16()?);
    String::from_utf8(from.take(length)?.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn branch() -> BranchId {
        BranchId::new(7, b"transaction", b"branch").expect("one")
    }

    #[test]
    fn an_identifier_is_read_as_it_was_written() {
        let short = BranchId::new(i64::MAX, &[255; 64], &[]).expect("one");
        for branch in [branch(), short] {
            assert_eq!(BranchId::of_key(&branch.key()), Some(branch.clone()));
            assert_eq!(BranchId::parse(&branch.to_string()), Some(branch));
        }
        for wrong in
            ["", "7", "7:AA", "7::", "-1:AA:BB", "7:A:B", "7:+A:00", "7:XX:00", "7:\u{e9}:00"]
        {
            assert_eq!(BranchId::parse(wrong), None, "{wrong}");
        }
        assert_eq!(BranchId::new(1, &[0; 65], b""), None);
        assert_eq!(BranchId::of_key(&[0; 8]), None);
    }

    #[test]
    fn a_record_is_read_as_it_was_written_or_not_at_all() {
        let record = Record {
            state: BranchState::DecidedCommit,
            since_ms: 5,
            user: "anna".into(),
            puts: vec![(1, 2), (3, u64::MAX)],
            gets: vec![(4, 5)],
            retained: vec![(6, "a/b".into())],
        };
        let bytes = record.write();
        assert_eq!(Record::read(&bytes), Some(record));
        for cut in 0..bytes.len() {
            assert_eq!(Record::read(&bytes[..cut]), None);
        }
        assert_eq!(Record::read(&[bytes, vec![0]].concat()), None);
    }
}
