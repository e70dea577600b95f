//! What a program of a region and its server say to each other: frames, a piece at a time, on the
//! way of the region's own calls.
//!
//! | byte of a request | field | |
//! |---|---|---|
//! | 0 | what | see [`RequestKind`] |
//! | 1-8 | connection | 0: a new one, whose first frame is a connect |
//! | 9- | bytes | of a frame |
//!
//! | byte of an answer | field | |
//! |---|---|---|
//! | 0 | what | see [`AnswerKind`] |
//! | 1-8 | connection | |
//! | 9-16 | left | how many bytes of the answer's frame follow behind these |
//! | 17- | bytes | of the answer's frame |
//!
//! Numbers are little endian.
//!
//! Invariants:
//! 1. No piece is longer than [`PIECE_BYTES`].

/// The most bytes of a frame that go at a time.
pub const PIECE_BYTES: usize = 512 * 1024;
/// What stands in front of a request's piece.
pub const REQUEST_BYTES: usize = 9;
/// What stands in front of an answer's piece.
pub const ANSWER_BYTES: usize = 17;

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RequestKind {
    /// Bytes of a frame that goes on.
    Part = 1,
    /// The last bytes of a frame: the call is to be made.
    Call = 2,
    /// Nothing had come for a get that waits: it goes on.
    Again = 3,
    /// More bytes of the answer.
    More = 4,
    /// Whether the connection is still there.
    IsThere = 5,
}

/// What an answer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AnswerKind {
    /// Bytes of an answer's frame.
    Answer = 1,
    /// Go on.
    GoOn = 2,
    /// Nothing has come yet: ask again.
    Waits = 3,
    /// There is no such connection, or no longer: a program that gets its input as messages loses
    /// its connections at each sync point.
    Gone = 4,
    /// There is no queue manager here.
    Nowhere = 5,
}

impl RequestKind {
    /// What a request is, whose connection, and its bytes.
    #[must_use]
    pub fn read(request: &[u8]) -> Option<(RequestKind, u64, &[u8])> {
        let (front, bytes) = request.split_first_chunk::<REQUEST_BYTES>()?;
        let [what, connection @ ..] = *front;
        let all = [
            RequestKind::Part,
            RequestKind::Call,
            RequestKind::Again,
            RequestKind::More,
            RequestKind::IsThere,
        ];
        let what = all.into_iter().find(|one| *one as u8 == what)?;
        (bytes.len() <= PIECE_BYTES).then_some((what, u64::from_le_bytes(connection), bytes))
    }

    /// Writes a request.
    pub fn write(self, connection: u64, bytes: &[u8], request: &mut Vec<u8>) {
        request.clear();
        request.push(self as u8);
        request.extend_from_slice(&connection.to_le_bytes());
        request.extend_from_slice(bytes);
    }
}

impl AnswerKind {
    /// What an answer is, whose connection, what is left, and its bytes.
    #[must_use]
    pub fn read(answer: &[u8]) -> Option<(AnswerKind, u64, u64, &[u8])> {
        let (front, bytes) = answer.split_first_chunk::<ANSWER_BYTES>()?;
        let (what, numbers) = front.split_first()?;
        let (connection, rest) = numbers.split_first_chunk::<8>()?;
        let left = rest.first_chunk::<8>()?;
        let all = [
            AnswerKind::Answer,
            AnswerKind::GoOn,
            AnswerKind::Waits,
            AnswerKind::Gone,
            AnswerKind::Nowhere,
        ];
        let what = all.into_iter().find(|one| *one as u8 == *what)?;
        Some((what, u64::from_le_bytes(*connection), u64::from_le_bytes(*left), bytes))
    }

    /// Writes an answer.
    pub fn write(self, connection: u64, left: u64, bytes: &[u8], answer: &mut Vec<u8>) {
        answer.clear();
        answer.push(self as u8);
        answer.extend_from_slice(&connection.to_le_bytes());
        answer.extend_from_slice(&left.to_le_bytes());
        answer.extend_from_slice(bytes);
    }
}
