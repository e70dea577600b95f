//! Completion codes and reason codes: what a call answers beside its output.
//!
//! 1. A call that fails has changed nothing but what its reason code says.
//! 2. A warning means that the call did what its reason code says; its output is valid.

use std::fmt;

/// How a call ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Completion {
    /// Done.
    #[default]
    Ok = 0,
    /// Done in part, or with a remark.
    Warning = 1,
    /// Not done.
    Failed = 2,
}

/// Why a call ended as it did.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(pub i32);

macro_rules! reasons {
    ($($name:ident = $number:literal,)*) => {
        #[allow(missing_docs)] // the names are those of the interface
        impl Reason {
            $(pub const $name: Reason = Reason($number);)*

            /// Every reason that has a name here.
            pub const ALL: &'static [Reason] = &[$(Reason::$name,)*];

            /// The name, without a prefix.
            #[must_use]
            pub fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }
    };
}

reasons! {
    NONE = 0,
    ALIAS_BASE_Q_TYPE_ERROR = 2001,
    ALREADY_CONNECTED = 2002,
    BACKED_OUT = 2003,
    BUFFER_ERROR = 2004,
    BUFFER_LENGTH_ERROR = 2005,
    CHAR_ATTR_LENGTH_ERROR = 2006,
    CHAR_ATTRS_ERROR = 2007,
    CHAR_ATTRS_TOO_SHORT = 2008,
    CONNECTION_BROKEN = 2009,
    DATA_LENGTH_ERROR = 2010,
    DYNAMIC_Q_NAME_ERROR = 2011,
    ENVIRONMENT_ERROR = 2012,
    EXPIRY_ERROR = 2013,
    FEEDBACK_ERROR = 2014,
    GET_INHIBITED = 2016,
    HANDLE_NOT_AVAILABLE = 2017,
    HCONN_ERROR = 2018,
    HOBJ_ERROR = 2019,
    INHIBIT_VALUE_ERROR = 2020,
    INT_ATTR_COUNT_ERROR = 2021,
    INT_ATTR_COUNT_TOO_SMALL = 2022,
    INT_ATTRS_ARRAY_ERROR = 2023,
    SYNCPOINT_LIMIT_REACHED = 2024,
    MAX_CONNS_LIMIT_REACHED = 2025,
    MD_ERROR = 2026,
    MISSING_REPLY_TO_Q = 2027,
    MSG_TYPE_ERROR = 2029,
    MSG_TOO_BIG_FOR_Q = 2030,
    MSG_TOO_BIG_FOR_Q_MGR = 2031,
    NO_MSG_AVAILABLE = 2033,
    NO_MSG_UNDER_CURSOR = 2034,
    NOT_AUTHORIZED = 2035,
    NOT_OPEN_FOR_BROWSE = 2036,
    NOT_OPEN_FOR_INPUT = 2037,
    NOT_OPEN_FOR_INQUIRE = 2038,
    NOT_OPEN_FOR_OUTPUT = 2039,
    NOT_OPEN_FOR_SET = 2040,
    OBJECT_CHANGED = 2041,
    OBJECT_IN_USE = 2042,
    OBJECT_TYPE_ERROR = 2043,
    OD_ERROR = 2044,
    OPTION_NOT_VALID_FOR_TYPE = 2045,
    OPTIONS_ERROR = 2046,
    PERSISTENCE_ERROR = 2047,
    PERSISTENT_NOT_ALLOWED = 2048,
    PRIORITY_EXCEEDS_MAXIMUM = 2049,
    PRIORITY_ERROR = 2050,
    PUT_INHIBITED = 2051,
    Q_DELETED = 2052,
    Q_FULL = 2053,
    Q_NOT_EMPTY = 2055,
    Q_SPACE_NOT_AVAILABLE = 2056,
    Q_TYPE_ERROR = 2057,
    Q_MGR_NAME_ERROR = 2058,
    Q_MGR_NOT_AVAILABLE = 2059,
    REPORT_OPTIONS_ERROR = 2061,
    SECOND_MARK_NOT_ALLOWED = 2062,
    SECURITY_ERROR = 2063,
    SELECTOR_COUNT_ERROR = 2065,
    SELECTOR_LIMIT_EXCEEDED = 2066,
    SELECTOR_ERROR = 2067,
    SELECTOR_NOT_FOR_TYPE = 2068,
    SIGNAL_OUTSTANDING = 2069,
    SIGNAL_REQUEST_ACCEPTED = 2070,
    STORAGE_NOT_AVAILABLE = 2071,
    SYNCPOINT_NOT_AVAILABLE = 2072,
    TRIGGER_CONTROL_ERROR = 2075,
    TRIGGER_DEPTH_ERROR = 2076,
    TRIGGER_MSG_PRIORITY_ERR = 2077,
    TRIGGER_TYPE_ERROR = 2078,
    TRUNCATED_MSG_ACCEPTED = 2079,
    TRUNCATED_MSG_FAILED = 2080,
    UNKNOWN_ALIAS_BASE_Q = 2082,
    UNKNOWN_OBJECT_NAME = 2085,
    UNKNOWN_OBJECT_Q_MGR = 2086,
    UNKNOWN_REMOTE_Q_MGR = 2087,
    WAIT_INTERVAL_ERROR = 2090,
    XMIT_Q_TYPE_ERROR = 2091,
    XMIT_Q_USAGE_ERROR = 2092,
    NOT_OPEN_FOR_PASS_ALL = 2093,
    NOT_OPEN_FOR_PASS_IDENT = 2094,
    NOT_OPEN_FOR_SET_ALL = 2095,
    NOT_OPEN_FOR_SET_IDENT = 2096,
    CONTEXT_HANDLE_ERROR = 2097,
    CONTEXT_NOT_AVAILABLE = 2098,
    OBJECT_ALREADY_EXISTS = 2100,
    OBJECT_DAMAGED = 2101,
    RESOURCE_PROBLEM = 2102,
    ANOTHER_Q_MGR_CONNECTED = 2103,
    UNKNOWN_REPORT_OPTION = 2104,
    STORAGE_CLASS_ERROR = 2105,
    FORMAT_ERROR = 2110,
    SOURCE_CCSID_ERROR = 2111,
    SOURCE_INTEGER_ENC_ERROR = 2112,
    TARGET_CCSID_ERROR = 2115,
    NOT_CONVERTED = 2119,
    CONVERTED_MSG_TOO_BIG = 2120,
    NO_EXTERNAL_PARTICIPANTS = 2121,
    PARTICIPANT_NOT_AVAILABLE = 2122,
    OUTCOME_MIXED = 2123,
    OUTCOME_PENDING = 2124,
    UOW_IN_PROGRESS = 2128,
    DH_ERROR = 2135,
    MULTIPLE_REASONS = 2136,
    OPEN_FAILED = 2137,
    CNO_ERROR = 2139,
    DLH_ERROR = 2141,
    RFH_ERROR = 2334,
    CONNECTION_STOPPED = 2528,
    RECS_PRESENT_ERROR = 2154,
    OBJECT_RECORDS_ERROR = 2155,
    RESPONSE_RECORDS_ERROR = 2156,
    PMO_RECORD_FLAGS_ERROR = 2158,
    PUT_MSG_RECORDS_ERROR = 2159,
    Q_MGR_QUIESCING = 2161,
    Q_MGR_STOPPING = 2162,
    PMO_ERROR = 2173,
    INCONSISTENT_PERSISTENCE = 2185,
    GMO_ERROR = 2186,
    STORAGE_MEDIUM_FULL = 2192,
    PAGESET_ERROR = 2193,
    UNEXPECTED_ERROR = 2195,
    UNKNOWN_XMIT_Q = 2196,
    UNKNOWN_DEF_XMIT_Q = 2197,
    DEF_XMIT_Q_TYPE_ERROR = 2198,
    DEF_XMIT_Q_USAGE_ERROR = 2199,
    MSG_MARKED_BROWSE_CO_OP = 2200,
    CONNECTION_QUIESCING = 2202,
    CONNECTION_STOPPING = 2203,
    MSG_ID_ERROR = 2206,
    CORREL_ID_ERROR = 2207,
    NO_MSG_LOCKED = 2209,
    INCOMPLETE_GROUP = 2241,
    INCOMPLETE_MSG = 2242,
    INCONSISTENT_CCSIDS = 2243,
    INCONSISTENT_ENCODINGS = 2244,
    INCONSISTENT_UOW = 2245,
    INVALID_MSG_UNDER_CURSOR = 2246,
    MATCH_OPTIONS_ERROR = 2247,
    MDE_ERROR = 2248,
    MSG_FLAGS_ERROR = 2249,
    MSG_SEQ_NUMBER_ERROR = 2250,
    OFFSET_ERROR = 2251,
    ORIGINAL_LENGTH_ERROR = 2252,
    SEGMENT_LENGTH_ZERO = 2253,
    UOW_NOT_AVAILABLE = 2255,
    WRONG_GMO_VERSION = 2256,
    WRONG_MD_VERSION = 2257,
    GROUP_ID_ERROR = 2258,
    MSG_TOO_BIG_FOR_CHANNEL = 2218,
    CHANNEL_NOT_AVAILABLE = 2537,
    CHANNEL_BLOCKED = 2577,
    INCONSISTENT_BROWSE = 2259,
    FUNCTION_NOT_SUPPORTED = 2298,
    CF_NOT_AVAILABLE = 2345,
    CF_STRUC_IN_USE = 2346,
    GLOBAL_UOW_CONFLICT = 2351,
    LOCAL_UOW_CONFLICT = 2352,
    HANDLE_IN_USE_FOR_UOW = 2353,
    UOW_ENLISTMENT_ERROR = 2354,
    UOW_MIX_NOT_SUPPORTED = 2355,
    WXP_ERROR = 2356,
    BACKOUT_THRESHOLD_REACHED = 2362,
    CF_STRUC_FAILED = 2373,
    SSL_INITIALIZATION_ERROR = 2393,
    RFH_FORMAT_ERROR = 2421,
    SD_ERROR = 2424,
    TOPIC_STRING_ERROR = 2425,
    STS_ERROR = 2426,
    NO_SUBSCRIPTION = 2428,
    SUBSCRIPTION_IN_USE = 2429,
    STAT_TYPE_ERROR = 2430,
    SUB_USER_DATA_ERROR = 2431,
    SUB_ALREADY_EXISTS = 2432,
    IDENTITY_MISMATCH = 2434,
    ALTER_SUB_ERROR = 2435,
    DURABILITY_NOT_ALLOWED = 2436,
    NO_RETAINED_MSG = 2437,
    SRO_ERROR = 2438,
    SUB_NAME_ERROR = 2440,
    OBJECT_STRING_ERROR = 2441,
    PROPERTY_NAME_ERROR = 2442,
    SEGMENTATION_NOT_ALLOWED = 2443,
    CBD_ERROR = 2444,
    CTLO_ERROR = 2445,
    NO_CALLBACKS_ACTIVE = 2446,
    CALLBACK_NOT_REGISTERED = 2448,
    SELECTOR_SYNTAX_ERROR = 2459,
    HMSG_ERROR = 2460,
    CMHO_ERROR = 2461,
    DMHO_ERROR = 2462,
    SMPO_ERROR = 2463,
    IMPO_ERROR = 2464,
    PROPERTY_NAME_TOO_BIG = 2465,
    PROP_VALUE_NOT_CONVERTED = 2466,
    PROP_TYPE_NOT_SUPPORTED = 2467,
    PROPERTY_VALUE_TOO_BIG = 2469,
    PROP_CONV_NOT_SUPPORTED = 2470,
    PROPERTY_NOT_AVAILABLE = 2471,
    PROP_NUMBER_FORMAT_ERROR = 2472,
    PROPERTY_TYPE_ERROR = 2473,
    PROPERTIES_TOO_BIG = 2478,
    PUT_NOT_RETAINED = 2479,
    ALIAS_TARGTYPE_CHANGED = 2480,
    DMPO_ERROR = 2481,
    PD_ERROR = 2482,
    CALLBACK_TYPE_ERROR = 2483,
    OPERATION_NOT_ALLOWED = 2534,
    SUB_INHIBITED = 2503,
    PUBLICATION_FAILURE = 2502,
    SELECTION_NOT_AVAILABLE = 2551,
    SELECTION_STRING_ERROR = 2519,
    RES_OBJECT_STRING_ERROR = 2520,
    NO_SUBS_MATCHED = 2550,
    HOST_NOT_AVAILABLE = 2538,
    CHANNEL_CONFIG_ERROR = 2539,
    UNKNOWN_CHANNEL_NAME = 2540,
    RECONNECTING = 2544,
    RECONNECTED = 2545,
    RECONNECT_QMID_MISMATCH = 2546,
    RECONNECT_INCOMPATIBLE = 2547,
    RECONNECT_FAILED = 2548,
    CALL_INTERRUPTED = 2549,
    RECONNECT_Q_MGR_REQD = 2555,
}

impl Reason {
    /// Feedback: arrival, delivery, expiry, and the answers of programs.
    pub const FEEDBACK_EXPIRATION: Reason = Reason(258);
    /// The message has arrived on its queue.
    pub const FEEDBACK_COA: Reason = Reason(259);
    /// The message has been delivered to a program.
    pub const FEEDBACK_COD: Reason = Reason(260);
    /// A message on a transmission queue has no header.
    pub const XMIT_Q_MSG_ERROR: Reason = Reason(271);
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} {name}", self.0),
            None => write!(f, "{}", self.0),
        }
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Completion and reason of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub completion: Completion,
    /// Why.
    pub reason: Reason,
}

impl Outcome {
    /// Done, without a remark.
    pub const OK: Outcome = Outcome { completion: Completion::Ok, reason: Reason::NONE };

    /// Done, with a remark.
    #[must_use]
    pub const fn warning(reason: Reason) -> Outcome {
        Outcome { completion: Completion::Warning, reason }
    }

    /// Not done.
    #[must_use]
    pub const fn failed(reason: Reason) -> Outcome {
        Outcome { completion: Completion::Failed, reason }
    }
}

/// A call that was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the call failed with reason {0}")]
pub struct Failed(pub Reason);

impl From<Failed> for Outcome {
    fn from(failed: Failed) -> Outcome {
        Outcome::failed(failed.0)
    }
}

/// What a call answers: its output, or why it was not done.
pub type Answer<T> = Result<T, Failed>;

/// The answer of a call that was not done.
pub(crate) fn fail<T>(reason: Reason) -> Answer<T> {
    Err(Failed(reason))
}

/// Fails with `reason` unless `holds`.
pub(crate) fn require(holds: bool, reason: Reason) -> Answer<()> {
    if holds { Ok(()) } else { fail(reason) }
}
