//! How fast is the log beside raw writes of the same size? Interleaved, so that neighbours spoil
//! both alike:
//!
//! ```text
//! cargo run --release -p holdfast-wal --example log_rate -- FOLDER [seconds] [rounds] [stream]
//! ```

#![allow(clippy::unwrap_used)] // a measurement that fails may say so bluntly

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base::{GroupNumber, Lsn, SystemId, UowId};
use holdfast_wal::{DurableSink, Log, LogConfig, LogEnv, LogError, LogEvents, LogStart};
use seal::{Format, TestKeys};
use seam::Seam;
use seam::clock::process_cpu_us;
use seam::disk::{Create, Open};
use seam::mem::AlignedBuf;
use seam::stop::StopSwitch;

struct Quiet;

impl LogEvents for Quiet {
    fn copy_lost(&self, copy: u8, from: GroupNumber, why: &str) -> Result<(), String> {
        eprintln!("copy {copy} lost from {from}: {why}");
        Ok(())
    }

    fn copy_back(&self, _: u8) -> Result<(), String> {
        Ok(())
    }
}

/// One measurement: how much was done in which time, and at which cost.
struct Rate {
    amount: f64,
    seconds: f64,
    cpu_us: f64,
}

fn timed(seam: &Seam, work: impl FnOnce() -> f64) -> Rate {
    let (begin, cpu) = (seam.clock.monotonic(), process_cpu_us());
    let amount = work();
    let seconds = (seam.clock.monotonic() - begin).as_secs_f64();
    Rate { amount, seconds, cpu_us: (process_cpu_us() - cpu) as f64 }
}

/// Overwrites prewritten files one write after the other, a thread for each.
fn raw(seam: &Seam, dir: &Path, bytes: usize, files: usize, time: Duration) -> Rate {
    let size = 64 << 20;
    seam.disk.create_dir(dir).unwrap();
    let paths: Vec<_> = (0..files).map(|file| dir.join(format!("raw-{file}"))).collect();
    let zeros = AlignedBuf::zeroed(1 << 20);
    for path in &paths {
        let file = seam.disk.open(path, Open::DATA.create(Create::IfMissing)).unwrap();
        (0..size >> 20).for_each(|mib| file.write_at(&zeros, mib << 20).unwrap());
        file.sync().unwrap();
    }
    let rate = timed(seam, || {
        let writers = paths.iter().map(|path| {
            let (seam, path) = (seam.clone(), path.clone());
            let done = Arc::new(AtomicU64::new(0));
            let count = Arc::clone(&done);
            let thread = seam::thread::spawn("raw", move || {
                let file = seam.disk.open(&path, Open::DURABLE).unwrap();
                let mut buf = AlignedBuf::zeroed(bytes);
                buf.fill(0x5a);
                let end = seam.clock.monotonic() + time;
                let mut offset = 0;
                while seam.clock.monotonic() < end {
                    file.write_at(&buf, offset).unwrap();
                    offset = (offset + bytes as u64) % size;
                    done.fetch_add(bytes as u64, Ordering::Relaxed);
                }
            });
            (thread.unwrap(), count)
        });
        let writers: Vec<_> = writers.collect();
        let total = writers.into_iter().map(|(thread, count)| {
            thread.join();
            count.load(Ordering::Relaxed)
        });
        total.sum::<u64>() as f64 / files as f64
    });
    paths.iter().for_each(|path| seam.disk.remove(path).unwrap());
    rate
}

fn env(seam: &Seam) -> LogEnv {
    LogEnv {
        seam: seam.clone(),
        keys: Arc::new(TestKeys::new(1)),
        system: SystemId([1; 16]),
        stop: Arc::new(StopSwitch::default()),
        events: Arc::new(Quiet),
    }
}

fn config(dir: &Path, copies: usize) -> LogConfig {
    let copies = (0..copies).map(|copy| dir.join(format!("copy-{copy}"))).collect();
    LogConfig { segments_max: 12, ..LogConfig::new(copies) }
}

fn open(seam: &Seam, dir: &Path, copies: usize, stripes: u8, format: Format) -> Arc<Log> {
    let config = LogConfig { stripes, format, ..config(dir, copies) };
    Log::create(&env(seam), &config).unwrap();
    Log::open(env(seam), config, LogStart::NEW).unwrap().0
}

fn open_again(seam: &Seam, dir: &Path, copies: usize) -> (Arc<Log>, Lsn) {
    let (log, opened) = Log::open(env(seam), config(dir, copies), LogStart::NEW).unwrap();
    (log, opened.end)
}

#[allow(clippy::disallowed_methods)] // removes its own folder
fn with_log<R>(
    seam: &Seam,
    dir: &Path,
    shape: (usize, u8, Format),
    work: impl FnOnce(&Arc<Log>) -> R,
) -> R {
    let dir = dir.join("log");
    let _ = std::fs::remove_dir_all(&dir);
    let log = open(seam, &dir, shape.0, shape.1, shape.2);
    let result = work(&log);
    let stats = log.statistics();
    println!(
        "      groups {} of {} B median, flush p50 {} p99 {} us, waits {}, ring waits {}, serial {} ns",
        stats.groups,
        stats.group_bytes.p50,
        stats.flush_us.p50,
        stats.flush_us.p99,
        stats.waits,
        stats.ring_waits,
        stats.serial_ns / (stats.serial_samples * 64).max(1),
    );
    log.close().unwrap();
    drop(log);
    let _ = std::fs::remove_dir_all(&dir);
    result
}

/// Threads append 300-byte records as fast as the log takes them.
fn stream(seam: &Seam, log: &Arc<Log>, threads: usize, time: Duration) -> Rate {
    timed(seam, || {
        let stop = Arc::new(AtomicBool::new(false));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let (log, stop) = (Arc::clone(log), Arc::clone(&stop));
                seam::thread::spawn("appender", move || {
                    let body = [7_u8; 276];
                    while !stop.load(Ordering::Relaxed) {
                        for _ in 0..1_000 {
                            match log.append(1, 0, UowId(1), Lsn::NONE, &[&body]) {
                                Ok(_) => {}
                                Err(LogError::Full { .. }) => log.truncate(log.durable()),
                                Err(error) => panic!("{error}"),
                            }
                        }
                        log.truncate(log.durable());
                    }
                })
                .unwrap()
            })
            .collect();
        seam.clock.sleep(time);
        stop.store(true, Ordering::Relaxed);
        handles.into_iter().for_each(seam::thread::JoinHandle::join);
        log.wait_durable(log.next_lsn()).unwrap();
        log.durable().0 as f64
    })
}

/// Reads everything, as restart does: once opening the log, once record by record.
fn restart(seam: &Seam, dir: &Path, copies: usize, bytes: u64) {
    with_log(seam, dir, (copies, 1, Format::Sealed), |log| {
        let body = [7_u8; 276];
        while log.next_lsn().0 < bytes {
            log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
        }
        log.wait_durable(log.next_lsn()).unwrap();
        let mut records = 0;
        let read = timed(seam, || {
            let mut reader = log.read(Lsn::FIRST, log.durable());
            while reader.next().unwrap().is_some() {
                records += 1;
            }
            log.durable().0 as f64
        });
        log.close().unwrap();
        let again = timed(seam, || {
            let (log, opened) = open_again(seam, &dir.join("log"), copies);
            log.close().unwrap();
            opened.0 as f64
        });
        println!(
            "  {copies} copies: opened at {:.0} MB/s, {records} records read at {:.0} MB/s",
            again.amount / again.seconds / 1e6,
            read.amount / read.seconds / 1e6,
        );
    });
}

/// Threads that each append 320 bytes and wait for them.
fn commits(seam: &Seam, log: &Arc<Log>, threads: usize, time: Duration) -> Rate {
    timed(seam, || {
        let stop = Arc::new(AtomicBool::new(false));
        let total = Arc::new(AtomicU64::new(0));
        let handles: Vec<_> = (0..threads)
            .map(|_| {
                let (log, stop, total) = (Arc::clone(log), Arc::clone(&stop), Arc::clone(&total));
                seam::thread::spawn("committer", move || {
                    let body = [7_u8; 296];
                    while !stop.load(Ordering::Relaxed) {
                        let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
                        log.wait_durable(place.end).unwrap();
                        log.truncate(place.lsn);
                        total.fetch_add(1, Ordering::Relaxed);
                    }
                })
                .unwrap()
            })
            .collect();
        seam.clock.sleep(time);
        stop.store(true, Ordering::Relaxed);
        handles.into_iter().for_each(seam::thread::JoinHandle::join);
        total.load(Ordering::Relaxed) as f64
    })
}

#[derive(Default)]
struct Replies(AtomicU64);

impl DurableSink for Replies {
    fn durable(&self, _token: u64, outcome: Result<(), &LogError>) {
        outcome.unwrap();
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// One thread keeps `depth` commits in flight and writes the log itself.
fn inline(seam: &Seam, log: &Arc<Log>, depth: u64, time: Duration) -> Rate {
    timed(seam, || {
        let replies = Arc::new(Replies::default());
        let sink: Arc<dyn DurableSink> = replies.clone();
        let end = seam.clock.monotonic() + time;
        let body = [7_u8; 296];
        let mut sent = 0;
        while seam.clock.monotonic() < end {
            while sent < replies.0.load(Ordering::SeqCst) + depth {
                let place = log.append(1, 0, UowId(1), Lsn::NONE, &[&body]).unwrap();
                log.when_driven(place.end, &sink, sent);
                sent += 1;
            }
            if !log.drive() {
                log.wait_durable(log.next_lsn()).unwrap();
            }
            log.truncate(log.durable());
        }
        sent as f64
    })
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let folder = arguments.get(1).map_or("/tmp/holdfast-log-rate", String::as_str);
    let number = |at: usize, default: f64| {
        arguments.get(at).and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let time = Duration::from_secs_f64(number(2, 1.0));
    let (seam, dir) = (Seam::real(), Path::new(folder));
    for round in 0..number(3, 2.0) as u64 {
        println!("round {round}");
        let raw_one = raw(&seam, dir, 256 << 10, 1, time);
        let raw_one = raw_one.amount / raw_one.seconds / 1e6;
        println!("  raw 256 KiB, one file: {raw_one:.0} MB/s");
        let raw_two = raw(&seam, dir, 256 << 10, 2, time);
        let raw_two = raw_two.amount / raw_two.seconds / 1e6;
        println!("  raw 256 KiB, two files, each: {raw_two:.0} MB/s");
        for (copies, format) in [(1, Format::Sealed), (1, Format::Plain), (2, Format::Sealed)] {
            for threads in [1, 2] {
                let peer = if copies == 1 { raw_one } else { raw_two };
                let rate = with_log(&seam, dir, (copies, 1, format), |log| {
                    stream(&seam, log, threads, time)
                });
                let speed = rate.amount / rate.seconds / 1e6;
                println!(
                    "  log {format}, {copies} copies, {threads} appenders: {speed:.0} MB/s = {:.0} % of raw, {:.0} CPU us/MB",
                    100.0 * speed / peer,
                    rate.cpu_us / (rate.amount / 1e6),
                );
            }
        }
        for copies in [1, 2] {
            restart(&seam, dir, copies, 400 << 20);
        }
        if arguments.get(4).is_some_and(|part| part == "stream") {
            continue;
        }
        let flush = raw(&seam, dir, 4 << 10, 1, time);
        println!("  raw 4 KiB: {:.0}/s", flush.amount / 4096.0 / flush.seconds);
        for copies in [1, 2] {
            for depth in [1, 8, 64] {
                let shape = (copies, 1, Format::Sealed);
                for name in ["threads", "inline"] {
                    let rate = with_log(&seam, dir, shape, |log| match name {
                        "threads" => commits(&seam, log, depth, time),
                        _ => inline(&seam, log, depth as u64, time),
                    });
                    println!(
                        "  {name}, {copies} copies, {depth} in flight: {:.0} commits/s, {:.1} CPU us each",
                        rate.amount / rate.seconds,
                        rate.cpu_us / rate.amount
                    );
                }
            }
        }
    }
}
