//! When a queue counts as deep, no longer deep, or full.
//!
//! 1. An event is told once: that a queue is deep, again only after it was no longer deep; that it
//!    is full, likewise. Both let it be told that it is no longer deep.

use crate::objects::Object;

/// What a queue's depth has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DepthEvent {
    High,
    Low,
    Full,
}

impl DepthEvent {
    pub(crate) fn reason(self) -> i32 {
        match self {
            DepthEvent::High => 2224,
            DepthEvent::Low => 2225,
            DepthEvent::Full => 2053,
        }
    }
}

/// From which depths on what is told, and what is to be told next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct DepthWatch {
    high_at: u64,
    low_at: u64,
    tells_high: bool,
    tells_full: bool,
    high: bool,
    low: bool,
    full: bool,
}

impl DepthWatch {
    /// As a definition says. An alteration begins anew.
    pub(crate) fn of(object: &Object) -> DepthWatch {
        let most = object.number_of("MAXDEPTH").unsigned_abs();
        let part = |name: &str| most * object.number_of(name).unsigned_abs() / 100;
        let on = |name: &str| object.is(name, "ENABLED");
        DepthWatch {
            high_at: part("QDEPTHHI"),
            low_at: part("QDEPTHLO"),
            tells_high: on("QDPHIEV"),
            tells_full: on("QDPMAXEV"),
            high: on("QDPHIEV"),
            low: on("QDPLOEV"),
            full: on("QDPMAXEV"),
        }
    }

    /// A message has come.
    pub(crate) fn put(&mut self, depth: u64) -> Option<DepthEvent> {
        if !self.high || depth < self.high_at {
            return None;
        }
        (self.high, self.low) = (false, true);
        Some(DepthEvent::High)
    }

    /// A message found no room.
    pub(crate) fn refused(&mut self) -> Option<DepthEvent> {
        if !self.full {
            return None;
        }
        (self.full, self.low) = (false, true);
        Some(DepthEvent::Full)
    }

    /// A message has gone.
    pub(crate) fn got(&mut self, depth: u64) -> Option<DepthEvent> {
        if !self.low || depth > self.low_at {
            return None;
        }
        (self.low, self.high, self.full) = (false, self.tells_high, self.tells_full);
        Some(DepthEvent::Low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::Kind;

    #[test]
    fn each_event_is_told_once_until_its_opposite_was() {
        let mut queue = Object::new(Kind::QueueLocal, "Q");
        for (name, value) in [("MAXDEPTH", "10"), ("QDPHIEV", "ENABLED")] {
            queue.set(name, &value.into()).unwrap();
        }
        let mut watch = DepthWatch::of(&queue);
        assert_eq!(watch.got(0), None);
        assert_eq!(watch.put(7), None);
        assert_eq!(watch.put(8), Some(DepthEvent::High));
        assert_eq!(watch.put(9), None);
        assert_eq!(watch.refused(), Some(DepthEvent::Full));
        assert_eq!(watch.refused(), None);
        assert_eq!(watch.got(3), None);
        assert_eq!(watch.got(2), Some(DepthEvent::Low));
        assert_eq!(watch.got(1), None);
        assert_eq!(watch.put(8), Some(DepthEvent::High));
    }
}
