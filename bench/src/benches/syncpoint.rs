//! A message and changes of a database: in one commit of one log, and by two-phase commit between
//! a log of messages and a log of data.
//!
//! Two-phase commit is presumed abort with the side of the messages as coordinator, as textbooks
//! have it and as kindly as it allows:
//!
//! | step | messages' log | data's log |
//! |---|---|---|
//! | 1 | | changes; prepared, forced; locks are kept |
//! | 2 | changes; committed, forced: the client may be told | |
//! | 3 | | committed, forced; locks are free |
//! | 4 | ended, not forced | |
//!
//! Holdfast has no such thing: the records of prepare and end are put into the logs as they are,
//! here alone, and nobody reads them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::stats::Histogram;
use base::{Lsn, UowId};
use otma::Name;
use queues::{Held, Limits, Pending, QueueName, Queues};
use seam::Seam;
use store::{CommitSink, Read, SetAttributes, SetId, Store as _, Unit as _, UnitOptions};
use store_kernel::{KernelStore, KernelUnit};

use super::msgqueue::Quiet;
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Work, interleave, ratio};
use crate::kernel::{self, failed};
use crate::ours::{Checkpoints, Form, StoreSetup};
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "syncpoint",
    title: "One log against two-phase commit",
    about: "A transaction takes a message of 300 bytes, updates four records of 100 bytes and puts \
            a message, durable, sealed, two copies of each log: message and data in one commit, \
            and by presumed-abort two-phase commit between a log of messages and one of data. One \
            and 64 in flight.",
    takes: "2 minutes",
    run,
};

const LEVELS: [usize; 2] = [1, 64];
const MESSAGE_BYTES: usize = 300;
const UPDATES: u64 = 4;
/// Messages that go round.
const MESSAGES: usize = 1_000;
/// Internal throughput rate against two-phase commit: 200 percent more.
const ITR_LIMIT: f64 = 3.0;
/// Records of a log beyond the kernel's kinds.
const KIND: u8 = 200;

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let records = context.settings.pick(200_000, 20_000);
    let one = Site::new(context, records, false)?;
    let two = Site::new(context, records, true)?;
    let mut plot = PlotBuilder::new("CPU for a transaction", "us", Shape::Bars, "in flight");
    let mut rates = PlotBuilder::new("Transactions", "1/s", Shape::Bars, "in flight");
    for level in LEVELS {
        eprintln!("  {level} in flight");
        let mut entries = [
            Entry::new("one log", |slice| one.drive(level, slice)),
            Entry::new("two-phase commit", |slice| two.drive(level, slice)),
        ];
        let tracks = interleave(&context.settings, &mut entries)?;
        drop(entries);
        document.add_ours(&tracks[0], &format!("_one_log_at_{level}"));
        document.add_ours(&tracks[1], &format!("_two_phase_at_{level}"));
        for (name, of) in [
            ("itr", Sample::internal_throughput_rate as fn(&Sample) -> f64),
            ("rate", Sample::rate),
        ] {
            let spread = ratio(&tracks[0], &tracks[1], of);
            let figure = format!("{name}_against_two_phase_at_{level}");
            document.figures.insert(figure, Figure::new(&spread, "x"));
            if name == "itr" && level == LEVELS[1] {
                let name = "one log against two-phase commit, 64 in flight, ITR";
                document.checks.push(Check::at_least(name, Some(spread.median), ITR_LIMIT, "x"));
            }
        }
        plot.column(level.to_string());
        plot.tracks(&tracks, Sample::cpu_us);
        rates.column(level.to_string());
        rates.tracks(&tracks, Sample::rate);
    }
    rates.finish(document);
    plot.finish(document);
    one.confirm()?;
    two.confirm()
}

/// Where messages and records are: in one store, or in two.
struct Site {
    messages: KernelStore,
    data: KernelStore,
    two: bool,
    queues: Queues<KernelStore>,
    queue: QueueName,
    set: SetId,
    records: u64,
    sink: Arc<dyn CommitSink>,
    updates: std::cell::Cell<u64>,
}

/// What a transaction waits for.
enum Wait {
    /// It begins.
    Nothing,
    /// The data's log has its prepare.
    Prepared(Box<[KernelUnit; 2]>),
    /// The messages' log has its commit; with two logs the data's unit of work is still there.
    Committed(Option<Box<KernelUnit>>),
    /// The data's log has its commit.
    Ending,
}

/// A transaction in flight.
struct Slot {
    wait: Wait,
    /// In which log, and up to where.
    until: (bool, Lsn),
    since: Instant,
    moved: Option<(Held, Pending)>,
}

fn store(context: &Context, name: &str) -> Result<KernelStore> {
    let folder = context.folder.join(name);
    std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
    let (form, checkpoints) = (Form::Sealed, Checkpoints::Default);
    let pool_bytes = 128 << 20;
    kernel::create(&StoreSetup { folder, form, copies: 2, pool_bytes, checkpoints, buffered: true })
}

impl Site {
    fn new(context: &Context, records: u64, two: bool) -> Result<Site> {
        let messages = store(context, if two { "messages" } else { "both" })?;
        let data = if two { store(context, "data")? } else { messages.clone() };
        let set = data.create_set("RECORDS", &SetAttributes::default()).map_err(failed)?;
        let entries = (0..records).map(|id| {
            let (key, value) = (workload::key(id), workload::value(id));
            (key.to_vec(), value.to_vec())
        });
        data.load_sorted(set, &mut store::Pairs::new(entries)).map_err(failed)?;
        let clock = Seam::real().clock;
        let queues =
            Queues::open(&messages, clock, Limits::default(), |_| Name::BLANK).map_err(failed)?;
        let queue = QueueName::input(Name(*b"BENCH   "));
        let mut unit = messages.begin(UnitOptions::default()).map_err(failed)?;
        let put = |_| queues.put(&mut unit, queue, None, &[b'm'; MESSAGE_BYTES]);
        let put: std::result::Result<Vec<Pending>, _> = (0..MESSAGES).map(put).collect();
        let put = put.map_err(failed)?;
        unit.commit().map_err(failed)?;
        queues.appear(&put);
        let updates = std::cell::Cell::new(0);
        let sink = Arc::new(Quiet);
        Ok(Site { messages, data, two, queues, queue, set, records, sink, updates })
    }

    fn log(&self, of_data: bool) -> &Arc<wal::Log> {
        if of_data { self.data.kernel().log() } else { self.messages.kernel().log() }
    }

    /// Transactions until the slice is over, so many at a time.
    fn drive(&self, in_flight: usize, slice: Duration) -> Result<Work> {
        let (deadline, latency) = (Deadline::after(slice), Histogram::default());
        let mut random = Random::new(in_flight as u64);
        let idle = |_| Slot {
            wait: Wait::Nothing,
            until: (false, Lsn(0)),
            since: Instant::now(),
            moved: None,
        };
        let mut slots: Vec<Slot> = (0..in_flight).map(idle).collect();
        let (mut operations, mut at) = (0, 0);
        loop {
            let over = deadline.passed();
            let mut moved = false;
            for (number, slot) in slots.iter_mut().enumerate() {
                if matches!(slot.wait, Wait::Nothing) {
                    if !over {
                        // Nobody waits for a lock: each has records of its own.
                        let part = self.records / in_flight as u64;
                        self.begin(slot, (number as u64 * part, part), &mut random)?;
                        moved = true;
                    }
                } else if slot.until.1 <= self.log(slot.until.0).durable() {
                    operations += u64::from(self.go_on(slot, &latency)?);
                    moved = true;
                }
            }
            if moved {
                continue;
            }
            // The next one in turn that waits.
            let Some(next) = (0..in_flight).map(|step| (at + step) % in_flight).find(|number| {
                slots.get(*number).is_some_and(|slot| !matches!(slot.wait, Wait::Nothing))
            }) else {
                break;
            };
            at = next + 1;
            let (of_data, until) = slots[next].until;
            self.log(of_data).wait_durable(until).map_err(failed)?;
        }
        self.updates.set(self.updates.get() + operations * UPDATES);
        Ok(Work { operations, bytes: 0, latency: workload::quantiles(&latency) })
    }

    fn begin(&self, slot: &mut Slot, part: (u64, u64), random: &mut Random) -> Result<()> {
        slot.since = Instant::now();
        let held = self.queues.take(self.queue).ok_or_else(|| failed("no message waits"))?;
        let message = self.queues.read(&held).map_err(failed)?;
        let mut own = self.messages.begin(UnitOptions::default()).map_err(failed)?;
        let mut other = match self.two {
            true => Some(self.data.begin(UnitOptions::default()).map_err(failed)?),
            false => None,
        };
        self.update(other.as_mut().unwrap_or(&mut own), part, random)?;
        self.queues.remove(&mut own, &held).map_err(failed)?;
        let put = self.queues.put(&mut own, self.queue, None, &message).map_err(failed)?;
        slot.moved = Some((held, put));
        match other {
            Some(other) => {
                slot.until = (true, self.record(true, b"PREPARED")?);
                slot.wait = Wait::Prepared(Box::new([own, other]));
            }
            None => {
                own.commit_queued(&self.sink, 0).map_err(failed)?;
                slot.until = (false, self.log(false).next_lsn());
                slot.wait = Wait::Committed(None);
            }
        }
        Ok(())
    }

    fn update(&self, unit: &mut KernelUnit, part: (u64, u64), random: &mut Random) -> Result<()> {
        let mut value = Vec::new();
        let first = random.below(part.1 - UPDATES);
        for number in 0..UPDATES {
            let key = workload::key(part.0 + first + number);
            if !unit.get(self.set, &key, Read::Update, &mut value).map_err(failed)? {
                return Err(failed("a record is missing"));
            }
            workload::add_to_balance(&mut value, 1);
            let _ = unit.replace(self.set, &key, &value).map_err(failed)?;
        }
        Ok(())
    }

    /// A record of two-phase commit: its kind, the transaction, who takes part.
    fn record(&self, of_data: bool, what: &[u8; 8]) -> Result<Lsn> {
        let body: [&[u8]; 2] = [what, &[0; 32]];
        let place = self.log(of_data).append(KIND, 0, UowId::NONE, Lsn::NONE, &body);
        Ok(place.map_err(failed)?.end)
    }

    /// What it waited for is durable; whether the transaction is at its end.
    fn go_on(&self, slot: &mut Slot, latency: &Histogram) -> Result<bool> {
        match std::mem::replace(&mut slot.wait, Wait::Nothing) {
            Wait::Nothing => Ok(false),
            Wait::Prepared(units) => {
                let [own, other] = *units;
                own.commit_queued(&self.sink, 0).map_err(failed)?;
                slot.until = (false, self.log(false).next_lsn());
                slot.wait = Wait::Committed(Some(Box::new(other)));
                Ok(false)
            }
            Wait::Committed(other) => {
                latency.record(slot.since.elapsed().as_nanos() as u64);
                if let Some((held, put)) = slot.moved.take() {
                    self.queues.gone(held);
                    self.queues.appear(&[put]);
                }
                let Some(other) = other else { return Ok(true) };
                other.commit_queued(&self.sink, 0).map_err(failed)?;
                slot.until = (true, self.log(true).next_lsn());
                slot.wait = Wait::Ending;
                Ok(false)
            }
            Wait::Ending => {
                self.record(false, b"ENDED   ")?;
                Ok(true)
            }
        }
    }

    /// Every update is in the data, every message in its queue.
    fn confirm(&self) -> Result<()> {
        let mut unit = self.data.begin(UnitOptions::READ_ONLY).map_err(failed)?;
        let (mut value, mut sum) = (Vec::new(), 0);
        for id in 0..self.records {
            let key = workload::key(id);
            if !unit.get(self.set, &key, Read::Unlocked, &mut value).map_err(failed)? {
                return Err(failed("a record is missing"));
            }
            sum += value.first_chunk().map_or(0, |first| u64::from_le_bytes(*first));
        }
        unit.backout().map_err(failed)?;
        let waiting = self.queues.figures(self.queue).waiting;
        match sum == self.updates.get() && waiting == MESSAGES as u64 {
            true => Ok(()),
            false => Err(failed(format!(
                "{} updates and {MESSAGES} messages expected, {sum} and {waiting} found",
                self.updates.get()
            ))),
        }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.data.kernel().close();
        if self.two {
            let _ = self.messages.kernel().close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_way_loses_an_update_or_a_message() {
        let context = super::super::tests::context("syncpoint");
        for two in [false, true] {
            let site = Site::new(&context, 2_000, two).unwrap();
            for level in [1, 16] {
                let work = site.drive(level, Duration::from_millis(30)).unwrap();
                assert!(work.operations > 0, "{two} {level}");
            }
            site.confirm().unwrap();
            site.updates.set(1);
            assert!(site.confirm().is_err());
        }
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
