//! When a queue counts as deep, no longer deep, or full; and when its messages count as got too
//! late.
//!
//! The service interval is timed from a put on an empty queue, and from a get that leaves messages,
//! to the next get.
//!
//! 1. An event is told once: that a queue is deep, again only after it was no longer deep; that it
//!    is full, likewise. Both let it be told that it is no longer deep.
//! 2. That messages are got too late is told once, and then again only after it was told that they
//!    are got in time; the other way round, likewise.

use crate::objects::Object;

/// What a queue's depth has come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DepthEvent {
    High,
    Low,
    Full,
    /// Messages are got too late.
    Late,
    /// They are got in time.
    InTime,
}

impl DepthEvent {
    pub(crate) fn reason(self) -> i32 {
        match self {
            DepthEvent::High => 2224,
            DepthEvent::Low => 2225,
            DepthEvent::Full => 2053,
            DepthEvent::Late => 2226,
            DepthEvent::InTime => 2227,
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

/// How long messages wait to be got, and what is to be told next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ServiceWatch {
    interval_ms: u64,
    /// Since when a get is waited for.
    since_ms: Option<u64>,
    late: bool,
    in_time: bool,
}

impl ServiceWatch {
    /// As a definition says. An alteration begins anew.
    pub(crate) fn of(object: &Object) -> ServiceWatch {
        ServiceWatch {
            interval_ms: object.number_of("QSVCINT").unsigned_abs(),
            since_ms: None,
            late: object.is("QSVCIEV", "HIGH"),
            in_time: object.is("QSVCIEV", "OK"),
        }
    }

    /// Whether anything is to be told.
    pub(crate) fn is_on(&self) -> bool {
        self.late || self.in_time
    }

    fn is_late(&self, now_ms: u64) -> bool {
        self.since_ms.is_some_and(|since| now_ms.saturating_sub(since) > self.interval_ms)
    }

    /// A message has come; there are so many now.
    pub(crate) fn put(&mut self, depth: u64, now_ms: u64) -> Option<DepthEvent> {
        if depth <= 1 || self.since_ms.is_none() {
            self.since_ms = Some(now_ms);
            return None;
        }
        if !self.late || !self.is_late(now_ms) {
            return None;
        }
        (self.late, self.in_time) = (false, true);
        Some(DepthEvent::Late)
    }

    /// A message was got; so many are left.
    pub(crate) fn got(&mut self, depth: u64, now_ms: u64) -> Option<DepthEvent> {
        let (timed, is_late) = (self.since_ms.is_some(), self.is_late(now_ms));
        self.since_ms = (depth > 0).then_some(now_ms);
        match (timed, is_late) {
            (true, true) if self.late => {
                (self.late, self.in_time) = (false, true);
                Some(DepthEvent::Late)
            }
            (true, false) if self.in_time => {
                (self.late, self.in_time) = (true, false);
                Some(DepthEvent::InTime)
            }
            _ => None,
        }
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

    #[test]
    fn lateness_is_timed_from_the_get_or_the_put_before() {
        let mut queue = Object::new(Kind::QueueLocal, "Q");
        for (name, value) in [("QSVCIEV", "HIGH"), ("QSVCINT", "100")] {
            queue.set(name, &value.into()).unwrap();
        }
        let mut watch = ServiceWatch::of(&queue);
        assert_eq!(watch.put(1, 1_000), None);
        assert_eq!(watch.put(2, 1_050), None);
        // In time, but no event has said the contrary.
        assert_eq!(watch.got(1, 1_100), None);
        assert_eq!(watch.put(2, 1_201), Some(DepthEvent::Late));
        assert_eq!(watch.got(1, 1_300), None);
        assert_eq!(watch.got(0, 1_350), Some(DepthEvent::InTime));
        // An empty queue lets no message wait.
        assert_eq!(watch.put(1, 9_000), None);
        assert_eq!(watch.got(0, 9_101), Some(DepthEvent::Late));
    }
}
