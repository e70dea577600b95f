//! Return codes and reason codes of a request status message, and what they mean.

/// A code, and what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The number as it is sent.
    pub code: u32,
    /// What it means.
    pub meaning: &'static str,
}

macro_rules! codes {
    ($(#[$about:meta])* $kind:ident { $($name:ident = $code:literal, $meaning:literal;)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $kind {
            $(#[doc = $meaning] $name,)*
        }

        impl $kind {
            /// All of them, each with its meaning.
            pub const ALL: &[($kind, Meaning)] =
                &[$(($kind::$name, Meaning { code: $code, meaning: $meaning })),*];

            /// The number as it is sent.
            #[must_use]
            pub const fn code(self) -> u32 {
                match self { $($kind::$name => $code),* }
            }

            /// What a number means, if it means anything.
            #[must_use]
            pub fn of(code: u32) -> Option<$kind> {
                match code { $($code => Some($kind::$name),)* _ => None }
            }

            /// What it means.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $($kind::$name => $meaning),* }
            }
        }
    };
}

codes! {
    /// Return codes.
    ReturnCode {
        Exit = 0x04, "The message exit refuses the request; the connection ends.";
        Connect = 0x08, "IMS Connect refuses the request; the connection ends.";
        Otma = 0x0c, "The transaction manager ended the exchange; the reason says how.";
        OtmaSense = 0x10,
            "The transaction manager refused the request; the reason is its sense code.";
        Ping = 0x14, "The answer to a ping or to a request of an exit.";
        Sci = 0x18, "The structured call interface reports an error.";
        Om = 0x1c, "The operations manager reports an error.";
        TimerClosed = 0x20,
            "The request's timer ran out; the connection ends. The reason is the timer.";
        TimerDefault = 0x24,
            "The server's own timer ran out; the connection ends. The reason is the timer.";
        TimerKept = 0x28, "The timer ran out; the connection stays. The reason is the timer.";
        Ended = 0x2c, "The wait was cancelled, or the data store has gone.";
    }
}

codes! {
    /// Reason codes with return codes 04, 08, 0C and 2C.
    Reason {
        DataTooBig = 0x04, "The message is longer than the server takes.";
        IrmLength = 0x06, "The header's length fits neither its level nor the message.";
        TotalLength = 0x07, "The message's length and the lengths in it do not agree.";
        BadBuffer = 0x09,
            "The request needs a header of a higher level, or has a function that there is not.";
        NoData = 0x0c, "The request needs a data segment and has none.";
        Security = 0x28, "The user is unknown, the password is wrong, or none was given.";
        DuplicateClient = 0x38, "Another connection has that client id.";
        ClientState = 0x3a, "The request does not fit what the client is doing.";
        CancelTimer = 0x3b, "The wait of the other connection was cancelled.";
        DataStoreUnknown = 0x48, "There is no data store of that name.";
        Shutdown = 0x49, "The server is shutting down.";
        DataStoreStopped = 0x4a, "The data store is stopped.";
        Communication = 0x4b, "The data store cannot be reached.";
        Stopped = 0x4c, "The client or the data store was stopped.";
        SecurityFailure = 0x4e, "The check of the user could not be made.";
        Protocol = 0x4f, "An acknowledgement was due, and something else came.";
        NoSyncPoint = 0x50, "Sync level syncpt is not available.";
        CommitMode1 = 0x5d, "Resume tpipe needs commit mode 0.";
        Conversation = 0x5f, "A conversation's rules are broken.";
        Deallocated = 0x61, "The program's work is committed.";
        DeallocateAbort = 0x62, "The program's work was backed out.";
    }
}

codes! {
    /// Sense codes of the transaction manager, with return code 10.
    Sense {
        Message = 0x1a, "The request was refused; where the client gets data, a message says why.";
        CommitMode = 0x1c, "The transaction and the commit mode do not go together.";
        Limit = 0x23, "A limit of the queues is reached.";
        NothingWaits = 0x2b, "Nothing waits for that answer.";
    }
}

/// What a status message says of a user who is not let in, whether the name or the password is
/// wrong.
pub const RACF_REFUSED: u8 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_belong_together() {
        for (code, meaning) in ReturnCode::ALL {
            assert_eq!(ReturnCode::of(meaning.code), Some(*code));
            assert_eq!((code.code(), code.meaning()), (meaning.code, meaning.meaning));
        }
        for (code, meaning) in Reason::ALL {
            assert_eq!(Reason::of(meaning.code), Some(*code));
            assert_eq!((code.code(), code.meaning()), (meaning.code, meaning.meaning));
        }
        assert_eq!(Reason::of(0x63), None);
    }
}
