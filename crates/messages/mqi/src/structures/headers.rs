//! Headers that stand before a message's data.

use crate::table::text;

structure! {
    /// before the data of a message that could not be delivered
    Dlh = "MQDLH" "DLH " [172] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("DLH ");
    4 Version version: Long = 1;
    8 Reason reason: Long = 0;
    12 DestQName dest_q_name: Text 48 = text("");
    60 DestQMgrName dest_q_mgr_name: Text 48 = text("");
    108 Encoding encoding: Long = 0;
    112 CodedCharSetId ccsid: Long = 0;
    116 Format format: Text 8 = text("");
    124 PutApplType put_appl_type: Long = 0;
    128 PutApplName put_appl_name: Text 28 = text("");
    156 PutDate put_date: Text 8 = text("");
    164 PutTime put_time: Text 8 = text("");
}

structure! {
    /// the second half of a descriptor, before the data
    Mde = "MQMDE" "MDE " [0, 72] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("MDE ");
    4 Version version: Long = 2;
    8 StrucLength struc_length: Long = 72;
    12 Encoding encoding: Long = 546;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 GroupId group_id: Bytes 24 = [0; 24];
    56 MsgSeqNumber msg_seq_number: Long = 1;
    60 Offset offset: Long = 0;
    64 MsgFlags msg_flags: Long = 0;
    68 OriginalLength original_length: Long = -1;
}

structure! {
    /// before a message on a transmission queue
    Xqh = "MQXQH" "XQH " [428] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("XQH ");
    4 Version version: Long = 1;
    8 RemoteQName remote_q_name: Text 48 = text("");
    56 RemoteQMgrName remote_q_mgr_name: Text 48 = text("");
    104 MsgDesc msg_desc: Descriptor = initial_descriptor();
}

/// A descriptor of version 1 that is not filled in.
fn initial_descriptor() -> [u8; 324] {
    use crate::table::Structure as _;
    let mut bytes = [0; 324];
    super::Md::initial().put_all(&mut bytes);
    bytes
}

structure! {
    /// before a message that goes to several queues
    Dh = "MQDH" "DH  " [48] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("DH  ");
    4 Version version: Long = 1;
    8 StrucLength struc_length: Long = 0;
    12 Encoding encoding: Long = 0;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 PutMsgRecFields put_msg_rec_fields: Long = 0;
    36 RecsPresent recs_present: Long = 0;
    40 ObjectRecOffset object_rec_offset: Long = 0;
    44 PutMsgRecOffset put_msg_rec_offset: Long = 0;
}

structure! {
    /// one destination of several
    ObjectRecord = "MQOR" "    " [96] versioned by |_| 1;
    0 ObjectName object_name: Text 48 = text("");
    48 ObjectQMgrName object_q_mgr_name: Text 48 = text("");
}

structure! {
    /// what became of one destination of several
    ResponseRecord = "MQRR" "    " [8] versioned by |_| 1;
    0 CompCode comp_code: Long = 0;
    4 Reason reason: Long = 0;
}

structure! {
    /// a trigger message
    Tm = "MQTM" "TM  " [684] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("TM  ");
    4 Version version: Long = 1;
    8 QName q_name: Text 48 = text("");
    56 ProcessName process_name: Text 48 = text("");
    104 TriggerData trigger_data: Text 64 = text("");
    168 ApplType appl_type: Long = 0;
    172 ApplId appl_id: Text 256 = text("");
    428 EnvData env_data: Text 128 = text("");
    556 UserData user_data: Text 128 = text("");
}

structure! {
    /// a trigger message in characters
    Tmc2 = "MQTMC2" "TMC " [684, 732] versioned by |_| 2;
    0 StrucId struc_id: Text 4 = text("TMC ");
    4 Version version: Text 4 = text("   2");
    8 QName q_name: Text 48 = text("");
    56 ProcessName process_name: Text 48 = text("");
    104 TriggerData trigger_data: Text 64 = text("");
    168 ApplType appl_type: Text 4 = text("");
    172 ApplId appl_id: Text 256 = text("");
    428 EnvData env_data: Text 128 = text("");
    556 UserData user_data: Text 128 = text("");
    684 QMgrName q_mgr_name: Text 48 = text("");
}

structure! {
    /// rules and formatting
    Rfh = "MQRFH" "RFH " [32] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("RFH ");
    4 Version version: Long = 1;
    8 StrucLength struc_length: Long = 32;
    12 Encoding encoding: Long = 546;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
}

structure! {
    /// rules, formatting, and folders of properties
    Rfh2 = "MQRFH2" "RFH " [0, 36] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("RFH ");
    4 Version version: Long = 2;
    8 StrucLength struc_length: Long = 36;
    12 Encoding encoding: Long = 546;
    16 CodedCharSetId ccsid: Long = -2;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 NameValueCCSID name_value_ccsid: Long = 1208;
}

structure! {
    /// before data that stands elsewhere
    Rmh = "MQRMH" "RMH " [108] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("RMH ");
    4 Version version: Long = 1;
    8 StrucLength struc_length: Long = 0;
    12 Encoding encoding: Long = 546;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 ObjectType object_type: Text 8 = text("");
    40 ObjectInstanceId object_instance_id: Bytes 24 = [0; 24];
    64 SrcEnvLength src_env_length: Long = 0;
    68 SrcEnvOffset src_env_offset: Long = 0;
    72 SrcNameLength src_name_length: Long = 0;
    76 SrcNameOffset src_name_offset: Long = 0;
    80 DestEnvLength dest_env_length: Long = 0;
    84 DestEnvOffset dest_env_offset: Long = 0;
    88 DestNameLength dest_name_length: Long = 0;
    92 DestNameOffset dest_name_offset: Long = 0;
    96 DataLogicalLength data_logical_length: Long = 0;
    100 DataLogicalOffset data_logical_offset: Long = 0;
    104 DataLogicalOffset2 data_logical_offset2: Long = 0;
}

structure! {
    /// before a message for IMS
    Iih = "MQIIH" "IIH " [84] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("IIH ");
    4 Version version: Long = 1;
    8 StrucLength struc_length: Long = 84;
    12 Encoding encoding: Long = 0;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 LTermOverride lterm_override: Text 8 = text("");
    40 MFSMapName mfs_map_name: Text 8 = text("");
    48 ReplyToFormat reply_to_format: Text 8 = text("");
    56 Authenticator authenticator: Text 8 = text("");
    64 TranInstanceId tran_instance_id: Bytes 16 = [0; 16];
    80 TranState tran_state: Character = b' ';
    81 CommitMode commit_mode: Character = b'0';
    82 SecurityScope security_scope: Character = b'C';
    83 Reserved reserved: Character = b' ';
}

structure! {
    /// before a message for CICS
    Cih = "MQCIH" "CIH " [164, 180] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CIH ");
    4 Version version: Long = 2;
    8 StrucLength struc_length: Long = 180;
    12 Encoding encoding: Long = 0;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 ReturnCode return_code: Long = 0;
    36 CompCode comp_code: Long = 0;
    40 Reason reason: Long = 0;
    44 UOWControl uow_control: Long = 273;
    48 GetWaitInterval get_wait_interval: Long = -2;
    52 LinkType link_type: Long = 1;
    56 OutputDataLength output_data_length: Long = -1;
    60 FacilityKeepTime facility_keep_time: Long = 0;
    64 ADSDescriptor ads_descriptor: Long = 0;
    68 ConversationalTask conversational_task: Long = 0;
    72 TaskEndStatus task_end_status: Long = 0;
    76 Facility facility: Bytes 8 = [0; 8];
    84 Function function: Text 4 = text("");
    88 AbendCode abend_code: Text 4 = text("");
    92 Authenticator authenticator: Text 8 = text("");
    100 Reserved1 reserved1: Text 8 = text("");
    108 ReplyToFormat reply_to_format: Text 8 = text("");
    116 RemoteSysId remote_sys_id: Text 4 = text("");
    120 RemoteTransId remote_trans_id: Text 4 = text("");
    124 TransactionId transaction_id: Text 4 = text("");
    128 FacilityLike facility_like: Text 4 = text("");
    132 AttentionId attention_id: Text 4 = text("");
    136 StartCode start_code: Text 4 = text("");
    140 CancelCode cancel_code: Text 4 = text("");
    144 NextTransactionId next_transaction_id: Text 4 = text("");
    148 Reserved2 reserved2: Text 8 = text("");
    156 Reserved3 reserved3: Text 8 = text("");
    164 CursorPosition cursor_position: Long = 0;
    168 ErrorOffset error_offset: Long = 0;
    172 InputItem input_item: Long = 0;
    176 Reserved4 reserved4: Long = 0;
}

structure! {
    /// before a message for a work-load manager
    Wih = "MQWIH" "WIH " [120] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("WIH ");
    4 Version version: Long = 1;
    8 StrucLength struc_length: Long = 120;
    12 Encoding encoding: Long = 0;
    16 CodedCharSetId ccsid: Long = 0;
    20 Format format: Text 8 = text("");
    28 Flags flags: Long = 0;
    32 ServiceName service_name: Text 32 = text("");
    64 ServiceStep service_step: Text 8 = text("");
    72 MsgToken msg_token: Bytes 16 = [0; 16];
    88 Reserved reserved: Text 32 = text("");
}
