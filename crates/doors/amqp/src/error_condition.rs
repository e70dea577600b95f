//! What peers are told of calls that failed.

use queue_manager::{Failed, Reason};

use crate::work::Trouble;

/// What the peer is told of a call that failed.
pub(crate) fn trouble_of(failed: Failed, what: &str) -> Trouble {
    let condition = match failed.0 {
        Reason::UNKNOWN_OBJECT_NAME | Reason::UNKNOWN_ALIAS_BASE_Q | Reason::NO_SUBSCRIPTION => {
            "amqp:not-found"
        }
        Reason::NOT_AUTHORIZED => "amqp:unauthorized-access",
        Reason::Q_FULL | Reason::MAX_CONNS_LIMIT_REACHED => "amqp:resource-limit-exceeded",
        Reason::OBJECT_IN_USE | Reason::SUBSCRIPTION_IN_USE => "amqp:resource-locked",
        Reason::Q_DELETED => "amqp:resource-deleted",
        Reason::SELECTION_STRING_ERROR | Reason::SELECTOR_SYNTAX_ERROR => "amqp:invalid-field",
        Reason::MSG_TOO_BIG_FOR_Q | Reason::MSG_TOO_BIG_FOR_Q_MGR => {
            "amqp:link:message-size-exceeded"
        }
        Reason::PUT_INHIBITED | Reason::GET_INHIBITED | Reason::SUB_INHIBITED => "amqp:not-allowed",
        Reason::Q_MGR_STOPPING | Reason::Q_MGR_QUIESCING => "amqp:connection:forced",
        _ => "amqp:internal-error",
    };
    Trouble { condition, words: format!("{what}: {failed}") }
}
