//! Durable messages put and taken by programs and clients, beside brokers that people have; and a
//! queue a million messages deep.

use std::cell::RefCell;
use std::time::{Duration, Instant};

use queue_manager::options::value::{get, matching, open, put};
use queue_manager::options::{ConnectOptions, GetOptions, Handle, ObjectDescriptor, PutOptions};
use queue_manager::{Connection, MessageDescriptor};
use store_kernel::KernelStore;

use super::mq::{Keeping, QUEUE, Site};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, Work, interleave, ratio};
use crate::kernel::failed;
use crate::peers::brokers::artemis::Artemis;
use crate::peers::brokers::nats::Nats;
use crate::peers::brokers::rabbitmq::Node;
use crate::peers::brokers::{Broker, Clients, Crowd, artemis, nats, rabbitmq};
use crate::workload::{Deadline, Random};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "mqput",
    title: "Messages of programs and clients",
    about: "Producers put durable messages of 1 KB and of 1 MB, and as many consumers take them, \
            one of each and eight of each, each with one message on its way; then eight of each \
            with eight of 1 KB on their way. Over the message queue interface (units of work of \
            eight there) and over AMQP, sealed, two copies of the log, beside RabbitMQ, Artemis \
            and NATS, \
            durable before the answer. CPU is that of brokers and clients. Then messages are put \
            and got by their correlation identifier while none or a million others wait.",
    takes: "12 minutes",
    run,
};

const CROWDS: [(&str, Crowd); 3] = [
    ("1+1", Crowd { pairs: 1, window: 1 }),
    ("8+8", Crowd { pairs: 8, window: 1 }),
    ("8+8x8", Crowd { pairs: 8, window: 8 }),
];
const SIZES: [(&str, usize); 2] = [("1 KB", 1_000), ("1 MB", 1_000_000)];
/// Longer messages go one by one.
const WINDOW_BYTES_MAX: usize = 100_000;
const POOL_BYTES: u64 = 512 << 20;
const DEEP: u64 = 1_000_000;
const DEEP_LIMIT: f64 = 1.5;
/// Rate beside the best peer, with one and with eight clients of each kind.
const RATE_AT_ONE: f64 = 1.0;
const RATE_AT_EIGHT: f64 = 2.0;
/// CPU of a message beside the peer that takes least.
const CPU_SHARE: f64 = 1.0 / 3.0;
const BINDINGS: &str = "Holdfast, MQI";
const AMQP: &str = "Holdfast, AMQP";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let pool_bytes = context.settings.pick(POOL_BYTES, 64 << 20);
    let keeping = Keeping::sealed(pool_bytes);
    let site = Site::create(&context.folder.join("holdfast"), keeping)?;
    {
        let peers = Peers::start(context, document)?;
        let (bindings, amqp) = (site.bindings(), site.amqp());
        let queues: Vec<_> = peers
            .rabbitmq
            .iter()
            .flat_map(|node| ["quorum", "classic"].map(|kind| node.queue(kind)))
            .collect();
        let mut brokers: Vec<&dyn Broker> = vec![&bindings, &amqp];
        brokers.extend(queues.iter().map(|queue| queue as &dyn Broker));
        brokers.extend(peers.artemis.iter().map(|one| one as &dyn Broker));
        brokers.extend(peers.nats.iter().map(|one| one as &dyn Broker));
        for broker in &brokers[2..] {
            document.describe_peer(broker.name(), &broker.version(), &broker.settings());
        }
        for (size, bytes) in SIZES {
            sizes(context, document, &brokers, (size, bytes))?;
        }
    }
    site.confirm(0)?;
    drop(site);
    deep(context, document)
}

/// The peers that are here.
struct Peers {
    rabbitmq: Option<Node>,
    artemis: Option<Artemis>,
    nats: Option<Nats>,
}

impl Peers {
    fn start(context: &Context, document: &mut Document) -> Result<Peers> {
        let folder = context.folder.join("peers");
        let alone = context.settings.alone;
        Ok(Peers {
            rabbitmq: had(document, rabbitmq::NAME, alone, || {
                Node::create(&folder.join("rabbitmq"))
            })?,
            artemis: had(document, artemis::NAME, alone, || {
                Artemis::create(&folder.join("artemis"))
            })?,
            nats: had(document, nats::NAME, alone, || Nats::create(&folder.join("nats")))?,
        })
    }
}

/// A peer, or a word on why there is none.
fn had<T>(
    document: &mut Document,
    name: &'static str,
    alone: bool,
    create: impl FnOnce() -> Result<T>,
) -> Result<Option<T>> {
    let created = match alone {
        true => Err(BenchError::Missing { peer: name, reason: "--alone".into() }),
        false => create(),
    };
    match created {
        Ok(peer) => Ok(Some(peer)),
        Err(error @ BenchError::Missing { .. }) => {
            eprintln!("  {error}");
            document.add_missing(name, &error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn sizes(
    context: &Context,
    document: &mut Document,
    brokers: &[&dyn Broker],
    (size, bytes): (&str, usize),
) -> Result<()> {
    let settings =
        context.settings.with_slice(Duration::from_millis(1_000), Duration::from_millis(150));
    let mut plot =
        PlotBuilder::new(&format!("CPU for a message of {size}"), "us", Shape::Bars, "clients");
    let mut rates = PlotBuilder::new(&format!("Messages of {size}"), "1/s", Shape::Bars, "clients");
    for (at, (crowd_name, crowd)) in CROWDS.into_iter().enumerate() {
        if crowd.window > 1 && bytes > WINDOW_BYTES_MAX {
            continue;
        }
        eprintln!("  {size}, {crowd_name} clients");
        let mut clients = Vec::new();
        for broker in brokers {
            clients.push((broker, Clients::connect(*broker, crowd, bytes)?));
        }
        let mut entries: Vec<Entry<'_>> = Vec::new();
        for (broker, clients) in &mut clients {
            let entry = Entry::new(broker.name(), |slice| clients.drive(slice));
            entries.push(entry.with_scope(broker.scope()));
        }
        let tracks = interleave(&settings, &mut entries)?;
        drop(entries);
        let suffix = format!("_{}_{crowd_name}", size.replace(' ', "").to_lowercase());
        for track in &tracks {
            match track.name.strip_prefix("Holdfast, ") {
                Some(door) => {
                    document.add_ours(track, &format!("_{}{suffix}", door.to_lowercase()));
                }
                None => document.add_peer(&track.name, track, &suffix),
            }
        }
        plot.column(crowd_name);
        plot.tracks(&tracks, Sample::cpu_us);
        rates.column(crowd_name);
        rates.tracks(&tracks, Sample::rate);
        let rate_limit = if at == 0 { RATE_AT_ONE } else { RATE_AT_EIGHT };
        judge(document, &tracks, &format!("{size}, {crowd_name}"), rate_limit);
    }
    rates.finish(document);
    plot.finish(document);
    Ok(())
}

/// Both doors beside the peer that is best in rate, and the one that is in CPU.
fn judge(document: &mut Document, tracks: &[Track], what: &str, rate_limit: f64) {
    let peers = || tracks.iter().filter(|one| !one.name.starts_with("Holdfast"));
    let best = peers().max_by(|a, b| a.rate().total_cmp(&b.rate()));
    let cpu = |one: &Track| one.spread(Sample::cpu_us).median;
    let least = peers().min_by(|a, b| cpu(a).total_cmp(&cpu(b)));
    for door in [BINDINGS, AMQP] {
        let own = track(tracks, door);
        let of =
            |peer: Option<&Track>, what: fn(&Sample) -> f64| Some(ratio(own?, peer?, what).median);
        let note = |peer: Option<&Track>| {
            peer.map_or(String::new(), |peer| format!("it is {}", peer.name))
        };
        let name = format!("{door}, {what}: rate beside the best peer");
        let check = Check::at_least(&name, of(best, Sample::rate), rate_limit, "x");
        document.checks.push(check.noted(note(best)));
        let name = format!("{door}, {what}: CPU beside the peer that takes least");
        let check = Check::at_most(&name, of(least, Sample::cpu_us), CPU_SHARE, "x");
        document.checks.push(check.noted(note(least)));
    }
}

/// Messages by their correlation identifier, while none and while many others wait.
fn deep(context: &Context, document: &mut Document) -> Result<()> {
    let (count, pool_bytes) = context.settings.pick((DEEP, POOL_BYTES), (10_000, 32 << 20));
    let keeping = Keeping::sealed(pool_bytes);
    let empty = Site::create(&context.folder.join("empty"), keeping)?;
    let full = Site::create(&context.folder.join("deep"), keeping)?;
    eprintln!("  {count} messages that wait");
    let mut fills = Caller::connect(&full)?;
    let begun = Instant::now();
    fills.fill(count)?;
    let filled = count as f64 / begun.elapsed().as_secs_f64();
    document.figures.insert("fill_rate".into(), Figure::single(filled, "1/s"));
    let begun = Instant::now();
    fills.pairs(1)?;
    let built = begun.elapsed().as_secs_f64();
    document.figures.insert("index_by_correlation_built".into(), Figure::single(built, "s"));
    let sides = [
        ("empty queue", RefCell::new(Caller::connect(&empty)?)),
        ("deep queue", RefCell::new(fills)),
    ];
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for (name, caller) in &sides {
        entries.push(Entry::new(*name, |slice| caller.borrow_mut().drive(slice)));
    }
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    empty.confirm(0)?;
    full.confirm(count)?;
    document.add_ours(&tracks[0], "_by_correlation_empty");
    document.add_ours(&tracks[1], "_by_correlation_deep");
    let deeper = ratio(&tracks[1], &tracks[0], Sample::cpu_us).median;
    // A queue that is not so deep says nothing of the promise.
    let deeper = (!context.settings.quick).then_some(deeper);
    let name = "put and get by correlation identifier, a million deep against empty, CPU";
    document.checks.push(Check::at_most(name, deeper, DEEP_LIMIT, "x"));
    Ok(())
}

/// An embedded caller that gets what it has put by its identifier.
struct Caller {
    connection: Connection<KernelStore>,
    handle: Handle,
    message: Vec<u8>,
    buffer: Vec<u8>,
    random: Random,
}

/// Messages of a unit of work.
const IN_UNIT: u64 = 64;
const FILLED_AT_A_TIME: u64 = 500;

fn refused(error: queue_manager::Failed) -> BenchError {
    failed(format!("a call ended with reason {}", error.0.0))
}

impl Caller {
    fn connect(site: &Site) -> Result<Caller> {
        let mut connection = site.manager.connect(ConnectOptions::default()).map_err(refused)?;
        let mut queue = ObjectDescriptor::queue(QUEUE);
        let opened = connection.open(&mut queue, open::INPUT_SHARED | open::OUTPUT);
        let handle = opened.map_err(refused)?.0;
        let mut message = vec![0; 1_000];
        Random::new(3).fill(&mut message);
        Ok(Caller { connection, handle, message, buffer: Vec::new(), random: Random::new(4) })
    }

    fn put(&mut self) -> Result<[u8; 24]> {
        let mut correlation = [0; 24];
        self.random.fill(&mut correlation);
        let mut descriptor = MessageDescriptor {
            persistence: 1,
            correl_id: correlation,
            ..MessageDescriptor::default()
        };
        let mut options = PutOptions::new(put::SYNCPOINT);
        let done = self.connection.put(self.handle, &mut descriptor, &mut options, &self.message);
        done.map_err(refused)?;
        Ok(correlation)
    }

    fn fill(&mut self, count: u64) -> Result<()> {
        let mut left = count;
        while left > 0 {
            let now = left.min(FILLED_AT_A_TIME);
            for _ in 0..now {
                self.put()?;
            }
            self.connection.commit().map_err(refused)?;
            left -= now;
        }
        Ok(())
    }

    /// Puts so many in a unit of work, and gets them in another one.
    fn pairs(&mut self, count: u64) -> Result<()> {
        let put: Vec<[u8; 24]> = (0..count).map(|_| self.put()).collect::<Result<_>>()?;
        self.connection.commit().map_err(refused)?;
        for correlation in put {
            let mut descriptor =
                MessageDescriptor { correl_id: correlation, ..MessageDescriptor::default() };
            let mut options = GetOptions::new(get::SYNCPOINT);
            options.match_options = matching::CORREL_ID;
            let Caller { connection, handle, buffer, message, .. } = self;
            let got = connection.get(*handle, &mut descriptor, &mut options, 1 << 20, buffer);
            got.map_err(refused)?;
            if buffer != message || descriptor.correl_id != correlation {
                return Err(failed("another message came than was asked for"));
            }
        }
        self.connection.commit().map(drop).map_err(refused)
    }

    fn drive(&mut self, slice: Duration) -> Result<Work> {
        let deadline = Deadline::after(slice);
        let mut work = Work::default();
        deadline.until(|| {
            self.pairs(IN_UNIT)?;
            work.operations += IN_UNIT;
            work.bytes += IN_UNIT * self.message.len() as u64;
            Ok(())
        })?;
        Ok(work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(context: &Context) -> Site {
        let keeping = Keeping::sealed(8 << 20);
        Site::create(&context.folder.join("site"), keeping).unwrap()
    }

    #[test]
    fn what_programs_and_clients_put_is_taken_once() {
        let context = super::super::tests::context("mqput");
        let site = site(&context);
        for side in [site.bindings(), site.amqp()] {
            for (crowd, bytes) in [(1, 1_000), (2, 200_000)] {
                let crowd = Crowd { pairs: crowd, window: 2 * crowd };
                let mut clients = Clients::connect(&side, crowd, bytes).unwrap();
                let work = clients.drive(Duration::from_millis(60)).unwrap();
                assert!(work.operations > 0, "{}", side.name());
                assert_eq!(work.bytes, work.operations * bytes as u64);
            }
        }
        site.confirm(0).unwrap();
        drop(site);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }

    #[test]
    fn messages_are_found_by_identifier_among_others() {
        let context = super::super::tests::context("mqdeep");
        let site = site(&context);
        let mut caller = Caller::connect(&site).unwrap();
        caller.fill(700).unwrap();
        caller.pairs(64).unwrap();
        site.confirm(700).unwrap();
        drop(caller);
        drop(site);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
