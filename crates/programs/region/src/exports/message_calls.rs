//! The message queue interface under its names, for programs in COBOL and in C.
//!
//! A program of a region finds these before those of any library that it was linked with.

use std::ffi::c_void;

/// A function as the linker knows it.
type Function = *const c_void;

mqm_calls::calls!(either);

/// The exported names with their addresses.
pub(super) fn exports() -> [(&'static str, Function); 26] {
    [
        ("MQBACK", MQBACK as Function),
        ("MQBEGIN", MQBEGIN as Function),
        ("MQBUFMH", MQBUFMH as Function),
        ("MQCB", MQCB as Function),
        ("MQCLOSE", MQCLOSE as Function),
        ("MQCMIT", MQCMIT as Function),
        ("MQCONN", MQCONN as Function),
        ("MQCONNX", MQCONNX as Function),
        ("MQCRTMH", MQCRTMH as Function),
        ("MQCTL", MQCTL as Function),
        ("MQDISC", MQDISC as Function),
        ("MQDLTMH", MQDLTMH as Function),
        ("MQDLTMP", MQDLTMP as Function),
        ("MQGET", MQGET as Function),
        ("MQINQ", MQINQ as Function),
        ("MQINQMP", MQINQMP as Function),
        ("MQMHBUF", MQMHBUF as Function),
        ("MQOPEN", MQOPEN as Function),
        ("MQPUT", MQPUT as Function),
        ("MQPUT1", MQPUT1 as Function),
        ("MQSET", MQSET as Function),
        ("MQSETMP", MQSETMP as Function),
        ("MQSTAT", MQSTAT as Function),
        ("MQSUB", MQSUB as Function),
        ("MQSUBRQ", MQSUBRQ as Function),
        ("MQXCNVC", MQXCNVC as Function),
    ]
}
