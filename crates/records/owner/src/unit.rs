//! Requests of a connection besides those for files: units of work of the program, and batches of
//! changes that another system sends on.
//!
//! | request | bytes behind its number | answers |
//! |---|---|---|
//! | RECEIVED | the source, 16 | the number of its last batch; 0 if there was none |
//! | MARK | the source, 16; the number of a batch, 8, the least first | the number of the last batch: status 00 if this is the next and is noted in the program's unit of work, 22 if it was noted before, 21 if others are missing |
//!
//! Invariants:
//! 1. None of these numbers begins a request of [`file_handler::wire`].

/// Begins a unit of work.
pub const BEGIN: u8 = 10;
/// Commits it; the answer comes when that is durable.
pub const COMMIT: u8 = 11;
/// Backs it out.
pub const BACKOUT: u8 = 12;
/// Asks for the last batch of a source.
pub const RECEIVED: u8 = 13;
/// Says which batch of a source the unit of work is.
pub const MARK: u8 = 14;

/// The set that has the number of the last batch of each source.
pub const RECEIVED_SET: &str = "HOLDFAST.RECEIVED";

/// A request for the last batch of a source.
#[must_use]
pub fn received(source: &[u8; 16]) -> Vec<u8> {
    [&[RECEIVED], &source[..]].concat()
}

/// A request that marks the unit of work as a batch.
#[must_use]
pub fn mark(source: &[u8; 16], number: u64) -> Vec<u8> {
    [&[MARK], &source[..], &number.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use file_handler::request_kind::nature;
    use file_handler::wire::Request;

    use super::*;

    #[test]
    fn no_request_of_a_file_begins_like_one_of_the_connection() {
        for code in [BEGIN, COMMIT, BACKOUT, RECEIVED, MARK] {
            let long = [[code].as_slice(), &[0; 64]].concat();
            for bytes in [&[code][..], &long] {
                assert_eq!((nature(bytes), Request::read(bytes)), (None, None), "{code}");
            }
        }
    }
}
