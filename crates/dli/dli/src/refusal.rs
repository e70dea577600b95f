//! Why a segment is not inserted, and where the call stands then.

use crate::status::Status;

/// Why a segment was not inserted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) status: Status,
    /// Whether the path that the call uses is in the way: then position and PCB move there.
    pub(crate) is_here: bool,
}

impl Refusal {
    pub(crate) fn here(status: Status) -> Refusal {
        Refusal { status, is_here: true }
    }

    pub(crate) fn elsewhere(status: Status) -> Refusal {
        Refusal { status, is_here: false }
    }
}
