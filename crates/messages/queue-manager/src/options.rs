//! What callers hand to the calls: descriptors of objects and subscriptions, and options.

use crate::descriptor::{Identifier, NO_IDENTIFIER};
use crate::name::ObjectName;
use crate::reason::{Completion, Outcome};

/// Bits and numbers of options.
#[allow(missing_docs)] // the names are those of the interface
pub mod value {
    /// Kinds of objects that can be opened.
    pub mod object_type {
        pub const Q: i32 = 1;
        pub const NAMELIST: i32 = 2;
        pub const PROCESS: i32 = 3;
        pub const Q_MGR: i32 = 5;
        pub const TOPIC: i32 = 8;
    }
    /// Options of opening.
    pub mod open {
        pub const INPUT_AS_Q_DEF: i32 = 1;
        pub const INPUT_SHARED: i32 = 2;
        pub const INPUT_EXCLUSIVE: i32 = 4;
        pub const BROWSE: i32 = 8;
        pub const OUTPUT: i32 = 0x10;
        pub const INQUIRE: i32 = 0x20;
        pub const SET: i32 = 0x40;
        pub const SAVE_ALL_CONTEXT: i32 = 0x80;
        pub const PASS_IDENTITY_CONTEXT: i32 = 0x100;
        pub const PASS_ALL_CONTEXT: i32 = 0x200;
        pub const SET_IDENTITY_CONTEXT: i32 = 0x400;
        pub const SET_ALL_CONTEXT: i32 = 0x800;
        pub const ALTERNATE_USER_AUTHORITY: i32 = 0x1000;
        pub const FAIL_IF_QUIESCING: i32 = 0x2000;
        pub const BIND_ON_OPEN: i32 = 0x4000;
        pub const BIND_NOT_FIXED: i32 = 0x8000;
        pub const RESOLVE_NAMES: i32 = 0x1_0000;
        pub const CO_OP: i32 = 0x2_0000;
        pub const RESOLVE_LOCAL_Q: i32 = 0x4_0000;
        pub const NO_READ_AHEAD: i32 = 0x8_0000;
        pub const READ_AHEAD: i32 = 0x10_0000;
        pub const NO_MULTICAST: i32 = 0x20_0000;
        pub const BIND_ON_GROUP: i32 = 0x40_0000;
        pub const ANY_INPUT: i32 = INPUT_AS_Q_DEF | INPUT_SHARED | INPUT_EXCLUSIVE;
        pub const ANY_CONTEXT: i32 =
            PASS_IDENTITY_CONTEXT | PASS_ALL_CONTEXT | SET_IDENTITY_CONTEXT | SET_ALL_CONTEXT;
        /// None of the interface's own: the queue is not one from which the system itself carries
        /// out what is put there. For a program that puts what another user has made.
        pub const NOT_CARRIED_OUT: i32 = 0x4000_0000;
        pub const ALL: i32 = 0x407F_FFFF;
    }
    /// Options of closing.
    pub mod close {
        pub const NONE: i32 = 0;
        pub const DELETE: i32 = 1;
        pub const DELETE_PURGE: i32 = 2;
        pub const KEEP_SUB: i32 = 4;
        pub const REMOVE_SUB: i32 = 8;
        pub const QUIESCE: i32 = 32;
        pub const ALL: i32 = 47;
    }
    /// Options of getting.
    pub mod get {
        pub const WAIT: i32 = 1;
        pub const SYNCPOINT: i32 = 2;
        pub const NO_SYNCPOINT: i32 = 4;
        pub const SET_SIGNAL: i32 = 8;
        pub const BROWSE_FIRST: i32 = 0x10;
        pub const BROWSE_NEXT: i32 = 0x20;
        pub const ACCEPT_TRUNCATED_MSG: i32 = 0x40;
        pub const MARK_SKIP_BACKOUT: i32 = 0x80;
        pub const MSG_UNDER_CURSOR: i32 = 0x100;
        pub const LOCK: i32 = 0x200;
        pub const UNLOCK: i32 = 0x400;
        pub const BROWSE_MSG_UNDER_CURSOR: i32 = 0x800;
        pub const SYNCPOINT_IF_PERSISTENT: i32 = 0x1000;
        pub const FAIL_IF_QUIESCING: i32 = 0x2000;
        pub const CONVERT: i32 = 0x4000;
        pub const LOGICAL_ORDER: i32 = 0x8000;
        pub const COMPLETE_MSG: i32 = 0x1_0000;
        pub const ALL_MSGS_AVAILABLE: i32 = 0x2_0000;
        pub const ALL_SEGMENTS_AVAILABLE: i32 = 0x4_0000;
        pub const MARK_BROWSE_HANDLE: i32 = 0x10_0000;
        pub const MARK_BROWSE_CO_OP: i32 = 0x20_0000;
        pub const UNMARK_BROWSE_CO_OP: i32 = 0x40_0000;
        pub const UNMARK_BROWSE_HANDLE: i32 = 0x80_0000;
        pub const UNMARKED_BROWSE_MSG: i32 = 0x100_0000;
        pub const PROPERTIES_FORCE_MQRFH2: i32 = 0x200_0000;
        pub const NO_PROPERTIES: i32 = 0x400_0000;
        pub const PROPERTIES_IN_HANDLE: i32 = 0x800_0000;
        pub const PROPERTIES_COMPATIBILITY: i32 = 0x1000_0000;
        pub const ANY_BROWSE: i32 = BROWSE_FIRST | BROWSE_NEXT | BROWSE_MSG_UNDER_CURSOR;
        pub const AT_CURSOR: i32 = MSG_UNDER_CURSOR | BROWSE_MSG_UNDER_CURSOR;
        pub const ALL: i32 = 0x1FF7_FFFF;
    }
    /// What a get compares.
    pub mod matching {
        pub const NONE: i32 = 0;
        pub const MSG_ID: i32 = 1;
        pub const CORREL_ID: i32 = 2;
        pub const GROUP_ID: i32 = 4;
        pub const MSG_SEQ_NUMBER: i32 = 8;
        pub const OFFSET: i32 = 16;
        pub const MSG_TOKEN: i32 = 32;
        pub const ALL: i32 = 63;
    }
    /// Options of putting.
    pub mod put {
        pub const SYNCPOINT: i32 = 2;
        pub const NO_SYNCPOINT: i32 = 4;
        pub const DEFAULT_CONTEXT: i32 = 0x20;
        pub const NEW_MSG_ID: i32 = 0x40;
        pub const NEW_CORREL_ID: i32 = 0x80;
        pub const PASS_IDENTITY_CONTEXT: i32 = 0x100;
        pub const PASS_ALL_CONTEXT: i32 = 0x200;
        pub const SET_IDENTITY_CONTEXT: i32 = 0x400;
        pub const SET_ALL_CONTEXT: i32 = 0x800;
        pub const ALTERNATE_USER_AUTHORITY: i32 = 0x1000;
        pub const FAIL_IF_QUIESCING: i32 = 0x2000;
        pub const NO_CONTEXT: i32 = 0x4000;
        pub const LOGICAL_ORDER: i32 = 0x8000;
        pub const ASYNC_RESPONSE: i32 = 0x1_0000;
        pub const SYNC_RESPONSE: i32 = 0x2_0000;
        pub const RESOLVE_LOCAL_Q: i32 = 0x4_0000;
        pub const WARN_IF_NO_SUBS_MATCHED: i32 = 0x8_0000;
        pub const RETAIN: i32 = 0x20_0000;
        pub const MD_FOR_OUTPUT_ONLY: i32 = 0x80_0000;
        pub const SCOPE_QMGR: i32 = 0x400_0000;
        pub const SUPPRESS_REPLYTO: i32 = 0x800_0000;
        pub const NOT_OWN_SUBS: i32 = 0x1000_0000;
        pub const ANY_CONTEXT: i32 = DEFAULT_CONTEXT
            | PASS_IDENTITY_CONTEXT
            | PASS_ALL_CONTEXT
            | SET_IDENTITY_CONTEXT
            | SET_ALL_CONTEXT
            | NO_CONTEXT;
        /// As the option of opens.
        pub const NOT_CARRIED_OUT: i32 = 0x2000_0000;
        pub const ALL: i32 = 0x3CAF_FFE6;
    }
    /// Options of subscribing.
    pub mod subscribe {
        pub const ALTER: i32 = 1;
        pub const CREATE: i32 = 2;
        pub const RESUME: i32 = 4;
        pub const DURABLE: i32 = 8;
        pub const GROUP_SUB: i32 = 0x10;
        pub const MANAGED: i32 = 0x20;
        pub const SET_IDENTITY_CONTEXT: i32 = 0x40;
        pub const NO_MULTICAST: i32 = 0x80;
        pub const FIXED_USERID: i32 = 0x100;
        pub const ANY_USERID: i32 = 0x200;
        pub const PUBLICATIONS_ON_REQUEST: i32 = 0x800;
        pub const NEW_PUBLICATIONS_ONLY: i32 = 0x1000;
        pub const FAIL_IF_QUIESCING: i32 = 0x2000;
        pub const ALTERNATE_USER_AUTHORITY: i32 = 0x4_0000;
        pub const WILDCARD_CHAR: i32 = 0x10_0000;
        pub const WILDCARD_TOPIC: i32 = 0x20_0000;
        pub const SET_CORREL_ID: i32 = 0x40_0000;
        pub const SCOPE_QMGR: i32 = 0x400_0000;
        pub const NO_READ_AHEAD: i32 = 0x800_0000;
        pub const READ_AHEAD: i32 = 0x1000_0000;
        pub const ALL: i32 = 0x1C74_3BFF;
    }
    /// What a put does with the message of a message handle.
    pub mod action {
        pub const NEW: i32 = 0;
        pub const FORWARD: i32 = 1;
        pub const REPLY: i32 = 2;
        pub const REPORT: i32 = 3;
    }
    /// Which fields put message records have.
    pub mod put_record {
        pub const MSG_ID: i32 = 1;
        pub const CORREL_ID: i32 = 2;
        pub const GROUP_ID: i32 = 4;
        pub const FEEDBACK: i32 = 8;
        pub const ACCOUNTING_TOKEN: i32 = 16;
        pub const ALL: i32 = 31;
    }
    /// A wait without end.
    pub const WAIT_UNLIMITED: i32 = -1;
}

/// An open object of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle(pub i32);

/// A message handle: properties of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageHandle(pub i64);

/// One destination of a distribution list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectRecord {
    /// The queue.
    pub object_name: ObjectName,
    /// Its queue manager.
    pub object_q_mgr_name: ObjectName,
}

/// What is to be opened.
#[derive(Clone, Debug)]
pub struct ObjectDescriptor {
    /// See [`value::object_type`].
    pub object_type: i32,
    /// Its name.
    pub object_name: ObjectName,
    /// The queue manager that has it; blank: this one.
    pub object_q_mgr_name: ObjectName,
    /// For a model queue: the name of the dynamic queue, with `*` at the end where characters are
    /// to be chosen. After the call it is in `object_name`.
    pub dynamic_q_name: ObjectName,
    /// The user whose authority counts, if an option says so.
    pub alternate_user_id: [u8; 12],
    /// Destinations of a distribution list; none: it is no list.
    pub records: Vec<ObjectRecord>,
    /// Whether the caller takes an answer for each destination.
    pub wants_responses: bool,
    /// The answer for each destination.
    pub responses: Vec<Outcome>,
    /// Destinations that are local queues.
    pub known_dest_count: i32,
    /// Destinations elsewhere.
    pub unknown_dest_count: i32,
    /// Destinations that could not be opened.
    pub invalid_dest_count: i32,
    /// The queue that the name leads to.
    pub resolved_q_name: ObjectName,
    /// Its queue manager.
    pub resolved_q_mgr_name: ObjectName,
    /// The kind of object that the name leads to.
    pub resolved_type: i32,
    /// For topics: the topic string, behind that of the object.
    pub object_string: String,
    /// For queues: which messages this handle sees.
    pub selection_string: String,
    /// For topics: the whole topic string.
    pub resolved_object_string: String,
}

impl Default for ObjectDescriptor {
    fn default() -> ObjectDescriptor {
        ObjectDescriptor {
            object_type: value::object_type::Q,
            object_name: ObjectName::BLANK,
            object_q_mgr_name: ObjectName::BLANK,
            dynamic_q_name: ObjectName::from("AMQ.*"),
            alternate_user_id: [b' '; 12],
            records: Vec::new(),
            wants_responses: false,
            responses: Vec::new(),
            known_dest_count: 0,
            unknown_dest_count: 0,
            invalid_dest_count: 0,
            resolved_q_name: ObjectName::BLANK,
            resolved_q_mgr_name: ObjectName::BLANK,
            resolved_type: 0,
            object_string: String::new(),
            selection_string: String::new(),
            resolved_object_string: String::new(),
        }
    }
}

impl ObjectDescriptor {
    /// A queue of this queue manager.
    #[must_use]
    pub fn queue(name: &str) -> ObjectDescriptor {
        ObjectDescriptor { object_name: ObjectName::from(name), ..ObjectDescriptor::default() }
    }

    /// A topic by its string.
    #[must_use]
    pub fn topic(string: &str) -> ObjectDescriptor {
        ObjectDescriptor {
            object_type: value::object_type::TOPIC,
            object_string: string.to_owned(),
            ..ObjectDescriptor::default()
        }
    }
}

/// What differs for one destination of a distribution list.
#[derive(Clone, Copy, Debug)]
pub struct PutRecord {
    /// Identifies the message.
    pub msg_id: Identifier,
    /// What it belongs to.
    pub correl_id: Identifier,
    /// Its group.
    pub group_id: Identifier,
    /// Its feedback.
    pub feedback: i32,
    /// Its accounting token.
    pub accounting_token: [u8; 32],
}

impl Default for PutRecord {
    fn default() -> PutRecord {
        PutRecord {
            msg_id: NO_IDENTIFIER,
            correl_id: NO_IDENTIFIER,
            group_id: NO_IDENTIFIER,
            feedback: 0,
            accounting_token: [0; 32],
        }
    }
}

/// How to put.
#[derive(Clone, Debug, Default)]
pub struct PutOptions {
    /// See [`value::put`].
    pub options: i32,
    /// The input handle whose context is passed on.
    pub context: Option<Handle>,
    /// Messages put to local queues.
    pub known_dest_count: i32,
    /// Messages put for other queue managers.
    pub unknown_dest_count: i32,
    /// Messages that could not be put.
    pub invalid_dest_count: i32,
    /// The queue that the message went to.
    pub resolved_q_name: ObjectName,
    /// Its queue manager.
    pub resolved_q_mgr_name: ObjectName,
    /// What differs for each destination of a list. The call returns what it has used.
    pub records: Vec<PutRecord>,
    /// Which fields of `records` count: see [`value::put_record`].
    pub record_fields: i32,
    /// Whether the caller takes an answer for each destination.
    pub wants_responses: bool,
    /// The answer for each destination.
    pub responses: Vec<Outcome>,
    /// Properties of the message, or of the one that it answers.
    pub original_msg_handle: Option<MessageHandle>,
    /// Properties that come in place of those, or with them.
    pub new_msg_handle: Option<MessageHandle>,
    /// See [`value::action`].
    pub action: i32,
    /// The highest level of subscriptions that receive it.
    pub pub_level: i32,
    /// The caller has descriptors of the first version: what they cannot say may stand in front of
    /// the data.
    pub extends: bool,
}

impl PutOptions {
    /// With these options.
    #[must_use]
    pub fn new(options: i32) -> PutOptions {
        PutOptions { options, pub_level: 9, ..PutOptions::default() }
    }
}

/// How to get.
#[derive(Clone, Debug)]
pub struct GetOptions {
    /// See [`value::get`].
    pub options: i32,
    /// How long to wait, in milliseconds; -1: without end.
    pub wait_interval: i32,
    /// See [`value::matching`].
    pub match_options: i32,
    /// ' ' none, 'G' in a group, 'L' its last message.
    pub group_status: u8,
    /// ' ' none, 'S' a segment, 'L' the last one.
    pub segment_status: u8,
    /// ' ' may not be segmented, 'A' may be.
    pub segmentation: u8,
    /// What identifies a message on its queue.
    pub msg_token: [u8; 16],
    /// Bytes of the message that were returned.
    pub returned_length: i32,
    /// Where properties go.
    pub msg_handle: Option<MessageHandle>,
    /// The queue that the message came from.
    pub resolved_q_name: ObjectName,
    /// The caller has descriptors of the first version: what they cannot say comes in front of the
    /// data.
    pub extends: bool,
}

impl Default for GetOptions {
    fn default() -> GetOptions {
        GetOptions {
            options: 0,
            wait_interval: 0,
            match_options: value::matching::MSG_ID | value::matching::CORREL_ID,
            group_status: b' ',
            segment_status: b' ',
            segmentation: b' ',
            msg_token: [0; 16],
            returned_length: -1,
            msg_handle: None,
            resolved_q_name: ObjectName::BLANK,
            extends: false,
        }
    }
}

impl GetOptions {
    /// With these options, without a wait.
    #[must_use]
    pub fn new(options: i32) -> GetOptions {
        GetOptions { options, ..GetOptions::default() }
    }
}

/// What a get returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Got {
    /// How it ended: done or with a warning.
    pub outcome: Outcome,
    /// Bytes of the whole message, however many of them were returned.
    pub data_length: usize,
}

/// What is to be subscribed to, and how.
#[derive(Clone, Debug)]
pub struct SubscriptionDescriptor {
    /// See [`value::subscribe`].
    pub options: i32,
    /// A topic object.
    pub object_name: ObjectName,
    /// The user whose authority counts, if an option says so.
    pub alternate_user_id: [u8; 12],
    /// Tenths of a second; -1: never.
    pub sub_expiry: i32,
    /// The topic string, behind that of the object.
    pub object_string: String,
    /// The subscription's name.
    pub sub_name: String,
    /// Comes with each publication.
    pub sub_user_data: String,
    /// The correlation identifier of all its publications.
    pub sub_correl_id: Identifier,
    /// Priority of its publications; -3: as published, -1: as the queue has it.
    pub pub_priority: i32,
    /// Accounting token of its publications.
    pub pub_accounting_token: [u8; 32],
    /// Identity data of its publications.
    pub pub_appl_identity_data: [u8; 32],
    /// Which publications it takes.
    pub selection_string: String,
    /// Its level.
    pub sub_level: i32,
    /// The whole topic string.
    pub resolved_object_string: String,
}

impl Default for SubscriptionDescriptor {
    fn default() -> SubscriptionDescriptor {
        SubscriptionDescriptor {
            options: 0,
            object_name: ObjectName::BLANK,
            alternate_user_id: [b' '; 12],
            sub_expiry: -1,
            object_string: String::new(),
            sub_name: String::new(),
            sub_user_data: String::new(),
            sub_correl_id: NO_IDENTIFIER,
            pub_priority: -3,
            pub_accounting_token: [0; 32],
            pub_appl_identity_data: [b' '; 32],
            selection_string: String::new(),
            sub_level: 1,
            resolved_object_string: String::new(),
        }
    }
}

/// What became of puts that did not wait for their answers.
#[derive(Clone, Debug)]
pub struct Status {
    /// The worst completion and the first reason.
    pub outcome: Outcome,
    /// Puts that were done.
    pub put_success_count: i32,
    /// Puts that were done with a warning.
    pub put_warning_count: i32,
    /// Puts that failed.
    pub put_failure_count: i32,
    /// The kind of object that the outcome concerns.
    pub object_type: i32,
    /// Its name.
    pub object_name: ObjectName,
    /// Its queue manager.
    pub object_q_mgr_name: ObjectName,
    /// The queue that it led to.
    pub resolved_object_name: ObjectName,
    /// Its queue manager.
    pub resolved_q_mgr_name: ObjectName,
}

impl Default for Status {
    fn default() -> Status {
        Status {
            outcome: Outcome::OK,
            put_success_count: 0,
            put_warning_count: 0,
            put_failure_count: 0,
            object_type: value::object_type::Q,
            object_name: ObjectName::BLANK,
            object_q_mgr_name: ObjectName::BLANK,
            resolved_object_name: ObjectName::BLANK,
            resolved_q_mgr_name: ObjectName::BLANK,
        }
    }
}

impl Status {
    /// Counts the answer of one put; whether it is the one to be told of.
    pub(crate) fn count(&mut self, outcome: Outcome) -> bool {
        match outcome.completion {
            Completion::Ok => self.put_success_count += 1,
            Completion::Warning => self.put_warning_count += 1,
            Completion::Failed => self.put_failure_count += 1,
        }
        let is_worse = outcome.completion > self.outcome.completion;
        if is_worse {
            self.outcome = outcome;
        }
        is_worse
    }
}

/// Who connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The user, as authenticated by the door.
    pub user: String,
    /// The program's name.
    pub application: String,
    /// What kind of program it is: the number for the descriptor's `put_appl_type`.
    pub application_type: i32,
    /// The channel and address that it came over, for displays; empty: local.
    pub channel: String,
    /// Its address.
    pub connection_name: String,
    /// Its process.
    pub process: i32,
    /// Its thread.
    pub thread: i32,
    /// It may put where what is put is carried out: on the command queue, on initiation queues.
    pub may_command: bool,
    /// It comes by a door: without a record that gives its user that, it says of no message that
    /// another user has put it, and takes no alternate user.
    pub by_door: bool,
}

impl Default for ConnectOptions {
    fn default() -> ConnectOptions {
        ConnectOptions {
            user: "holdfast".into(),
            application: "holdfast".into(),
            application_type: crate::descriptor::value::appl_type::UNIX,
            channel: String::new(),
            connection_name: String::new(),
            process: 0,
            thread: 0,
            may_command: true,
            by_door: false,
        }
    }
}

/// The values of attributes that were asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inquired {
    /// Of the selectors for numbers, in their order.
    pub numbers: Vec<i32>,
    /// Of the selectors for characters, one behind the other, each in its full length.
    pub characters: Vec<u8>,
    /// A remark about selectors that the object does not have.
    pub outcome: Outcome,
}
