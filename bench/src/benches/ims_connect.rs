//! A transaction that only echoes, over TCP; and what connections cost that do nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ::drive::{Ask, Flow, Random as Chance};
use ::ims_connect::server::{Options as DoorOptions, Server};
use ::ims_connect::wire::{Function, Irm, Pages, Request, f2};
use codec::CodePage;
use control::{Anonymous, Control, Ending, NoSystem, Options, ProgramMessages, Region};
use otma::{Encoding, Manager, Name, Segments};
use resources::{Change, Definition, Kind};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use schedule::messages::{Messages, TerminalPcb};
use seam::Seam;
use store::{Store as _, Unit as _, UnitOptions};
use store_kernel::KernelStore;

use super::cobol::write;
use super::dli::setup;
use super::started::{System, quoted, terminals};
use super::{Benchmark, Context, PlotBuilder, track};
use crate::document::{Check, Document, Figure, Shape};
use crate::error::{BenchError, Result};
use crate::harness::{Entry, Sample, Track, interleave};
use crate::kernel::{self, failed};

pub(crate) const BENCHMARK: Benchmark = Benchmark {
    name: "ims-connect",
    title: "Echo over IMS Connect",
    about: "64 terminals over TCP, without think time, send a transaction of commit mode 1 that \
            answers what it gets: with the program in the process of the door and the terminals, \
            and in a started system with a C program in message regions. Then 30,000 connections \
            that have each had an answer, and are idle.",
    takes: "2 minutes",
    run,
};

const TERMINALS: u32 = 64;
const RATE_LIMIT: f64 = 60_000.0;
const IDLE: usize = 30_000;
const IDLE_MIB_LIMIT: f64 = 300.0;
/// Idle connections to one address; a client has about 28,000 ports for each.
const IDLE_TO_ONE: usize = 10_000;
const REGIONS: usize = 2;
/// Descriptors besides those of connections.
const OTHER_FILES: u64 = 1_000;

const EMBEDDED: &str = "embedded program";
const STARTED: &str = "C program in regions";

/// Answers what it gets.
const PROGRAM: &str = r#"
int CTDLI();

struct pcb {
    char terminal[8], filler[2], status[2];
};

int DLITCBL(struct pcb *io)
{
    static char get[8] = "GU  ", put[8] = "ISRT", area[1024];

    for (;;) {
        CTDLI(get, io, area, (char *)0);
        if (io->status[0] != ' ')
            return 0;
        CTDLI(put, io, area, (char *)0);
    }
}
"#;

const PSB: &str = "         PSBGEN LANG=COBOL,PSBNAME=ECHO\n         END\n";
const RESOURCES: &str = "         APPLCTN PSB=ECHO,PGMTYPE=(TP,,1)
         TRANSACT CODE=ECHO,MODE=SNGL,MSGTYPE=(SNGLSEG,RESPONSE,1),    X
               PROCLIM=(65535,100),PARLIM=0
";

fn run(context: &Context, document: &mut Document) -> Result<()> {
    let embedded = Embedded::new(context)?;
    let work: Arc<dyn ::drive::Work> = Arc::new(Echo { next: AtomicU64::new(0) });
    let started = started(context, document)?;
    let mut entries =
        vec![Entry::new(EMBEDDED, |slice| terminals(embedded.address(), TERMINALS, slice, &work))];
    if let Some((system, address)) = &started {
        // Compiles the program.
        terminals(*address, 1, Duration::from_secs(1), &work)?;
        let entry = Entry::new(STARTED, |slice| terminals(*address, TERMINALS, slice, &work));
        let scope = crate::cpu::CpuScope::WithServer(system.process());
        entries.push(entry.with_scope(scope));
    }
    let tracks = interleave(&context.settings, &mut entries)?;
    drop(entries);
    file(document, &tracks);
    drop(embedded);
    let idle = context.settings.pick(IDLE, IDLE / 30);
    let held = match started {
        Some((system, _)) => hold(document, &system, idle)?,
        None => None,
    };
    let held = held.filter(|_| !context.settings.quick);
    let name = "memory of a system that holds 30,000 idle connections";
    document.checks.push(Check::at_most(name, held, IDLE_MIB_LIMIT, "MiB"));
    document.notes.push(DRIVER.into());
    Ok(())
}

const DRIVER: &str = "The terminals' CPU is in all figures of this benchmark. Inputs of mode 1 \
                      without confirmation are volatile, so nothing here waits for a disk.";

fn file(document: &mut Document, tracks: &[Track]) {
    for (name, suffix) in [(EMBEDDED, "_embedded"), (STARTED, "_regions")] {
        let track = track(tracks, name);
        if let Some(track) = track {
            document.add_ours(track, suffix);
        }
        let name = format!("echo over 64 connections, {name}");
        document.checks.push(Check::at_least(&name, track.map(Track::rate), RATE_LIMIT, "1/s"));
    }
    let mut plot = PlotBuilder::new("Echoes", "1/s", Shape::Bars, "");
    plot.column("");
    plot.tracks(tracks, Sample::rate);
    plot.finish(document);
}

/// What terminals send.
struct Echo {
    next: AtomicU64,
}

impl ::drive::Work for Echo {
    fn ask(&self, _terminal: u32, _number: u64, _chance: &mut Chance) -> Ask {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let mut segments = Segments::new();
        // It is short.
        let text = format!("ECHO    {number:012} {:79}", "SOMETHING TO BE ANSWERED");
        let _ = segments.push([0, 0], text.as_bytes());
        Ask { segments, flow: Flow::Plain }
    }

    fn check(
        &self,
        _terminal: u32,
        _number: u64,
        ask: &Ask,
        reply: &Segments,
    ) -> std::result::Result<(), String> {
        match ask.segments.data().eq(reply.data()) {
            true => Ok(()),
            false => Err("the reply is not what was sent".into()),
        }
    }
}

/// A door and a transaction manager in this process, with regions that are threads.
struct Embedded {
    // The door ends before those who answer.
    server: Option<Server>,
    control: Control<KernelStore>,
    regions: Vec<std::thread::JoinHandle<Result<()>>>,
    store: KernelStore,
}

impl Embedded {
    fn new(context: &Context) -> Result<Embedded> {
        let store = kernel::create(&setup(context, "embedded", 64 << 20)?)?;
        let options = Options {
            data_stores: vec![Name(*b"HOLDFAST")],
            anonymous: Anonymous::Always,
            ..Options::default()
        };
        let control = Control::open(&store, &Seam::real(), Arc::new(NoSystem), options);
        let control = control.map_err(failed)?;
        let mut transaction = Definition::new(Kind::Transaction, Name(*b"ECHO    "));
        for (attribute, value) in [("PGM", "ECHO"), ("PARLIM", "0"), ("PLCT", "65535")] {
            let set = transaction.set(attribute, value);
            set.map_err(|error| failed(format!("{attribute}: {error:?}")))?;
        }
        let program = Definition::new(Kind::Program, Name(*b"ECHO    "));
        control.apply(&[Change::Put(program), Change::Put(transaction)]).map_err(failed)?;
        let regions = (0..REGIONS).map(|number| {
            let region = control.region(&[1], &format!("MPP{number}"), true);
            let store = store.clone();
            std::thread::spawn(move || serve(&store, &region))
        });
        let regions = regions.collect();
        let addresses = vec![SocketAddr::from((Ipv4Addr::LOCALHOST, 0))];
        let options = DoorOptions { addresses, ..DoorOptions::default() };
        let manager: Arc<dyn Manager> = Arc::new(control.clone());
        let server = Server::start(options, manager).map_err(failed)?;
        Ok(Embedded { server: Some(server), control, regions, store })
    }

    fn address(&self) -> SocketAddr {
        let nowhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        self.server.as_ref().map_or(nowhere, Server::address)
    }
}

impl Drop for Embedded {
    fn drop(&mut self) {
        self.server = None;
        self.control.shut_down();
        for region in self.regions.drain(..) {
            if let Ok(Err(error)) = region.join() {
                eprintln!("  {error}");
            }
        }
        let _ = self.store.kernel().close();
    }
}

/// A region: runs what is scheduled until the transaction manager shuts down.
fn serve(store: &KernelStore, region: &Region<KernelStore>) -> Result<()> {
    while let Some(scheduled) = region.next() {
        let mut program = region.messages(&scheduled, &[]);
        while echo(store, &mut program)? {}
        drop(program);
        region.ended(scheduled, &Ending::Normal);
    }
    Ok(())
}

/// One unit of work; `false` if there was no message.
fn echo(store: &KernelStore, program: &mut ProgramMessages<KernelStore>) -> Result<bool> {
    let ended = |abend: region::Abend| failed(format!("{}: {}", abend.code, abend.text));
    let mut unit = store.begin(UnitOptions::default()).map_err(failed)?;
    let Some(segment) = program.next_message(&mut unit).map_err(ended)? else {
        return Ok(false);
    };
    let text = segment.bytes.to_vec();
    let status = program.insert(TerminalPcb::Io, &text, None);
    if status != *b"  " {
        return Err(failed(format!("ISRT ended with {}", String::from_utf8_lossy(&status))));
    }
    program.prepare(&mut unit).map_err(ended)?;
    match program.queue() {
        Some((sink, token)) => unit.commit_queued(&sink, token).map_err(failed)?,
        None => {
            unit.commit().map_err(failed)?;
            program.committed();
        }
    }
    Ok(true)
}

/// A started system with the program in C; `None` if it cannot be had.
fn started(context: &Context, document: &mut Document) -> Result<Option<(System, SocketAddr)>> {
    let mut system = match System::create(context, "system", 64 << 20) {
        Err(error @ BenchError::Missing { .. }) => {
            document.notes.push(format!("{STARTED}: {error}"));
            return Ok(None);
        }
        other => other?,
    };
    let programs = context.folder.join("programs");
    std::fs::create_dir_all(&programs).map_err(BenchError::system("create", &programs))?;
    write(&programs.join("ECHO.c"), PROGRAM)?;
    let (psb, defs) = (context.folder.join("ECHO.psb"), context.folder.join("ECHO.defs"));
    write(&psb, PSB)?;
    write(&defs, RESOURCES)?;
    system.run("gen", &[&psb.display().to_string()])?;
    let port = free_port()?;
    let hosts: Vec<String> =
        (0..=IDLE / IDLE_TO_ONE).map(|host| format!("127.0.0.{}:{port}", host + 1)).collect();
    let doors = ("ims_connect", format!("{hosts:?}"));
    system.configure(&[doors, ("programs", quoted(&programs))], "")?;
    system.run("define", &[&defs.display().to_string()])?;
    // The system has as many descriptors as this process may have.
    let _ = may_have(2 * IDLE as u64 + OTHER_FILES);
    let address = system.start()?;
    Ok(Some((system, address)))
}

/// A port that is free on this machine now.
fn free_port() -> Result<u16> {
    let any = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|any| any.local_addr());
    any.map(|address| address.port()).map_err(failed)
}

/// Raises the number of files that this process may have open; how many that is then.
fn may_have(files: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= files);
    if enough(now.current) {
        return files;
    }
    let maximum = if enough(now.maximum) { now.maximum } else { Some(files) };
    if setrlimit(Resource::Nofile, Rlimit { current: Some(files), maximum }).is_ok() {
        return files;
    }
    // Only root may have more than the maximum.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, ..now });
    getrlimit(Resource::Nofile).current.unwrap_or(files)
}

/// Has connections open that do nothing after an answer, so many if that is possible; the system's
/// memory in MiB if it was.
fn hold(document: &mut Document, system: &System, wanted: usize) -> Result<Option<f64>> {
    let files = may_have(wanted as u64 + OTHER_FILES).saturating_sub(OTHER_FILES);
    let count = wanted.min(files as usize);
    if count < wanted {
        document.notes.push(format!(
            "{count} idle connections instead of {wanted}: a process may have no more files here \
             (ulimit -n)."
        ));
    }
    eprintln!("  {count} connections that do nothing");
    let port = system.port();
    let before = system.resident_bytes()?;
    let mut connections = Vec::with_capacity(count);
    for number in 0..count {
        let host = Ipv4Addr::new(127, 0, 0, 1 + (number / IDLE_TO_ONE) as u8);
        connections.push(connected(SocketAddr::from((host, port)), number)?);
    }
    std::thread::sleep(Duration::from_secs(1));
    let after = system.resident_bytes()?;
    // They are all there: the first and the last are served.
    for number in [0, count.saturating_sub(1)] {
        connections.get_mut(number).map_or(Ok(()), |stream| exchange(stream, number))?;
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let each = after.saturating_sub(before) as f64 / count.max(1) as f64;
    for (name, value, unit) in [
        ("idle_connections", count as f64, "connections"),
        ("memory_before", mib(before), "MiB"),
        ("memory_idle", mib(after), "MiB"),
        ("memory_for_a_connection", each, "bytes"),
    ] {
        document.figures.insert(name.into(), Figure::single(value, unit));
    }
    eprintln!("    {:.0} MiB before, {:.0} MiB with them", mib(before), mib(after));
    Ok((count == wanted).then_some(mib(after)))
}

fn connected(address: SocketAddr, number: usize) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(address).map_err(failed)?;
    stream.set_nodelay(true).map_err(failed)?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(failed)?;
    exchange(&mut stream, number)?;
    Ok(stream)
}

/// One transaction of a client of its own.
fn exchange(stream: &mut TcpStream, number: usize) -> Result<()> {
    let mut irm = Irm::new(0, *b"*SAMPL1*");
    irm.function = Function::SendReceive;
    irm.timer = 0xff;
    irm.socket = 0x10;
    irm.client = Name::new(&format!("ID{number:05}")).unwrap_or_default();
    irm.data_store = Name(*b"HOLDFAST");
    irm.f2 = f2::MODE_1;
    let mut segments = Segments::new();
    let _ = segments.push([0, 0], b"ECHO    I AM HERE");
    let bytes = Request { irm, segments }.encode(Encoding::Ascii, &Pages::new(CodePage::Cp037));
    stream.write_all(&bytes).map_err(failed)?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).map_err(failed)?;
    let rest = (u32::from_be_bytes(length) as usize).saturating_sub(4);
    let mut answer = vec![0; rest.min(1 << 16)];
    stream.read_exact(&mut answer).map_err(failed)?;
    match answer.windows(9).any(|window| window == b"I AM HERE") {
        true => Ok(()),
        false => Err(failed("an idle connection's echo is not what was sent")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_embedded_program_answers_over_tcp() {
        let context = super::super::tests::context("ims-connect");
        let embedded = Embedded::new(&context).unwrap();
        let work: Arc<dyn ::drive::Work> = Arc::new(Echo { next: AtomicU64::new(0) });
        let slice = Duration::from_millis(200);
        let done = terminals(embedded.address(), 4, slice, &work).unwrap();
        assert!(done.operations > 0);
        exchange(&mut TcpStream::connect(embedded.address()).unwrap(), 1).unwrap();
        drop(embedded);
        std::fs::remove_dir_all(&context.folder).unwrap();
    }
}
