//! Command messages about channels that run.

use queue_manager::QueueManager;
use queue_manager::channel::{ChannelError, ChannelState, ChannelStatus, ChannelType};
use queue_manager::name::matches_generic;
use store::Store;

use super::commands::{Found, Given, TOO_FEW};
use super::wire::{Content, Parameter};
use crate::dump::quoted;

const CHANNEL_NAME: i32 = 3501;
const NO_STATUS: i32 = 3065;

/// A command as operators type it.
pub(super) fn command(command: i32, given: &Given<'_>) -> Result<String, i32> {
    let name = quoted(given.text(CHANNEL_NAME).ok_or(TOO_FEW)?);
    Ok(match command {
        26 => {
            let bytes = given.integer(1512).map(|bytes| format!(" DATALEN({bytes})"));
            format!("PING CHANNEL({name}){}", bytes.unwrap_or_default())
        }
        27 => {
            let next = given.integer(1514).map(|next| format!(" SEQNUM({next})"));
            format!("RESET CHANNEL({name}){}", next.unwrap_or_default())
        }
        28 => format!("START CHANNEL({name})"),
        29 => {
            let mode = if given.integer(1008).unwrap_or(1) == 1 { "QUIESCE" } else { "FORCE" };
            let status = if given.integer(1527) == Some(0) { " STATUS(INACTIVE)" } else { "" };
            format!("STOP CHANNEL({name}) MODE({mode}){status}")
        }
        _ => {
            let action = match given.integer(1516).ok_or(TOO_FEW)? {
                1 => "COMMIT",
                _ => "BACKOUT",
            };
            format!("RESOLVE CHANNEL({name}) ACTION({action})")
        }
    })
}

/// The reason for what a channel does not do.
pub(super) fn reason(error: &ChannelError) -> i32 {
    match error {
        ChannelError::NotFound(_) => 4032,
        ChannelError::WrongType { .. } => 4041,
        ChannelError::InUse(_) => 4031,
        ChannelError::NotRunning(_) => 4064,
        ChannelError::InDoubt(_) => 4025,
        ChannelError::Sequence { .. } => 3030,
        ChannelError::Partner { .. } => 4010,
        ChannelError::Call { reason, .. } | ChannelError::Undeliverable { reason, .. } => reason.0,
        _ => 3008,
    }
}

fn type_number(of_type: ChannelType) -> i32 {
    match of_type {
        ChannelType::Sender => 1,
        ChannelType::Server => 2,
        ChannelType::Receiver => 3,
        ChannelType::Requester => 4,
    }
}

fn state_number(state: ChannelState) -> i32 {
    match state {
        ChannelState::Binding => 1,
        ChannelState::Starting => 2,
        ChannelState::Running => 3,
        ChannelState::Stopping => 4,
        ChannelState::Retrying => 5,
        ChannelState::Stopped => 6,
        ChannelState::Requesting => 7,
        ChannelState::Paused => 8,
        ChannelState::Initializing => 13,
    }
}

/// The status of channels that run or are stopped.
pub(super) fn statuses<S: Store>(manager: &QueueManager<S>, given: &Given<'_>) -> Found {
    let name = given.text(CHANNEL_NAME).ok_or(TOO_FEW)?;
    let mut all = manager.channels().statuses();
    all.retain(|one| matches_generic(&one.channel, name));
    match all.is_empty() {
        true => Err(NO_STATUS),
        false => Ok(all.iter().map(described).collect()),
    }
}

fn described(one: &ChannelStatus) -> Vec<Parameter> {
    let number = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
    let text = |id, text: &str| Parameter { id, content: Content::Text(text.to_owned()) };
    let integer = |id, value| Parameter { id, content: Content::Integer(value) };
    vec![
        text(CHANNEL_NAME, &one.channel),
        integer(1511, type_number(one.of_type)),
        text(3506, &one.connection_name),
        text(2017, &one.partner),
        text(3505, &one.transmission_queue),
        integer(1527, state_number(one.state)),
        integer(1528, i32::from(one.progress.in_doubt)),
        integer(1529, number(one.progress.last_sequence.0)),
        text(3531, &one.progress.last_batch.to_string()),
        integer(1532, number(one.progress.sequence.0)),
        text(3532, &one.progress.batch.to_string()),
        integer(1534, number(one.traffic.messages)),
        integer(1535, number(one.traffic.bytes_sent)),
        integer(1536, number(one.traffic.bytes_received)),
        integer(1537, number(one.traffic.batches)),
        text(3527, &one.user),
    ]
}
