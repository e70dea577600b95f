//! What AIBs say beside the status of a PCB: return and reason codes (general knowledge, \[K\]).
//!
//! Invariants:
//! 1. An error that says how much room is needed says it in the used length.

use region::AibReply;

/// A parameter of an AIB call is wrong.
pub(crate) const WRONG_PARAMETER: u32 = 0x104;
/// No PCB has the name.
pub(crate) const UNKNOWN_RESOURCE: u32 = 0x208;
/// The area is too short for what the call returns.
const AREA_TOO_SHORT: u32 = 0x20C;
/// There is no such subfunction.
pub(crate) const UNKNOWN_SUBFUNCTION: u32 = 0x218;
/// The call is not one for this kind of program.
pub(crate) const NOT_FOR_BATCH: u32 = 0x228;

/// A wrong parameter, for this reason.
pub(crate) fn wrong(reason: u32) -> AibReply {
    AibReply { return_code: WRONG_PARAMETER, reason, ..AibReply::default() }
}

/// The area is too short for this many bytes.
pub(crate) fn too_short(needed: usize) -> AibReply {
    let area_used = u32::try_from(needed).unwrap_or(u32::MAX);
    AibReply { area_used, ..wrong(AREA_TOO_SHORT) }
}
