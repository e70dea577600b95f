//! The message descriptor: what a message says about itself, apart from its data.
//!
//! 1. It always has all fields, those of groups and segments among them; a door that serves the
//!    older form fills in the defaults.

use crate::name::ObjectName;

/// An identifier of 24 bytes: of a message, a correlation, a group.
pub type Identifier = [u8; 24];

/// The identifier that stands for none.
pub const NO_IDENTIFIER: Identifier = [0; 24];

/// The values that fields of a descriptor take.
#[allow(missing_docs)] // the names are those of the interface
pub mod value {
    /// Kinds of messages.
    pub mod msg_type {
        pub const REQUEST: i32 = 1;
        pub const REPLY: i32 = 2;
        pub const REPORT: i32 = 4;
        pub const DATAGRAM: i32 = 8;
        pub const SYSTEM_LAST: i32 = 65_535;
        pub const APPL_FIRST: i32 = 65_536;
        pub const APPL_LAST: i32 = 999_999_999;
    }
    /// Persistence.
    pub mod persistence {
        pub const NOT_PERSISTENT: i32 = 0;
        pub const PERSISTENT: i32 = 1;
        pub const AS_Q_DEF: i32 = 2;
    }
    /// Priority.
    pub mod priority {
        pub const AS_Q_DEF: i32 = -1;
        pub const AS_PARENT: i32 = -2;
        pub const AS_PUBLISHED: i32 = -3;
    }
    /// Which reports are asked for.
    pub mod report {
        pub const PAN: i32 = 1;
        pub const NAN: i32 = 2;
        pub const ACTIVITY: i32 = 4;
        pub const PASS_CORREL_ID: i32 = 0x40;
        pub const PASS_MSG_ID: i32 = 0x80;
        pub const COA: i32 = 0x100;
        pub const COA_WITH_DATA: i32 = 0x300;
        pub const COA_WITH_FULL_DATA: i32 = 0x700;
        pub const COD: i32 = 0x800;
        pub const COD_WITH_DATA: i32 = 0x1800;
        pub const COD_WITH_FULL_DATA: i32 = 0x3800;
        pub const PASS_DISCARD_AND_EXPIRY: i32 = 0x4000;
        pub const EXPIRATION: i32 = 0x0020_0000;
        pub const EXPIRATION_WITH_DATA: i32 = 0x0060_0000;
        pub const EXPIRATION_WITH_FULL_DATA: i32 = 0x00E0_0000;
        pub const EXCEPTION: i32 = 0x0100_0000;
        pub const EXCEPTION_WITH_DATA: i32 = 0x0300_0000;
        pub const EXCEPTION_WITH_FULL_DATA: i32 = 0x0700_0000;
        pub const DISCARD_MSG: i32 = 0x0800_0000;
        /// Every option that is known.
        pub const ALL: i32 = PAN
            | NAN
            | ACTIVITY
            | PASS_CORREL_ID
            | PASS_MSG_ID
            | COA_WITH_FULL_DATA
            | COD_WITH_FULL_DATA
            | PASS_DISCARD_AND_EXPIRY
            | EXPIRATION_WITH_FULL_DATA
            | EXCEPTION_WITH_FULL_DATA
            | DISCARD_MSG;
    }
    /// Groups and segments.
    pub mod msg_flags {
        pub const SEGMENTATION_ALLOWED: i32 = 1;
        pub const SEGMENT: i32 = 2;
        pub const LAST_SEGMENT: i32 = 4;
        pub const MSG_IN_GROUP: i32 = 8;
        pub const LAST_MSG_IN_GROUP: i32 = 16;
        pub const ALL: i32 = 31;
    }
    /// Feedback.
    pub mod feedback {
        pub const NONE: i32 = 0;
        pub const QUIT: i32 = 256;
        pub const EXPIRATION: i32 = 258;
        pub const COA: i32 = 259;
        pub const COD: i32 = 260;
        pub const PAN: i32 = 275;
        pub const NAN: i32 = 276;
    }
    /// Kinds of programs that put messages.
    pub mod appl_type {
        pub const NO_CONTEXT: i32 = 0;
        pub const UNIX: i32 = 6;
        pub const QMGR: i32 = 7;
        pub const DEFAULT: i32 = 6;
    }
    /// Formats of message data.
    pub mod format {
        pub const NONE: [u8; 8] = *b"        ";
        pub const STRING: [u8; 8] = *b"MQSTR   ";
        pub const RF_HEADER_2: [u8; 8] = *b"MQHRF2  ";
        pub const DEAD_LETTER_HEADER: [u8; 8] = *b"MQDEAD  ";
        pub const TRIGGER: [u8; 8] = *b"MQTRIG  ";
        pub const XMIT_Q_HEADER: [u8; 8] = *b"MQXMIT  ";
        pub const MD_EXTENSION: [u8; 8] = *b"MQHMDE  ";
        pub const EVENT: [u8; 8] = *b"MQEVENT ";
        pub const ADMIN: [u8; 8] = *b"MQADMIN ";
    }
    /// Integers as this machine has them.
    pub const ENCODING_NATIVE: i32 = 546;
    /// Code pages with a meaning of their own.
    pub mod ccsid {
        pub const Q_MGR: i32 = 0;
        pub const INHERIT: i32 = -2;
        pub const EMBEDDED: i32 = -1;
        pub const APPL: i32 = -3;
    }
    /// Expiry of a message that never does.
    pub const EXPIRY_UNLIMITED: i32 = -1;
}

/// What a message says about itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the fields are those of the interface
pub struct MessageDescriptor {
    pub report: i32,
    pub msg_type: i32,
    /// Tenths of a second; -1: never.
    pub expiry: i32,
    pub feedback: i32,
    pub encoding: i32,
    pub ccsid: i32,
    pub format: [u8; 8],
    pub priority: i32,
    pub persistence: i32,
    pub msg_id: Identifier,
    pub correl_id: Identifier,
    pub backout_count: i32,
    pub reply_to_q: ObjectName,
    pub reply_to_q_mgr: ObjectName,
    pub user_identifier: [u8; 12],
    pub accounting_token: [u8; 32],
    pub appl_identity_data: [u8; 32],
    pub put_appl_type: i32,
    pub put_appl_name: [u8; 28],
    pub put_date: [u8; 8],
    pub put_time: [u8; 8],
    pub appl_origin_data: [u8; 4],
    pub group_id: Identifier,
    pub msg_seq_number: i32,
    pub offset: i32,
    pub msg_flags: i32,
    pub original_length: i32,
}

impl Default for MessageDescriptor {
    fn default() -> MessageDescriptor {
        MessageDescriptor {
            report: 0,
            msg_type: value::msg_type::DATAGRAM,
            expiry: value::EXPIRY_UNLIMITED,
            feedback: value::feedback::NONE,
            encoding: value::ENCODING_NATIVE,
            ccsid: value::ccsid::Q_MGR,
            format: value::format::NONE,
            priority: value::priority::AS_Q_DEF,
            persistence: value::persistence::AS_Q_DEF,
            msg_id: NO_IDENTIFIER,
            correl_id: NO_IDENTIFIER,
            backout_count: 0,
            reply_to_q: ObjectName::BLANK,
            reply_to_q_mgr: ObjectName::BLANK,
            user_identifier: [b' '; 12],
            accounting_token: [0; 32],
            appl_identity_data: [b' '; 32],
            put_appl_type: value::appl_type::NO_CONTEXT,
            put_appl_name: [b' '; 28],
            put_date: [b' '; 8],
            put_time: [b' '; 8],
            appl_origin_data: [b' '; 4],
            group_id: NO_IDENTIFIER,
            msg_seq_number: 1,
            offset: 0,
            msg_flags: 0,
            original_length: -1,
        }
    }
}

impl MessageDescriptor {
    /// Whether the message is kept over a restart, once its defaults are filled in.
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        self.persistence == value::persistence::PERSISTENT
    }

    /// Whether the message belongs to a group.
    #[must_use]
    pub fn is_in_group(&self) -> bool {
        let flags = value::msg_flags::MSG_IN_GROUP | value::msg_flags::LAST_MSG_IN_GROUP;
        self.msg_flags & flags != 0
    }

    /// Whether the message is a segment of a logical message.
    #[must_use]
    pub fn is_segment(&self) -> bool {
        let flags = value::msg_flags::SEGMENT | value::msg_flags::LAST_SEGMENT;
        self.msg_flags & flags != 0
    }

    /// Whether it is the last, or only, segment of its logical message.
    #[must_use]
    pub fn is_last_segment(&self) -> bool {
        !self.is_segment() || self.msg_flags & value::msg_flags::LAST_SEGMENT != 0
    }

    /// Whether it is the last message of its group, or in none.
    #[must_use]
    pub fn is_last_in_group(&self) -> bool {
        !self.is_in_group() || self.msg_flags & value::msg_flags::LAST_MSG_IN_GROUP != 0
    }
}
