//! What a page costs that is read or written, in clear and sealed; and whether the PSET report,
//! which reckons with that, predicts what sealing page sets adds to a load of messages.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use base::CiNumber;
use pool::Backing as _;
use queue_manager::options::value::{get, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor};
use space::DataSet;
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
use crate::raw::AlignedBuffer;
use crate::workload::{self, Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "mqpage",
    title: "Pages of page sets",
    about: "What a page of 8 KiB costs that is read into its pool (GET), written by the page \
            writer in its own time (WRITE), and written because somebody waits for its frame \
            (IMW), on data sets in clear and sealed, in turns; and what of it is checking and \
            opening, or sealing. Then messages go through a queue that is much larger than its \
            pool, in clear and sealed; the counters of the one in clear times what sealing adds to \
            a page is what the PSET report predicts.",
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
    for task in [Task::Get, Task::Write, Task::Immediate] {
        whole(context, document, task)?;
    }
    let [get, write] = sealing(context, document)?;
    // Whoever waits for a frame has the page writer do the same as it always does.
    let costs = [get, write, write];
    let mut plot = PlotBuilder::new("What sealing adds to a page", "us", Shape::Bars, "");
    plot.column("");
    for (name, cost) in ["GET", "WRITE", "IMW"].into_iter().zip(costs) {
        plot.value(name, cost, None);
        let figure = format!("sealing_adds_to_{}", name.to_lowercase());
        document.figures.insert(figure, Figure::single(cost, "us a page"));
        eprintln!("    sealing adds to {name}: {cost:.3} us a page");
    }
    plot.finish(document);
    predict(context, document, costs)
}

/// Pages whose opening and sealing is measured.
const PAGES: u32 = 64;

/// Microseconds that sealing adds to a page that is opened after it was read, and to one that is
/// made ready to be written: the same calls of the same data set in clear and sealed.
fn sealing(context: &Context, document: &mut Document) -> Result<[f64; 2]> {
    eprintln!("  opening and sealing");
    let [clear, sealed] = [Form::Plain, Form::Sealed].map(|form| {
        let records = Records::create(context, "pages", form, Task::Write)?;
        let set = records.store.kernel().set_named("RECORDS");
        Ok((set.ok_or_else(|| failed("the data set has gone"))?, records))
    });
    let (clear, sealed): ((Arc<DataSet>, Records), (Arc<DataSet>, Records)) = (clear?, sealed?);
    let mut entries = [
        Entry::new("opened, in clear", |slice| opens(&clear.0, slice)),
        Entry::new("opened, sealed", |slice| opens(&sealed.0, slice)),
        Entry::new("made ready, in clear", |slice| seals(&clear.0, slice)),
        Entry::new("made ready, sealed", |slice| seals(&sealed.0, slice)),
    ];
    let settings =
        context.settings.with_slice(Duration::from_millis(300), Duration::from_millis(50));
    let tracks = interleave(&settings, &mut entries)?;
    drop(entries);
    for one in &tracks {
        document.add_ours(one, &format!("_{}", one.name.replace(", ", "_").replace(' ', "_")));
    }
    Ok([more(&tracks[..2]).median, more(&tracks[2..]).median])
}

/// The intervals that are looked at: behind the maps at the front, all of them in use.
fn some_pages() -> impl Iterator<Item = CiNumber> {
    (8..8 + PAGES).map(CiNumber)
}

fn opens(set: &DataSet, slice: Duration) -> Result<Work> {
    let bytes = set.pool().unit_bytes();
    let (mut raw, mut unit) = (Vec::new(), vec![0; bytes]);
    let mut aligned = AlignedBuffer::new(bytes);
    for ci in some_pages() {
        set.read_raw(ci, aligned.bytes_mut()).map_err(failed)?;
        raw.push((ci, aligned.bytes().to_vec()));
    }
    let deadline = Deadline::after(slice);
    let mut work = Work::default();
    deadline.until(|| {
        for (ci, kept) in &raw {
            unit.copy_from_slice(kept);
            set.open(*ci, &mut unit).map_err(failed)?;
        }
        work.operations += raw.len() as u64;
        Ok(())
    })?;
    Ok(work)
}

fn seals(set: &DataSet, slice: Duration) -> Result<Work> {
    let bytes = set.pool().unit_bytes();
    let (mut copy, mut aligned) = (vec![0; bytes], AlignedBuffer::new(bytes));
    let first = some_pages().next().unwrap_or(CiNumber(0));
    set.read_raw(first, aligned.bytes_mut()).map_err(failed)?;
    let unit = aligned.bytes_mut();
    set.open(first, unit).map_err(failed)?;
    if !set.prepare_write(first) {
        return Err(failed("there is no key to seal with"));
    }
    let deadline = Deadline::after(slice);
    let mut work = Work::default();
    deadline.until(|| {
        for _ in 0..PAGES {
            set.seal(first, unit, &mut copy).map_err(failed)?;
        }
        work.operations += u64::from(PAGES);
        Ok(())
    })?;
    set.finish_write(first);
    Ok(work)
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

/// What a page costs with all that belongs to it: figures only.
fn whole(context: &Context, document: &mut Document, task: Task) -> Result<()> {
    let (name, of): (&str, fn(Pages) -> u64) = match task {
        Task::Get => ("get", |pages| pages.gets),
        Task::Write => ("write", |pages| pages.writes),
        Task::Immediate => ("immediate", |pages| pages.immediate),
    };
    eprintln!("  {name}");
    let create = |form| Records::create(context, name, form, task).map(RefCell::new);
    let sides = [("in clear", create(Form::Plain)?), ("sealed", create(Form::Sealed)?)];
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (form, side) in &sides {
        entries.push(Entry::new(*form, |slice| side.borrow_mut().drive(slice)));
    }
    let before = sides.each_ref().map(|(_, side)| Pages::of(&side.borrow().store));
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    for (((form, side), track), before) in sides.iter().zip(&tracks).zip(before) {
        let suffix = format!("{name}_{}", form.replace(' ', "_"));
        document.add_ours(track, &format!("_{suffix}"));
        let side = side.borrow();
        let pages = Pages::of(&side.store).since(before).each(of, side.operations);
        document.figures.insert(format!("pages_{suffix}"), Figure::single(pages, "an operation"));
        if pages > 0.0 {
            let cost = track.spread(Sample::cpu_us).median / pages;
            document.figures.insert(format!("cpu_of_a_page_{suffix}"), Figure::single(cost, "us"));
        }
    }
    Ok(())
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
        // What is measured begins with pages that are on disk, not with those of the load.
        store.kernel().write_out().map_err(failed)?;
        let (random, sink) = (Random::new(9), Arc::new(Quiet));
        Ok(Records { store, set, records, task, random, sink, operations: 0 })
    }

    fn drive(&mut self, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        deadline.until(|| {
            let reads = self.task == Task::Get;
            let options = if reads { UnitOptions::READ_ONLY } else { UnitOptions::default() };
            let mut unit = self.store.begin(options).map_err(failed)?;
            for _ in 0..IN_UNIT {
                self.one(&mut unit)?;
            }
            unit.commit_queued(&self.sink, 0).map_err(failed)?;
            work.operations += IN_UNIT;
            Ok(())
        })?;
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
        deadline.until(|| {
            for _ in 0..IN_UNIT {
                self.put()?;
                self.get()?;
            }
            self.connection.commit().map_err(refused)?;
            work.operations += IN_UNIT;
            work.bytes += IN_UNIT * MESSAGE_BYTES as u64;
            Ok(())
        })?;
        self.operations += work.operations;
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_counted_and_can_be_opened_and_sealed_again() {
        let context = &super::super::tests::context("mqpage");
        let slice = Duration::from_millis(20);
        for form in [Form::Plain, Form::Sealed] {
            let mut records = Records::create(context, "test", form, Task::Immediate).unwrap();
            let before = Pages::of(&records.store);
            let work = records.drive(slice).unwrap();
            assert!(work.operations > 0 && records.operations == work.operations);
            assert!(Pages::of(&records.store).since(before).gets > 0);
            // Pages that nobody is writing.
            let resting = Records::create(context, "resting", form, Task::Write).unwrap();
            let set = resting.store.kernel().set_named("RECORDS").unwrap();
            assert!(opens(&set, slice).unwrap().operations > 0);
            assert!(seals(&set, slice).unwrap().operations > 0);
        }
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
