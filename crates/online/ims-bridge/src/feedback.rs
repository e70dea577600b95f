//! Why a message cannot become an input of a transaction: the reason in the header of the dead
//! letter that it becomes, and the feedback of the exception report that it may ask for.
//!
//! | feedback | |
//! |---|---|
//! | 291 to 296 | the message's lengths or its header are wrong |
//! | 298 | its user may not do that |
//! | 300 | the transaction manager has refused it, for a reason that has no code |
//! | 301 to 399 | the code with which it has refused it, and 300 |
//!
//! Invariants:
//! 1. What is no fault of the message has no feedback: it waits.

use otma::Reason as Cause;
use queue_manager::Reason;

/// LL of a segment is zero, or there is no segment.
pub const DATA_LENGTH_ZERO: Reason = Reason(291);
/// LL of a segment is negative.
pub const DATA_LENGTH_NEGATIVE: Reason = Reason(292);
/// LL of a segment is longer than what is there.
pub const DATA_LENGTH_TOO_BIG: Reason = Reason(293);
/// All segments together are longer than an input may be.
pub const BUFFER_OVERFLOW: Reason = Reason(294);
/// LL is one byte too long or too short.
pub const LENGTH_OFF_BY_ONE: Reason = Reason(295);
/// The header is none, or says what does not exist.
pub const IIH_ERROR: Reason = Reason(296);
/// The user may not use the transaction, or is not who the message says.
pub const NOT_AUTHORIZED_FOR_IMS: Reason = Reason(298);
/// Refused, without a code.
pub const IMS_ERROR: Reason = Reason(300);
/// The input was refused: its transaction is unknown or stopped.
pub const IMS_REJECTED: Reason = Reason(300 + 0x1a);

/// What to do with a message that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It becomes a dead letter.
    Never(Reason),
    /// It waits: why, for people.
    Now(String),
}

impl Refused {
    /// What a refusal of the transaction manager means for the message.
    #[must_use]
    pub fn of(refusal: &otma::Refusal) -> Refused {
        match refusal.reason {
            Cause::UnknownTransaction | Cause::TransactionStopped => Refused::Never(IMS_REJECTED),
            Cause::NotAuthorized | Cause::NotAuthenticated => {
                Refused::Never(NOT_AUTHORIZED_FOR_IMS)
            }
            Cause::TooLarge => Refused::Never(BUFFER_OVERFLOW),
            Cause::Conversation | Cause::CommitMode | Cause::Expired => Refused::Never(IMS_ERROR),
            _ => Refused::Now(refusal.text.clone()),
        }
    }
}
