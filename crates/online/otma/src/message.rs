//! Messages: what comes in, and what goes out.

use std::time::Duration;

use crate::name::Name;
use crate::segments::Segments;

/// Who waits for whom (see the head of this crate).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitMode {
    /// Mode 0.
    CommitThenSend,
    /// Mode 1.
    SendThenCommit,
}

/// Whether a client answers an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SyncLevel {
    /// No.
    #[default]
    None,
    /// Yes: the output waits for its acknowledgement; in mode 1 the sync point does, too.
    Confirm,
}

/// The code page of a message's characters. Nothing is translated between a client and a program
/// that agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// ASCII, or a code page that contains it.
    #[default]
    Ascii,
    /// EBCDIC.
    Ebcdic,
}

/// What a client adds to an input to recognize what belongs to it; it goes back with each output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Correlator(pub Vec<u8>);

/// A user who was checked, or who did not have to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The user; blank where users are not checked and none was named.
    pub user: Name,
    /// The group.
    pub group: Name,
}

/// A message from a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The transaction's code, or the verb of a command if it begins with `/`.
    pub transaction: Name,
    /// What the program gets: the first segment's data begin with whatever the client put there.
    pub segments: Segments,
    /// Who sends it.
    pub client: Name,
    /// Where its output waits; blank is the client's name.
    pub tpipe: Name,
    /// The logical terminal that the program sees; blank is the tpipe.
    pub terminal: Name,
    /// The format's name (MOD) that came with it.
    pub mod_name: Name,
    /// Who it is, checked.
    pub identity: Identity,
    /// Who waits for whom.
    pub mode: CommitMode,
    /// Whether the client answers outputs.
    pub sync_level: SyncLevel,
    /// The code page of its characters.
    pub encoding: Encoding,
    /// The rest.
    pub options: InputOptions,
    /// Goes back with each output.
    pub correlator: Option<Correlator>,
}

/// What else a client may ask for with an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputOptions {
    /// It wants no output now: what there is stays on its tpipe.
    pub send_only: bool,
    /// Send-only inputs come into their transaction's queue in the order in which they are sent. A
    /// manager may see to that in any case.
    pub ordered: bool,
    /// All that the program sends to the I/O PCB is one message, whatever it purges.
    pub ignore_purge: bool,
    /// It wants an answer (DFS2082) if the program sends none.
    pub tell_if_no_reply: bool,
    /// An output that cannot be delivered is discarded rather than kept.
    pub purge_undeliverable: bool,
    /// The tpipe for an output that cannot be delivered; blank is none.
    pub reroute: Name,
    /// How long the input may wait for a program.
    pub expires_in: Option<Duration>,
}

/// An output on a tpipe, or in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputId(pub u64);

/// A message to a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// By which it is settled.
    pub id: OutputId,
    /// What the program sent.
    pub segments: Segments,
    /// The format's name (MOD); blank if none.
    pub mod_name: Name,
    /// The code page of its characters.
    pub encoding: Encoding,
    /// The transaction is a conversation that goes on.
    pub in_conversation: bool,
    /// An acknowledgement is waited for.
    pub wants_answer: bool,
    /// More outputs wait on its tpipe.
    pub more_queued: bool,
    /// What came with the input.
    pub correlator: Option<Correlator>,
}
