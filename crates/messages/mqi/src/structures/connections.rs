//! What a connection is made with, and what it calls back with.

use crate::table::text;

structure! {
    /// options of a connection
    Cno = "MQCNO" "CNO " [12, 24, 152, 168, 200, 224, 256, 272] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CNO ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 ClientConnOffset client_conn_offset: Long = 0;
    16 ClientConnPtr client_conn_ptr: Pointer "MQPTR" = 0;
    24 ConnTag conn_tag: Bytes 128 = [0; 128];
    152 SSLConfigPtr ssl_config_ptr: Pointer "PMQSCO" = 0;
    160 SSLConfigOffset ssl_config_offset: Long = 0;
    164 ConnectionId connection_id: Bytes 24 = [0; 24];
    188 SecurityParmsOffset security_parms_offset: Long = 0;
    192 SecurityParmsPtr security_parms_ptr: Pointer "PMQCSP" = 0;
    200 CCDTUrlPtr ccdt_url_ptr: Pointer "PMQCHAR" = 0;
    208 CCDTUrlOffset ccdt_url_offset: Long = 0;
    212 CCDTUrlLength ccdt_url_length: Long = 0;
    216 Reserved reserved: Bytes 8 = [0; 8];
    224 ApplName appl_name: Text 28 = text("");
    252 Reserved2 reserved2: Bytes 4 = [0; 4];
    256 BalanceParmsPtr balance_parms_ptr: Pointer "PMQBNO" = 0;
    264 BalanceParmsOffset balance_parms_offset: Long = 0;
    268 Reserved3 reserved3: Bytes 4 = [0; 4];
}

structure! {
    /// who connects, and how that is proven
    Csp = "MQCSP" "CSP " [56, 80, 104] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CSP ");
    4 Version version: Long = 1;
    8 AuthenticationType authentication_type: Long = 0;
    12 Reserved1 reserved1: Bytes 4 = [0; 4];
    16 CSPUserIdPtr user_id_ptr: Pointer "MQPTR" = 0;
    24 CSPUserIdOffset user_id_offset: Long = 0;
    28 CSPUserIdLength user_id_length: Long = 0;
    32 Reserved2 reserved2: Bytes 8 = [0; 8];
    40 CSPPasswordPtr password_ptr: Pointer "MQPTR" = 0;
    48 CSPPasswordOffset password_offset: Long = 0;
    52 CSPPasswordLength password_length: Long = 0;
    56 Reserved3 reserved3: Bytes 8 = [0; 8];
    64 InitialKeyPtr initial_key_ptr: Pointer "MQPTR" = 0;
    72 InitialKeyOffset initial_key_offset: Long = 0;
    76 InitialKeyLength initial_key_length: Long = 0;
    80 Reserved4 reserved4: Bytes 8 = [0; 8];
    88 TokenPtr token_ptr: Pointer "MQPTR" = 0;
    96 TokenOffset token_offset: Long = 0;
    100 TokenLength token_length: Long = 0;
}

structure! {
    /// TLS of a client's connection
    Sco = "MQSCO" "SCO " [536, 544, 560, 568, 632, 648, 672] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("SCO ");
    4 Version version: Long = 1;
    8 KeyRepository key_repository: Text 256 = text("");
    264 CryptoHardware crypto_hardware: Text 256 = text("");
    520 AuthInfoRecCount auth_info_rec_count: Long = 0;
    524 AuthInfoRecOffset auth_info_rec_offset: Long = 0;
    528 AuthInfoRecPtr auth_info_rec_ptr: Pointer "PMQAIR" = 0;
    536 KeyResetCount key_reset_count: Long = 0;
    540 FipsRequired fips_required: Long = 0;
    544 EncryptionPolicySuiteB encryption_policy_suite_b: Longs 4 = [1, 0, 0, 0];
    560 CertificateValPolicy certificate_val_policy: Long = 0;
    564 CertificateLabel certificate_label: Text 64 = text("");
    632 KeyRepoPasswordPtr key_repo_password_ptr: Pointer "MQPTR" = 0;
    640 KeyRepoPasswordOffset key_repo_password_offset: Long = 0;
    644 KeyRepoPasswordLength key_repo_password_length: Long = 0;
    648 HTTPSCertValidation https_cert_validation: Long = 0;
    652 HTTPSCertRevocation https_cert_revocation: Long = 0;
    656 HTTPSKeyStorePtr https_key_store_ptr: Pointer "MQPTR" = 0;
    664 HTTPSKeyStoreOffset https_key_store_offset: Long = 0;
    668 HTTPSKeyStoreLength https_key_store_length: Long = 0;
}

structure! {
    /// where certificates are looked up
    Air = "MQAIR" "AIR " [328, 584] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("AIR ");
    4 Version version: Long = 1;
    8 AuthInfoType auth_info_type: Long = 1;
    12 AuthInfoConnName auth_info_conn_name: Text 264 = text("");
    280 LDAPUserNamePtr ldap_user_name_ptr: Pointer "PMQCHAR" = 0;
    288 LDAPUserNameOffset ldap_user_name_offset: Long = 0;
    292 LDAPUserNameLength ldap_user_name_length: Long = 0;
    296 LDAPPassword ldap_password: Text 32 = text("");
    328 OCSPResponderURL ocsp_responder_url: Text 256 = text("");
}

structure! {
    /// how connections are spread
    Bno = "MQBNO" "BNO " [20] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("BNO ");
    4 Version version: Long = 1;
    8 ApplType appl_type: Long = 0;
    12 Timeout timeout: Long = -1;
    16 Options options: Long = 0;
}

structure! {
    /// options of beginning a unit of work
    Bo = "MQBO" "BO  " [12] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("BO  ");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
}

structure! {
    /// what is called back, and with what
    Cbd = "MQCBD" "CBD " [168] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CBD ");
    4 Version version: Long = 1;
    8 CallbackType callback_type: Long = 1;
    12 Options options: Long = 0;
    16 CallbackArea callback_area: Pointer "MQPTR" = 0;
    24 CallbackFunction callback_function: Pointer "MQPTR" = 0;
    32 CallbackName callback_name: Text 128 = text("");
    160 MaxMsgLength max_msg_length: Long = -1;
}

structure! {
    /// what a program that is called back is told
    Cbc = "MQCBC" "CBC " [56, 64] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CBC ");
    4 Version version: Long = 1;
    8 CallType call_type: Long = 0;
    12 Hobj hobj: Long = -1;
    16 CallbackArea callback_area: Pointer "MQPTR" = 0;
    24 ConnectionArea connection_area: Pointer "MQPTR" = 0;
    32 CompCode comp_code: Long = 0;
    36 Reason reason: Long = 0;
    40 State state: Long = 0;
    44 DataLength data_length: Long = 0;
    48 BufferLength buffer_length: Long = 0;
    52 Flags flags: Long = 0;
    56 ReconnectDelay reconnect_delay: Long = 0;
}

structure! {
    /// options of starting and stopping callbacks
    Ctlo = "MQCTLO" "CTLO" [24] versioned by |one| one.version;
    0 StrucId struc_id: Text 4 = text("CTLO");
    4 Version version: Long = 1;
    8 Options options: Long = 0;
    12 Reserved reserved: Long = 0;
    16 ConnectionArea connection_area: Pointer "MQPTR" = 0;
}
