//! Statistics messages: what queues did in an interval.
//!
//! 1. A queue has a group in the message of an interval if it collects statistics, and something
//!    happened to it.
//! 2. Lists of two are for messages that are not kept over a restart, and for those that are; what
//!    is not counted apart stands in the second.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use seam::sync::Mutex;
use store::Store;

use super::super::Core;
use super::{id, pcf};
use crate::descriptor::value;
use crate::message::display_date_and_time;
use crate::objects::Kind;
use crate::status::QueueStatistics;

const QUEUE: &str = "SYSTEM.ADMIN.STATISTICS.QUEUE";
const STATISTICS: i32 = 21;
const STATISTICS_OF_QUEUES: i32 = 165;
const GROUP: i32 = 8011;
/// Queues of one message.
const QUEUES_MAX: usize = 100;

/// What was counted when the last interval ended, by queue.
type Counted = BTreeMap<String, QueueStatistics>;

/// The difference of two counts; all of it, if counting has begun anew.
fn since(now: &QueueStatistics, then: &QueueStatistics) -> QueueStatistics {
    if now.reset_ms != then.reset_ms {
        return now.clone();
    }
    let of = |now: u64, then: u64| now.saturating_sub(then);
    QueueStatistics {
        puts: of(now.puts, then.puts),
        put_bytes: of(now.put_bytes, then.put_bytes),
        gets: of(now.gets, then.gets),
        get_bytes: of(now.get_bytes, then.get_bytes),
        browses: of(now.browses, then.browses),
        expired: of(now.expired, then.expired),
        failed_gets: of(now.failed_gets, then.failed_gets),
        ..now.clone()
    }
}

fn group(message: &mut pcf::Message, name: &str, did: &QueueStatistics, depth: u64) {
    let number = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
    let two = |of: u64| [0, number(of)];
    message.group(GROUP, 12);
    message.text(id::QUEUE, name, 48);
    message.integer(740, number(depth));
    message.integer(739, number(did.high_depth));
    message.longs(703, &[0, did.time_short_us]);
    message.integers(735, &two(did.puts));
    message.longs(748, &[0, did.put_bytes]);
    message.integers(722, &two(did.gets));
    message.longs(747, &[0, did.get_bytes]);
    message.integer(725, number(did.failed_gets));
    message.integers(705, &two(did.browses));
    message.integer(758, number(did.expired));
    message.integer(759, 0);
}

/// What statistics messages have said so far.
pub(crate) struct Counting {
    counted: Mutex<Counted>,
    /// When the present interval began.
    began_ms: AtomicU64,
}

impl Counting {
    /// The first interval begins.
    pub(crate) fn new(now_ms: u64) -> Counting {
        Counting { counted: Mutex::default(), began_ms: AtomicU64::new(now_ms) }
    }
}

impl<S: Store> Core<S> {
    /// Puts the statistics of an interval, if it is over and they are asked for.
    pub(crate) fn statistics_if_due(&self) {
        let name = self.options.name.clone();
        let Some(manager) = self.object(Kind::QueueManager, &name) else { return };
        let interval_ms = manager.number_of("STATINT").unsigned_abs() * 1_000;
        let (now, began) = (self.now_ms(), self.counting.began_ms.load(Ordering::Relaxed));
        if interval_ms == 0 || now.saturating_sub(began) < interval_ms {
            return;
        }
        self.counting.began_ms.store(now, Ordering::Relaxed);
        let generally = manager.text_of("STATQ").to_owned();
        if generally != "NONE" {
            self.put_statistics(began, now, generally == "ON");
        }
    }

    fn put_statistics(&self, from_ms: u64, to_ms: u64, generally: bool) {
        let queues: Vec<_> = self.definitions.registry().queues().cloned().collect();
        let mut did = Vec::new();
        {
            let mut counted = self.counting.counted.lock();
            let mut next = Counted::new();
            for queue in queues {
                let name = queue.name.text();
                let own = self.object(Kind::QueueLocal, &name);
                let collects = match own.as_ref().map_or("", |object| object.text_of("STATQ")) {
                    "ON" => true,
                    "QMGR" => generally,
                    _ => false,
                };
                if !collects {
                    continue;
                }
                let state = queue.state.lock();
                let (now, depth) = (state.statistics.clone(), state.index.depth());
                drop(state);
                let then = counted.get(&name).cloned().unwrap_or_default();
                let difference = since(&now, &then);
                let any = difference.puts + difference.gets + difference.browses;
                if any + difference.expired + difference.failed_gets > 0 {
                    did.push((name.clone(), difference, depth));
                }
                next.insert(name, now);
            }
            *counted = next;
        }
        for part in did.chunks(QUEUES_MAX) {
            let mut message = pcf::Message::new(STATISTICS, STATISTICS_OF_QUEUES, (0, 0));
            message.text(id::MANAGER, &self.options.name, 48);
            for (moment, (date, time)) in [(from_ms, (2711, 2712)), (to_ms, (2707, 2708))] {
                let (day, hour) = display_date_and_time(moment);
                message.text(date, &day, 12);
                message.text(time, &hour, 8);
            }
            message.integer(732, i32::try_from(part.len()).unwrap_or(i32::MAX));
            part.iter().for_each(|(name, did, depth)| group(&mut message, name, did, *depth));
            self.put_own(QUEUE, value::format::ADMIN, message);
        }
    }
}
