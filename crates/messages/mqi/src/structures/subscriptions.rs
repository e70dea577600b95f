//! What subscriptions are described by.

use crate::table::{CharV, text};

structure! {
    /// describes a subscription
    Sd = "MQSD" "SD  " [344] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("SD  ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 ObjectName object_name: Text 48 = text("");
    60 AlternateUserId alternate_user_id: Text 12 = text("");
    72 AlternateSecurityId alternate_security_id: Bytes 40 = [0; 40];
    112 SubExpiry sub_expiry: Long = -1;
    120 ObjectString object_string: Variable = CharV::NONE;
    144 SubName sub_name: Variable = CharV::NONE;
    168 SubUserData sub_user_data: Variable = CharV::NONE;
    192 SubCorrelId sub_correl_id: Bytes 24 = [0; 24];
    216 PubPriority pub_priority: Long = -3;
    220 PubAccountingToken pub_accounting_token: Bytes 32 = [0; 32];
    252 PubApplIdentityData pub_appl_identity_data: Text 32 = text("");
    288 SelectionString selection_string: Variable = CharV::NONE;
    312 SubLevel sub_level: Long = 1;
    320 ResObjectString res_object_string: Variable = CharV::NONE;
}

structure! {
    /// options of a request for publications
    Sro = "MQSRO" "SRO " [16] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("SRO ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 NumPubs num_pubs: Long = 0;
}

structure! {
    /// what became of puts that no call waited for
    Sts = "MQSTS" "STAT" [224, 280] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("STAT");
    4 Version version: Long = 1;
    8 CompCode comp_code: Long = 0;
    12 Reason reason: Long = 0;
    16 PutSuccessCount put_success_count: Long = 0;
    20 PutWarningCount put_warning_count: Long = 0;
    24 PutFailureCount put_failure_count: Long = 0;
    28 ObjectType object_type: Long = 1;
    32 ObjectName object_name: Text 48 = text("");
    80 ObjectQMgrName object_q_mgr_name: Text 48 = text("");
    128 ResolvedObjectName resolved_object_name: Text 48 = text("");
    176 ResolvedQMgrName resolved_q_mgr_name: Text 48 = text("");
    224 ObjectString object_string: Variable = CharV::NONE;
    248 SubName sub_name: Variable = CharV::NONE;
    272 OpenOptions open_options: Long = 0;
    276 SubOptions sub_options: Long = 0;
}
