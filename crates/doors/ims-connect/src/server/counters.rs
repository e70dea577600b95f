//! What is counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

macro_rules! counters {
    ($($(#[doc = $about:literal])* $name:ident,)*) => {
        /// Counters of a server since it was started.
        #[derive(Default)]
        pub struct Counters {
            $(pub(super) $name: AtomicU64,)*
            refusals: Mutex<BTreeMap<(u32, u32), u64>>,
        }

        /// Counters at a moment.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Counted {
            $($(#[doc = $about])* pub $name: u64,)*
            /// Status messages by return code and reason code. Timers have one entry for all.
            pub statuses: BTreeMap<(u32, u32), u64>,
        }

        impl Counters {
            /// What has been counted.
            #[must_use]
            pub fn read(&self) -> Counted {
                Counted {
                    $($name: self.$name.load(Ordering::Relaxed),)*
                    statuses: self.refusals.lock().clone(),
                }
            }
        }
    };
}

counters! {
    /// Connections that were accepted.
    accepted,
    /// Connections that are open.
    open,
    /// Connections that were turned away, because there were too many.
    turned_away,
    /// Handshakes that failed.
    handshakes_failed,
    /// Connections that ended because of what was no message.
    garbage,
    /// Connections that ended because a client was too slow.
    slow,
    /// Messages from clients.
    messages_in,
    /// Messages to clients.
    messages_out,
    /// Bytes of messages from clients.
    bytes_in,
    /// Bytes of messages to clients.
    bytes_out,
    /// Checks of passwords.
    password_checks,
}

/// Return codes from which the reason is a timer.
const TIMERS: std::ops::RangeInclusive<u32> = 0x20..=0x28;

impl Counters {
    pub(super) fn add(&self, which: &AtomicU64) {
        which.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn less(&self, which: &AtomicU64) {
        which.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn status(&self, code: u32, reason: u32) {
        let reason = if TIMERS.contains(&code) { 0 } else { reason };
        *self.refusals.lock().entry((code, reason)).or_default() += 1;
    }
}
