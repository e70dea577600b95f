//! Durable messages: put and taken again, from an empty queue and from one a million deep.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::Lsn;
use base::stats::Histogram;
use otma::Name;
use queues::{Held, Limits, Pending, QueueName, Queues};
use seam::Seam;
use store::{CommitSink, Committed, Store as _, Unit as _, UnitOptions};
use store_kernel::KernelStore;

use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::kernel::{self, failed};
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "msgqueue",
    title: "Durable messages",
    about: "Messages of 1 KB are put into a queue and taken out again, each in a unit of work of \
            its own, durable, sealed, two copies of the log, 64 in flight from one thread; one \
            queue is empty otherwise, the other one has a million messages that wait.",
    takes: "3 minutes",
    run,
};

const MESSAGE_BYTES: usize = 1024;
const IN_FLIGHT: usize = 64;
const DEEP: u64 = 1_000_000;
const CPU_US_LIMIT: f64 = 12.0;
const DEEP_LIMIT: f64 = 1.5;
/// Messages of a unit of work while the deep queue is filled.
const FILLED_AT_A_TIME: u64 = 500;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let (deep, pool) = context.settings.pick((DEEP, 512 << 20), (20_000, 64 << 20));
    let empty = Side::new(context, "empty", pool)?;
    let full = Side::new(context, "deep", pool)?;
    eprintln!("  {deep} messages that wait");
    let filling = Instant::now();
    full.fill(deep)?;
    let filled = deep as f64 / filling.elapsed().as_secs_f64();
    document.figures.insert("fill_rate".into(), Figure::single(filled, "1/s"));
    let mut entries = [
        Entry::new("empty queue", |slice| empty.pairs(IN_FLIGHT, slice)),
        Entry::new("deep queue", |slice| full.pairs(IN_FLIGHT, slice)),
    ];
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    full.confirm(deep)?;
    empty.confirm(0)?;
    document.add_ours(&tracks[0], "_empty");
    document.add_ours(&tracks[1], "_deep");
    let mut plot = PlotBuilder::new("CPU for a message, put and taken", "us", Shape::Bars, "");
    plot.column("");
    plot.tracks(&tracks, Sample::cpu_us);
    plot.finish(document);
    let cpu = tracks[0].spread(Sample::cpu_us).median;
    let name = "put and take of a durable message of 1 KB, CPU";
    document.checks.push(Check::at_most(name, Some(cpu), CPU_US_LIMIT, "us"));
    let deeper = ratio(&tracks[1], &tracks[0], Sample::cpu_us).median;
    // A queue that is not so deep says nothing of the promise.
    let deeper = (!context.settings.quick).then_some(deeper);
    let name = "the same, a million deep against empty";
    document.checks.push(Check::at_most(name, deeper, DEEP_LIMIT, "x"));
    Ok(())
}

/// Durability is asked of the log; nothing is to be done for a single commit.
pub(super) struct Quiet;

impl CommitSink for Quiet {
    fn settled(&self, _token: u64, _outcome: store::Result<Committed>) {}
}

/// A store with a queue.
struct Side {
    store: KernelStore,
    queues: Queues<KernelStore>,
    queue: QueueName,
    sink: Arc<dyn CommitSink>,
    message: Vec<u8>,
}

/// What is not durable yet.
enum Step {
    Put(Pending),
    Taken(Held),
}

impl Side {
    fn new(context: &Context, name: &str, pool_bytes: u64) -> Result<Side> {
        let folder = context.folder.join(name);
        std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
        let setup = StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true };
        let store = kernel::create(&setup)?;
        let clock = Seam::real().clock;
        let queues =
            Queues::open(&store, clock, Limits::default(), |_| Name::BLANK).map_err(failed)?;
        let queue = QueueName::input(Name(*b"BENCH   "));
        let mut message = vec![0; MESSAGE_BYTES];
        Random::new(1).fill(&mut message);
        Ok(Side { store, queues, queue, sink: Arc::new(Quiet), message })
    }

    /// Puts so many messages, durably.
    fn fill(&self, count: u64) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let now = left.min(FILLED_AT_A_TIME);
            let mut unit = self.store.begin(UnitOptions::default()).map_err(failed)?;
            let put = |_| self.queues.put(&mut unit, self.queue, None, &self.message);
            let put: std::result::Result<Vec<Pending>, _> = (0..now).map(put).collect();
            let put = put.map_err(failed)?;
            unit.commit().map_err(failed)?;
            self.queues.appear(&put);
            left -= now;
        }
        Ok(())
    }

    fn put(&self) -> Result<(Lsn, Step)> {
        let mut unit = self.store.begin(UnitOptions::default()).map_err(failed)?;
        let put = self.queues.put(&mut unit, self.queue, None, &self.message).map_err(failed)?;
        unit.commit_queued(&self.sink, 0).map_err(failed)?;
        Ok((self.store.kernel().log().next_lsn(), Step::Put(put)))
    }

    fn remove(&self, held: Held) -> Result<(Lsn, Step)> {
        let message = self.queues.read(&held).map_err(failed)?;
        if message.len() != MESSAGE_BYTES {
            return Err(failed("a message has another length"));
        }
        let mut unit = self.store.begin(UnitOptions::default()).map_err(failed)?;
        self.queues.remove(&mut unit, &held).map_err(failed)?;
        unit.commit_queued(&self.sink, 0).map_err(failed)?;
        Ok((self.store.kernel().log().next_lsn(), Step::Taken(held)))
    }

    /// Puts and takes in turn until the slice is over; as many as were put are taken.
    fn pairs(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let log = self.store.kernel().log();
        let (deadline, latency) = (Deadline::after(slice), Histogram::default());
        let mut waiting: VecDeque<(Lsn, Instant, Step)> = VecDeque::with_capacity(in_flight);
        let (mut owed, mut operations) = (0_u64, 0);
        let mut now = Instant::now();
        loop {
            let over = deadline.passed_at(now);
            if waiting.len() < in_flight {
                let held = if owed > 0 { self.queues.take(self.queue) } else { None };
                let step = match held {
                    Some(held) => {
                        owed -= 1;
                        Some(self.remove(held)?)
                    }
                    None if over => None,
                    None => {
                        owed += 1;
                        Some(self.put()?)
                    }
                };
                if let Some((at, step)) = step {
                    waiting.push_back((at, now, step));
                    now = Instant::now();
                    continue;
                }
            }
            let Some((oldest, ..)) = waiting.front() else { break };
            log.wait_durable(*oldest).map_err(failed)?;
            let durable = log.durable();
            now = Instant::now();
            while let Some((_, since, step)) = waiting.pop_front_if(|(at, ..)| *at <= durable) {
                latency.record((now - since).as_nanos() as u64);
                match step {
                    Step::Put(put) => self.queues.appear(&[put]),
                    Step::Taken(held) => {
                        self.queues.gone(held);
                        operations += 1;
                    }
                }
            }
        }
        let bytes = operations * MESSAGE_BYTES as u64;
        Ok(Work { operations, bytes, latency: workload::quantiles(&latency) })
    }

    /// As many wait as did before; also after the queue is read anew.
    fn confirm(&self, expected: u64) -> Result<()> {
        let clock = Seam::real().clock;
        let again =
            Queues::open(&self.store, clock, Limits::default(), |_| Name::BLANK).map_err(failed)?;
        let [answer, kept] = [&self.queues, &again].map(|of| of.figures(self.queue).waiting);
        match answer == expected && kept == expected {
            true => Ok(()),
            false => Err(failed(format!("{expected} messages wait, not {answer} and {kept}"))),
        }
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.store.kernel().close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_messages_wait_as_before_pairs_of_put_and_take() {
        let context = super::super::tests::context("msgqueue");
        let side = Side::new(&context, "queue", 4 << 20).unwrap();
        let slice = Duration::from_millis(20);
        assert!(side.pairs(8, slice).unwrap().operations > 0);
        side.confirm(0).unwrap();
        side.fill(700).unwrap();
        let work = side.pairs(1, slice).unwrap();
        assert_eq!(work.bytes, work.operations * 1024);
        side.confirm(700).unwrap();
        assert!(side.confirm(699).is_err());
        drop(side);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
