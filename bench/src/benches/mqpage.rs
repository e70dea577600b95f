//! What a page costs that is read or written, in clear and sealed; and whether the PSET report,
//! which reckons with that, foresees what sealing page sets adds to a load of messages.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor};
use store::{CommitSink, Read, SetAttributes, SetId, Store as _, Unit as _, UnitOptions};
use store_kernel::{KernelStore, KernelUnit};

use super::mq::{Keeping, QUEUE, Site};
use super::msgqueue::Quiet;
use super::{Benchmark, Context, PlotBuilder};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Spread, Track, Work, interleave};
use crate::kernel::{self, failed};
use crate::ours::Form;
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "mqpage",
    title: "Pages of page sets",
    about: "What sealing adds to a page of 8 KiB that is read into its pool (GET), written by the \
            page writer in its own time (WRITE), and written because somebody waits for its frame \
            (IMW): the same work on data sets in clear and sealed, in turns. Then messages go \
            through a queue that is much larger than its pool, in clear and sealed; the counters \
            of the one in clear times these costs is what the PSET report predicts.",
    takes: "4 minutes",
    run,
};

/// What the prediction may be off by.
const OFF_LIMIT: f64 = 0.2;
const MESSAGE_BYTES: usize = 4_000;
const IN_UNIT: u64 = 32;

/// Pages that were read, and written in either way, since a system was opened.
#[derive(Clone, Copy, Default)]
struct Pages {
    gets: u64,
    writes: u64,
    immediate: u64,
}

impl Pages {
    fn of(store: &KernelStore) -> Pages {
        let mut pages = Pages::default();
        for pool in store.kernel().statistics().pools {
            pages.gets += pool.reads;
            pages.immediate += pool.writes_pressed;
            pages.writes += pool.writes - pool.writes_pressed;
        }
        pages
    }

    fn since(self, before: Pages) -> Pages {
        Pages {
            gets: self.gets - before.gets,
            writes: self.writes - before.writes,
            immediate: self.immediate - before.immediate,
        }
    }

    /// Of one operation.
    fn each(self, of: fn(Pages) -> u64, operations: u64) -> f64 {
        of(self) as f64 / operations.max(1) as f64
    }
}

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(1_500), Duration::from_millis(200));
    let context = &Context { settings, kernel: context.kernel, folder: context.folder.clone() };
    let mut plot = PlotBuilder::new("What sealing adds to a page", "us", Shape::Bars, "");
    let get = added(context, document, Task::Get)?;
    let write = added(context, document, Task::Write)?;
    let immediate = added(context, document, Task::Immediate)?;
    // Each costs of a page what the task costs more, less what is known of other pages.
    let cost_get = get.each(|pages| pages.gets);
    let cost_write = write.cost(|pages| pages.writes, &[(cost_get, |pages: Pages| pages.gets)]);
    let known: [(f64, fn(Pages) -> u64); 2] =
        [(cost_get, |pages| pages.gets), (cost_write, |pages| pages.writes)];
    let cost_immediate = immediate.cost(|pages| pages.immediate, &known);
    let costs = [("GET", cost_get), ("WRITE", cost_write), ("IMW", cost_immediate)];
    plot.column("");
    for (name, cost) in costs {
        plot.value(name, cost, None);
        let figure = format!("sealing_adds_to_{}", name.to_lowercase());
        document.figures.insert(figure, Figure::single(cost, "us a page"));
        eprintln!("    sealing adds to {name}: {cost:.3} us a page");
    }
    plot.finish(document);
    predict(context, document, costs.map(|(_, cost)| cost))
}

/// What the same task took more where pages are sealed, and which pages it moved.
struct Added {
    /// Microseconds of CPU for an operation.
    us: f64,
    pages: Pages,
    operations: u64,
}

impl Added {
    fn each(&self, of: fn(Pages) -> u64) -> f64 {
        let each = self.pages.each(of, self.operations);
        if each > 0.0 { self.us / each } else { 0.0 }
    }

    /// The cost of a page of one kind where those of others are known; that of the first of them if
    /// there were none.
    fn cost(&self, of: fn(Pages) -> u64, known: &[(f64, fn(Pages) -> u64)]) -> f64 {
        let others =
            |(cost, of): &(f64, fn(Pages) -> u64)| cost * self.pages.each(*of, self.operations);
        let rest = self.us - known.iter().map(others).sum::<f64>();
        let each = self.pages.each(of, self.operations);
        match each > 0.0 {
            true => rest / each,
            false => known.last().map_or(0.0, |(cost, _)| *cost),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Task {
    /// Gets of records whose pages have to be read.
    Get,
    /// Updates in memory, whose pages the writer writes so that little is to be redone.
    Write,
    /// Updates of records whose pages have to be read, where every frame holds a change.
    Immediate,
}

fn added(context: &Context, document: &mut Document, task: Task) -> Result<Added> {
    let name = match task {
        Task::Get => "get",
        Task::Write => "write",
        Task::Immediate => "immediate",
    };
    eprintln!("  {name}");
    let [clear, sealed] =
        [Form::Plain, Form::Sealed].map(|form| Records::create(context, name, form, task));
    let (clear, sealed) = (RefCell::new(clear?), RefCell::new(sealed?));
    let mut entries = [
        Entry::new("in clear", |slice| clear.borrow_mut().drive(slice)),
        Entry::new("sealed", |slice| sealed.borrow_mut().drive(slice)),
    ];
    let before = Pages::of(&clear.borrow().store);
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    document.add_ours(&tracks[0], &format!("_{name}_in_clear"));
    document.add_ours(&tracks[1], &format!("_{name}_sealed"));
    let clear = clear.borrow();
    let pages = Pages::of(&clear.store).since(before);
    Ok(Added { us: more(&tracks).median, pages, operations: clear.operations })
}

/// What an operation costs more on the second track, round by round.
fn more(tracks: &[Track]) -> Spread {
    let rounds = tracks[0].samples.iter().zip(&tracks[1].samples);
    Spread::of(rounds.map(|(clear, sealed)| sealed.cpu_us() - clear.cpu_us()).collect())
}

/// Records of 100 bytes in one data set.
struct Records {
    store: KernelStore,
    set: SetId,
    records: u64,
    task: Task,
    random: Random,
    sink: Arc<dyn CommitSink>,
    operations: u64,
}

impl Records {
    fn create(context: &Context, name: &str, form: Form, task: Task) -> Result<Records> {
        let folder = context.folder.join(format!("{name}-{}", form.words()));
        std::fs::create_dir_all(&folder).map_err(BenchError::system("create", &folder))?;
        // Beyond the pool where pages have to be read, within it where only changes go out.
        let records = context.settings.pick(1_500_000, 100_000);
        let pool_bytes = match task {
            Task::Write => records * 300,
            Task::Get | Task::Immediate => records * 25,
        };
        let store = kernel::create_kept(&folder, (Form::Plain, form), pool_bytes, |config| {
            if task == Task::Write {
                config.writer.redo_bytes_max = 4 << 20;
            }
            if task == Task::Immediate {
                config.writer.dirty_share_max = 1.0;
            }
        })?;
        let set = store.create_set("RECORDS", &SetAttributes::default()).map_err(failed)?;
        let entries = (0..records).map(|id| {
            let (key, value) = (workload::key(id), workload::value(id));
            (key.to_vec(), value.to_vec())
        });
        store.load_sorted(set, &mut store::Pairs::new(entries)).map_err(failed)?;
        let (random, sink) = (Random::new(9), Arc::new(Quiet));
        Ok(Records { store, set, records, task, random, sink, operations: 0 })
    }

    fn drive(&mut self, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        while !deadline.passed() {
            let reads = self.task == Task::Get;
            let options = if reads { UnitOptions::READ_ONLY } else { UnitOptions::default() };
            let mut unit = self.store.begin(options).map_err(failed)?;
            for _ in 0..IN_UNIT {
                self.one(&mut unit)?;
            }
            unit.commit_queued(&self.sink, 0).map_err(failed)?;
            work.operations += IN_UNIT;
        }
        self.operations += work.operations;
        Ok(work)
    }

    fn one(&mut self, unit: &mut KernelUnit) -> Result<()> {
        let key = workload::key(self.random.below(self.records));
        let mut value = Vec::new();
        let read = if self.task == Task::Get { Read::Unlocked } else { Read::Update };
        if !unit.get(self.set, &key, read, &mut value).map_err(failed)? {
            return Err(failed("a record is missing"));
        }
        if self.task != Task::Get {
            workload::add_to_balance(&mut value, 1);
            let _ = unit.replace(self.set, &key, &value).map_err(failed)?;
        }
        Ok(())
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        let _ = self.store.kernel().close();
    }
}

/// Messages through a queue larger than its pool, in clear and sealed.
fn predict(context: &Context, document: &mut Document, costs: [f64; 3]) -> Result<()> {
    let (waiting, pool_bytes) = context.settings.pick((60_000, 48 << 20), (4_000, 4 << 20));
    eprintln!("  {waiting} messages that wait, in clear and sealed");
    let side = |form: Form| {
        let folder = context.folder.join(format!("messages-{}", form.words()));
        let keeping = Keeping { form, log: Form::Plain, archive: None, pool_bytes };
        let site = Site::create(&folder, keeping)?;
        let mut caller = Caller::connect(&site)?;
        caller.fill(waiting)?;
        Ok::<_, BenchError>((site, RefCell::new(caller)))
    };
    let (clear, sealed) = (side(Form::Plain)?, side(Form::Sealed)?);
    let mut entries = [
        Entry::new("messages, in clear", |slice| clear.1.borrow_mut().drive(slice)),
        Entry::new("messages, sealed", |slice| sealed.1.borrow_mut().drive(slice)),
    ];
    let (before, moved) = (Pages::of(&clear.0.store), clear.1.borrow().operations);
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    let pages = Pages::of(&clear.0.store).since(before);
    let operations = clear.1.borrow().operations - moved;
    document.add_ours(&tracks[0], "_messages_in_clear");
    document.add_ours(&tracks[1], "_messages_sealed");
    let of: [fn(Pages) -> u64; 3] =
        [|pages| pages.gets, |pages| pages.writes, |pages| pages.immediate];
    let predicted: f64 =
        of.iter().zip(costs).map(|(of, cost)| pages.each(*of, operations) * cost).sum();
    let measured = more(&tracks);
    for (name, of) in ["gets", "writes", "immediate_writes"].into_iter().zip(of) {
        let each = pages.each(of, operations);
        document.figures.insert(format!("{name}_for_a_message"), Figure::single(each, "pages"));
    }
    let name = "sealing_adds_to_a_message";
    document.figures.insert(format!("{name}_predicted"), Figure::single(predicted, "us"));
    document.figures.insert(format!("{name}_measured"), Figure::new(&measured, "us"));
    let off = (predicted / measured.median - 1.0).abs();
    eprintln!("    predicted {predicted:.3} us a message, measured {:.3}", measured.median);
    let clear_us = tracks[0].spread(Sample::cpu_us).median;
    let note = format!("of {clear_us:.1} us that a message takes in clear");
    let name = "what sealing adds, predicted against measured: difference";
    // A short run shows noise and nothing else.
    let off = (!context.settings.quick).then_some(off);
    document.checks.push(Check::at_most(name, off, OFF_LIMIT, "x").noted(&note));
    clear.0.confirm(waiting)?;
    sealed.0.confirm(waiting)
}

/// An embedded caller that puts behind the last message and gets the first.
struct Caller {
    connection: Connection<KernelStore>,
    handle: Handle,
    message: Vec<u8>,
    buffer: Vec<u8>,
    operations: u64,
}

fn refused(error: queue_manager::Failed) -> BenchError {
    failed(format!("a call ended with reason {}", error.0.0))
}

impl Caller {
    fn connect(site: &Site) -> Result<Caller> {
        let mut connection = site.manager.connect(ConnectOptions::default()).map_err(refused)?;
        let mut queue = ObjectDescriptor::queue(QUEUE);
        let opened = connection.open(&mut queue, open::INPUT_SHARED | open::OUTPUT);
        let handle = opened.map_err(refused)?.0;
        let mut message = vec![0; MESSAGE_BYTES];
        Random::new(3).fill(&mut message);
        Ok(Caller { connection, handle, message, buffer: Vec::new(), operations: 0 })
    }

    fn fill(&mut self, count: u64) -> Result<()> {
        for number in 1..=count {
            self.put()?;
            if number % IN_UNIT == 0 || number == count {
                self.connection.commit().map_err(refused)?;
            }
        }
        Ok(())
    }

    fn put(&mut self) -> Result<()> {
        let Caller { connection, handle, message, .. } = self;
        let mut descriptor = MessageDescriptor { persistence: 1, ..MessageDescriptor::default() };
        let mut options = PutOptions::new(put::SYNCPOINT);
        connection.put(*handle, &mut descriptor, &mut options, message).map(drop).map_err(refused)
    }

    fn get(&mut self) -> Result<()> {
        let Caller { connection, handle, buffer, .. } = self;
        let mut descriptor = MessageDescriptor::default();
        let mut options = GetOptions::new(get::SYNCPOINT);
        options.match_options = 0;
        let got = connection.get(*handle, &mut descriptor, &mut options, MESSAGE_BYTES, buffer);
        got.map(drop).map_err(refused)
    }

    fn drive(&mut self, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        while !deadline.passed() {
            for _ in 0..IN_UNIT {
                self.put()?;
                self.get()?;
            }
            self.connection.commit().map_err(refused)?;
            work.operations += IN_UNIT;
            work.bytes += IN_UNIT * MESSAGE_BYTES as u64;
        }
        self.operations += work.operations;
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_is_what_is_left_of_others() {
        let pages = Pages { gets: 200, writes: 50, immediate: 0 };
        let added = Added { us: 3.0, pages, operations: 100 };
        assert_eq!(added.each(|pages| pages.gets), 1.5);
        let known: [(f64, fn(Pages) -> u64); 1] = [(1.0, |pages| pages.gets)];
        assert_eq!(added.cost(|pages| pages.writes, &known), 2.0);
        assert_eq!(added.cost(|pages| pages.immediate, &known), 1.0);
    }
}
