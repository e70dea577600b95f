//! What goes with a put and a get: descriptors and options.

use crate::table::{CharV, text};

structure! {
    /// describes a message
    Md = "MQMD" "MD  " [324, 364] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("MD  ");
    4 Version version: Long = 1;
    8 Report report: Long = 0;
    12 MsgType msg_type: Long = 8;
    16 Expiry expiry: Long = -1;
    20 Feedback feedback: Long = 0;
    24 Encoding encoding: Long = 546;
    28 CodedCharSetId ccsid: Long = 0;
    32 Format format: Text 8 = text("");
    40 Priority priority: Long = -1;
    44 Persistence persistence: Long = 2;
    48 MsgId msg_id: Bytes 24 = [0; 24];
    72 CorrelId correl_id: Bytes 24 = [0; 24];
    96 BackoutCount backout_count: Long = 0;
    100 ReplyToQ reply_to_q: Text 48 = text("");
    148 ReplyToQMgr reply_to_q_mgr: Text 48 = text("");
    196 UserIdentifier user_identifier: Text 12 = text("");
    208 AccountingToken accounting_token: Bytes 32 = [0; 32];
    240 ApplIdentityData appl_identity_data: Text 32 = text("");
    272 PutApplType put_appl_type: Long = 0;
    276 PutApplName put_appl_name: Text 28 = text("");
    304 PutDate put_date: Text 8 = text("");
    312 PutTime put_time: Text 8 = text("");
    320 ApplOriginData appl_origin_data: Text 4 = text("");
    324 GroupId group_id: Bytes 24 = [0; 24];
    348 MsgSeqNumber msg_seq_number: Long = 1;
    352 Offset offset: Long = 0;
    356 MsgFlags msg_flags: Long = 0;
    360 OriginalLength original_length: Long = -1;
}

structure! {
    /// names an object
    Od = "MQOD" "OD  " [168, 208, 344, 424] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("OD  ");
    4 Version version: Long = 1;
    8 ObjectType object_type: Long = 1;
    12 ObjectName object_name: Text 48 = text("");
    60 ObjectQMgrName object_q_mgr_name: Text 48 = text("");
    108 DynamicQName dynamic_q_name: Text 48 = text("AMQ.*");
    156 AlternateUserId alternate_user_id: Text 12 = text("");
    168 RecsPresent recs_present: Long = 0;
    172 KnownDestCount known_dest_count: Long = 0;
    176 UnknownDestCount unknown_dest_count: Long = 0;
    180 InvalidDestCount invalid_dest_count: Long = 0;
    184 ObjectRecOffset object_rec_offset: Long = 0;
    188 ResponseRecOffset response_rec_offset: Long = 0;
    192 ObjectRecPtr object_rec_ptr: Pointer "MQPTR" = 0;
    200 ResponseRecPtr response_rec_ptr: Pointer "MQPTR" = 0;
    208 AlternateSecurityId alternate_security_id: Bytes 40 = [0; 40];
    248 ResolvedQName resolved_q_name: Text 48 = text("");
    296 ResolvedQMgrName resolved_q_mgr_name: Text 48 = text("");
    344 ObjectString object_string: Variable = CharV::NONE;
    368 SelectionString selection_string: Variable = CharV::NONE;
    392 ResObjectString res_object_string: Variable = CharV::NONE;
    416 ResolvedType resolved_type: Long = 0;
}

structure! {
    /// options of a put
    Pmo = "MQPMO" "PMO " [128, 160, 184] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("PMO ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 Timeout timeout: Long = -1;
    16 Context context: Long = 0;
    20 KnownDestCount known_dest_count: Long = 0;
    24 UnknownDestCount unknown_dest_count: Long = 0;
    28 InvalidDestCount invalid_dest_count: Long = 0;
    32 ResolvedQName resolved_q_name: Text 48 = text("");
    80 ResolvedQMgrName resolved_q_mgr_name: Text 48 = text("");
    128 RecsPresent recs_present: Long = 0;
    132 PutMsgRecFields put_msg_rec_fields: Long = 0;
    136 PutMsgRecOffset put_msg_rec_offset: Long = 0;
    140 ResponseRecOffset response_rec_offset: Long = 0;
    144 PutMsgRecPtr put_msg_rec_ptr: Pointer "MQPTR" = 0;
    152 ResponseRecPtr response_rec_ptr: Pointer "MQPTR" = 0;
    160 OriginalMsgHandle original_msg_handle: Handle = 0;
    168 NewMsgHandle new_msg_handle: Handle = 0;
    176 Action action: Long = 0;
    180 PubLevel pub_level: Long = 9;
}

structure! {
    /// options of a get
    Gmo = "MQGMO" "GMO " [72, 80, 100, 112] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("GMO ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 WaitInterval wait_interval: Long = 0;
    16 Signal1 signal1: Long = 0;
    20 Signal2 signal2: Long = 0;
    24 ResolvedQName resolved_q_name: Text 48 = text("");
    72 MatchOptions match_options: Long = 3;
    76 GroupStatus group_status: Character = b' ';
    77 SegmentStatus segment_status: Character = b' ';
    78 Segmentation segmentation: Character = b' ';
    79 Reserved1 reserved1: Character = b' ';
    80 MsgToken msg_token: Bytes 16 = [0; 16];
    96 ReturnedLength returned_length: Long = -1;
    100 Reserved2 reserved2: Long = 0;
    104 MsgHandle msg_handle: Handle = 0;
}
