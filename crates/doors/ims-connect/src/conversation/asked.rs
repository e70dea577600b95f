//! What a request asks of the conversation, apart from its data.

use std::time::Duration;

use otma::{Name, Settlement};

use crate::wire::{Function, Irm, SocketType, Timer, f0, f1, f2, f3};

/// How long is waited where the client does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For the reply to an input.
    pub reply: Duration,
    /// For an output on a tpipe.
    pub resume: Duration,
    /// Behind the answer to a queued output.
    pub acknowledged: Duration,
    /// For the client's answer to an output.
    pub answer: Duration,
    /// Where a client that may not go without says that it does not wait.
    pub no_wait: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            reply: Duration::from_secs(30),
            resume: Duration::from_secs(2),
            acknowledged: Duration::from_millis(250),
            answer: Duration::from_secs(120),
            no_wait: Duration::from_secs(2),
        }
    }
}

/// What a request asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// What is wanted.
    pub function: Function,
    /// Whose tpipe it is, and who sends it.
    pub client: Name,
    /// Another tpipe, of a resume.
    pub other: Name,
    /// The timer's byte.
    pub timer: u8,
    /// What becomes of the connection.
    pub socket: SocketType,
    /// The header's level.
    pub level: u8,
    /// Flags, see [`crate::wire::f0`] and so on.
    pub f0: u8,
    /// Flags.
    pub f1: u8,
    /// Flags.
    pub f2: u8,
    /// Flags.
    pub f3: u8,
    /// Flags.
    pub f5: u8,
    /// Reason of a NAK.
    pub nak_reason: u16,
}

impl Asked {
    /// What a header asks, for a client.
    #[must_use]
    pub fn new(irm: &Irm, client: Name) -> Asked {
        Asked {
            function: irm.function,
            client,
            other: irm.reroute,
            timer: irm.timer,
            socket: irm.socket_type(),
            level: irm.level,
            f0: irm.f0,
            f1: irm.f1,
            f2: irm.f2,
            f3: irm.f3,
            f5: irm.f5,
            nak_reason: irm.nak_reason,
        }
    }

    /// Whether outputs are queued: mode 0. A send-only input is always that; a client that names
    /// no mode waits for its reply and gets mode 1.
    #[must_use]
    pub fn is_mode_0(&self) -> bool {
        use Function::{SendOnly, SendOnlyAck, SendOnlyError};
        matches!(self.function, SendOnly | SendOnlyAck | SendOnlyError) || self.f2 & f2::MODE_0 != 0
    }

    /// Whether the client answers outputs of mode 1.
    #[must_use]
    pub fn confirms(&self) -> bool {
        self.f3 & f3::CONFIRM != 0
    }

    /// Whether the client waits for nothing behind its answer to a queued output.
    #[must_use]
    pub fn waits_not(&self) -> bool {
        self.f1 & f1::NO_WAIT != 0 || Timer::of(self.timer) == Timer::NoWait
    }

    /// How long to wait; `None` is for ever.
    #[must_use]
    pub fn wait(&self, own: Duration, no_wait: Duration) -> Option<Duration> {
        match Timer::of(self.timer) {
            Timer::Default => Some(own),
            Timer::After(time) => Some(time),
            Timer::NoWait => Some(no_wait),
            Timer::Forever => None,
        }
    }

    /// What a NAK, or a client that goes, means for a queued output: it stays where it is, unless
    /// the client has asked that what cannot be delivered be discarded, or go elsewhere, and does
    /// not want to keep this one.
    #[must_use]
    pub fn undelivered(&self) -> Settlement {
        match self.f3 {
            _ if self.f0 & f0::NAK_RETAIN != 0 => Settlement::Kept,
            flags if flags & f3::PURGE != 0 => Settlement::Refused,
            flags if flags & f3::REROUTE != 0 => Settlement::Rerouted,
            _ => Settlement::Kept,
        }
    }
}
