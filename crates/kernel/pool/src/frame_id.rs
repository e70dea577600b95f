//! The name of a frame, and a guess at where an interval stands.

/// Which frame of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FrameId(pub(crate) u32);

impl FrameId {
    pub(crate) const NONE: FrameId = FrameId(u32::MAX);
}

/// Where an interval was found last, without a pin: worth a try, never a promise (H10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHint {
    pub(crate) pool: u32,
    pub(crate) frame: FrameId,
    pub(crate) version: u64,
}
