//! `holdfast drive`: terminals that drive a system through IMS Connect.
//!
//! | in a plan | is |
//! |---|---|
//! | `[[mix]]` | a kind of transaction |
//! | `name` | its name in the report |
//! | `weight` | how often it is sent beside the others; 1 |
//! | `flow` | `plain`, `confirmed` or `queued` |
//! | `segments` | its segments' data, the first beginning with the transaction's code |
//! | `expect` | what the reply has to hold; may be left out |
//!
//! | in a segment | becomes |
//! |---|---|
//! | `{unique:N}` | a number that no other transaction of the run has, of N digits |
//! | `{number:N}`, `{terminal:N}` | the transaction's number at its terminal; the terminal's |
//! | `{random:A-B:N}` | a number from A to B, of N digits |
//! | `{pick:FILE}` | a line of a file, chosen by chance; FILE is beside the plan |
//!
//! `expect` knows the same words; there `{unique}` and the others are those of the request, and a
//! pick or a random number is none.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::ToSocketAddrs as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use codec::CodePage;
use drive::{Ask, Flow, Kind, Ledger, Pace, Plan, Random, Report, Tls, Work};
use openpgp::Target;
use otma::{Encoding, Name, Segments};
use serde::Deserialize;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::bytes_of;
use crate::standard::is_special;

/// Drive a system with many terminals through IMS Connect, and measure it
///
/// Every reply is checked. At a fixed rate a response time counts from when the transaction was
/// due.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast drive --connect 127.0.0.1:9999 --terminals 200 --time 20 apps/bank/tellers.toml
         holdfast drive --connect bank.example:9999 --tls --ca ca.pem tellers.toml")]
pub(crate) struct DriveArgs {
    /// The port of IMS Connect
    #[arg(long, value_name = "ADDRESS")]
    connect: String,
    /// What is sent
    #[arg(value_name = "PLAN")]
    plan: PathBuf,
    /// How many terminals
    #[arg(long, default_value_t = 100)]
    terminals: u32,
    /// How long they send
    #[arg(long, value_name = "SECONDS", default_value_t = 20.0)]
    time: f64,
    /// How long each thinks between a reply and its next request, on average
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 0.0, conflicts_with = "rate")]
    think: f64,
    /// How many a second all of them send together, whatever comes back
    #[arg(long, value_name = "PER-SECOND")]
    rate: Option<f64>,
    /// Within which time they come
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0)]
    ramp: f64,
    /// What is left out of the report at the beginning
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    warm_up: f64,
    /// How long a terminal waits for a reply
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    patience: f64,
    /// The data store that they ask for
    #[arg(long, value_name = "NAME", default_value = "HOLDFAST")]
    data_store: String,
    /// The user that they are; the password comes from the environment variable
    /// HOLDFAST_DRIVE_PASSWORD
    #[arg(long, value_name = "NAME", default_value = "")]
    user: String,
    /// They speak TLS, and take the system's certificate for the host's name of --connect
    #[arg(long, requires = "ca")]
    tls: bool,
    /// Who has signed the system's certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls")]
    ca: Option<PathBuf>,
    /// Their own certificate, in PEM
    #[arg(long, value_name = "FILE", requires_all = ["tls", "key"])]
    certificate: Option<PathBuf>,
    /// The key of their own certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// They speak EBCDIC
    #[arg(long)]
    ebcdic: bool,
    /// Threads that carry them
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// By which their choices are made
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where the unique numbers begin
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    from: u64,
    /// Write down which transactions were confirmed, and of which nobody knows, as JSON
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Write the report as a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// A plan as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanFile {
    mix: Vec<MixFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MixFile {
    name: String,
    #[serde(default = "one")]
    weight: u32,
    #[serde(default)]
    flow: FlowFile,
    segments: Vec<String>,
    #[serde(default)]
    expect: String,
}

fn one() -> u32 {
    1
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FlowFile {
    #[default]
    Plain,
    Confirmed,
    Queued,
}

/// A piece of a segment.
enum Piece {
    Text(String),
    Unique(usize),
    Number(usize),
    Terminal(usize),
    Random(u64, u64, usize),
    Pick(Vec<String>),
}

/// A kind of transaction from a plan.
struct Scripted {
    segments: Vec<Vec<Piece>>,
    expect: Vec<Piece>,
    flow: Flow,
    terminals: u64,
    from: u64,
    is_ebcdic: bool,
}

impl Scripted {
    /// The same number for no two transactions of a run.
    fn unique(&self, terminal: u32, number: u64) -> u64 {
        self.from + number * self.terminals + u64::from(terminal)
    }

    fn text(&self, pieces: &[Piece], of: (u32, u64), mut random: Option<&mut Random>) -> String {
        let mut parts: Vec<String> = Vec::new();
        for piece in pieces {
            let part = match piece {
                Piece::Text(text) => text.clone(),
                Piece::Unique(width) => format!("{:0width$}", self.unique(of.0, of.1)),
                Piece::Number(width) => format!("{:0width$}", of.1),
                Piece::Terminal(width) => format!("{:0width$}", of.0),
                Piece::Random(low, high, width) => {
                    let drawn = random.as_mut().map_or(0, |random| random.below(high - low + 1));
                    format!("{:0width$}", low + drawn)
                }
                Piece::Pick(lines) => {
                    let drawn =
                        random.as_mut().map_or(0, |random| random.below(lines.len() as u64));
                    lines.get(drawn as usize).cloned().unwrap_or_default()
                }
            };
            parts.push(part);
        }
        parts.concat()
    }
}

impl Work for Scripted {
    fn ask(&self, terminal: u32, number: u64, random: &mut Random) -> Ask {
        let mut segments = Segments::new();
        for pieces in &self.segments {
            let text = self.text(pieces, (terminal, number), Some(random));
            let _ = segments.push([0, 0], text.as_bytes());
        }
        Ask { segments, flow: self.flow }
    }

    fn check(
        &self,
        terminal: u32,
        number: u64,
        _ask: &Ask,
        reply: &Segments,
    ) -> std::result::Result<(), String> {
        let whole: Vec<u8> = reply.data().flatten().copied().collect();
        let shown = match self.is_ebcdic {
            true => CodePage::Cp037.decode(&whole),
            false => String::from_utf8_lossy(&whole).into_owned(),
        };
        let wanted = self.text(&self.expect, (terminal, number), None);
        match shown.contains(&wanted) {
            true => Ok(()),
            false => Err(format!("no \"{wanted}\" in \"{shown}\"")),
        }
    }
}

pub(super) fn run(context: &mut Context, args: &DriveArgs) -> Result<ExitCode> {
    let plan = plan_of(args)?;
    for path in args.ledger.iter().chain(&args.html) {
        Target::spare(path)?;
    }
    let (report, ledger) = drive::run(plan).map_err(|error| Failure::Error(Box::new(error)))?;
    if let Some(path) = &args.ledger {
        write(context, path, &ledger_text(&ledger, args)?)?;
    }
    if let Some(path) = &args.html {
        write(context, path, &page(&report))?;
    }
    match context.output.is_json() {
        true => context.output.document(&report)?,
        false => context.output.line(shown(&report))?,
    }
    if report.wrong > 0 {
        let what = format!("replies that were wrong: {}", report.wrong);
        return Err(Failure::other(what, "The report shows the first of them."));
    }
    if ledger.confirmed.is_empty() {
        let refused = report.refused.values().sum::<u64>();
        let what = format!(
            "no transaction was confirmed: broken connections {}, refusals {refused}",
            report.broken
        );
        return Err(Failure::other(what, "The report shows the first reason."));
    }
    DONE
}

/// Writes a file whole, in place of one that is there.
fn write(context: &Context, path: &Path, text: &str) -> Result<()> {
    let failed = |error: std::io::Error| {
        let what = format!("{} cannot be written: {error}", path.display());
        Failure::other(what, "Give another path.")
    };
    if is_special(path) {
        #[allow(clippy::disallowed_methods)] // a device or a pipe of the user who runs the command
        let place = std::fs::OpenOptions::new().append(true).open(path);
        return place.and_then(|mut place| place.write_all(text.as_bytes())).map_err(failed);
    }
    let mut target = Target::file(&context.seam, path, true)?;
    target.write_all(text.as_bytes()).map_err(failed)?;
    Ok(target.release()?)
}

/// Which transactions were confirmed, by their unique numbers.
fn ledger_text(ledger: &Ledger, args: &DriveArgs) -> Result<String> {
    let numbers = |entries: &[drive::Entry]| -> Vec<u64> {
        let terminals = u64::from(args.terminals);
        entries
            .iter()
            .map(|one| args.from + one.number * terminals + u64::from(one.terminal))
            .collect()
    };
    let written = serde_json::json!({
        "confirmed": numbers(&ledger.confirmed),
        "unknown": numbers(&ledger.unknown),
    });
    Ok(written.to_string())
}

fn plan_of(args: &DriveArgs) -> Result<Plan> {
    let shown = args.plan.display();
    #[allow(clippy::disallowed_methods)] // people's files are no part of a system
    let text = std::fs::read_to_string(&args.plan).map_err(|error| {
        Failure::other(format!("{shown} cannot be read: {error}"), "Correct the path.")
    })?;
    let file: PlanFile = toml::from_str(&text).map_err(|error| {
        Failure::other(format!("{shown}: {error}"), "`holdfast drive --help` names an example.")
    })?;
    let address = args.connect.to_socket_addrs().ok().and_then(|mut all| all.next());
    let address = address.ok_or_else(|| {
        let what = format!("{} is no address with a port", args.connect);
        Failure::usage(what, "Write it as in 127.0.0.1:9999.")
    })?;
    let name = |text: &str| {
        Name::new(&text.to_ascii_uppercase()).ok_or_else(|| {
            Failure::usage(format!("{text} is no name"), "A name has up to 8 characters.")
        })
    };
    let folder = args.plan.parent().unwrap_or(Path::new(""));
    let mix = file.mix.into_iter().map(|one| kind(one, args, folder)).collect::<Result<_>>()?;
    let seconds = |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
    let password = std::env::var("HOLDFAST_DRIVE_PASSWORD").unwrap_or_default();
    Ok(Plan {
        address,
        tls: tls_of(args)?,
        terminals: args.terminals,
        threads: args.threads.max(1),
        encoding: if args.ebcdic { Encoding::Ebcdic } else { Encoding::Ascii },
        data_store: name(&args.data_store)?,
        user: name(&args.user)?,
        group: Name::BLANK,
        password: Name::new(&password).unwrap_or_default(),
        prefix: "HF".to_owned(),
        mix,
        pace: match args.rate {
            Some(rate) => Pace::Rate(rate),
            None => Pace::Think(seconds(args.think / 1e3)),
        },
        ramp: seconds(args.ramp),
        warm_up: seconds(args.warm_up),
        time: seconds(args.time),
        patience: seconds(args.patience),
        seed: args.seed,
    })
}

/// How connections are secured.
fn tls_of(args: &DriveArgs) -> Result<Option<Tls>> {
    let Some(ca) = args.ca.as_deref().filter(|_| args.tls) else { return Ok(None) };
    let host = args.connect.rsplit_once(':').map_or(args.connect.as_str(), |(host, _)| host);
    let read = |path: &Path| bytes_of(path, "Correct the path.");
    let own = match (&args.certificate, &args.key) {
        (Some(certificate), Some(key)) => Some((read(certificate)?, read(key)?)),
        _ => None,
    };
    let name = host.trim_matches(['[', ']']).to_owned();
    Ok(Some(Tls { roots: read(ca)?, name, own }))
}

fn kind(file: MixFile, args: &DriveArgs, folder: &Path) -> Result<Kind> {
    let segments = file.segments.iter().map(|text| pieces(text, folder));
    let work = Scripted {
        segments: segments.collect::<Result<_>>()?,
        expect: pieces(&file.expect, folder)?,
        flow: match file.flow {
            FlowFile::Plain => Flow::Plain,
            FlowFile::Confirmed => Flow::Confirmed,
            FlowFile::Queued => Flow::Queued,
        },
        terminals: u64::from(args.terminals),
        from: args.from,
        is_ebcdic: args.ebcdic,
    };
    Ok(Kind { name: file.name, weight: file.weight, work: Arc::new(work) })
}

/// The pieces of a segment's text.
fn pieces(text: &str, folder: &Path) -> Result<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(begin) = rest.find('{') {
        pieces.push(Piece::Text(rest[..begin].to_owned()));
        let end = rest[begin..].find('}').ok_or_else(|| wrong(text))? + begin;
        pieces.push(piece(&rest[begin + 1..end], folder).ok_or_else(|| wrong(text))?);
        rest = &rest[end + 1..];
    }
    pieces.push(Piece::Text(rest.to_owned()));
    Ok(pieces)
}

fn wrong(text: &str) -> Failure {
    let help = "Known are {unique:N}, {number:N}, {terminal:N}, {random:A-B:N} and {pick:FILE}.";
    Failure::other(format!("a word in braces is not understood: {text}"), help)
}

fn piece(word: &str, folder: &Path) -> Option<Piece> {
    let (name, rest) = word.split_once(':').unwrap_or((word, "1"));
    let width = |text: &str| text.parse::<usize>().ok().filter(|width| *width <= 32);
    Some(match name {
        "unique" => Piece::Unique(width(rest)?),
        "number" => Piece::Number(width(rest)?),
        "terminal" => Piece::Terminal(width(rest)?),
        "random" => {
            let (range, digits) = rest.split_once(':').unwrap_or((rest, "1"));
            let (low, high) = range.split_once('-')?;
            let (low, high): (u64, u64) = (low.parse().ok()?, high.parse().ok()?);
            (low <= high && high < u64::MAX).then_some(())?;
            Piece::Random(low, high, width(digits)?)
        }
        "pick" => {
            #[allow(clippy::disallowed_methods)] // people's files are no part of a system
            let text = std::fs::read_to_string(folder.join(rest)).ok()?;
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            (!lines.is_empty()).then_some(Piece::Pick(lines))?
        }
        _ => return None,
    })
}

/// The report for people.
fn shown(report: &Report) -> String {
    let ms = |us: u64| us as f64 / 1e3;
    let mut text = format!(
        "{} transactions confirmed in {:.1} s by {} terminals: {:.0} a second\n",
        report.transactions, report.seconds, report.terminals, report.rate,
    );
    let mut line = |name: &str, times: &drive::Times| {
        let _ = writeln!(
            text,
            "{name:<12} mean {:9.2} ms   50 % {:9.2}   90 % {:9.2}   99 % {:9.2}   99.9 % {:9.2}   \
             max {:9.2}",
            times.mean / 1e3,
            ms(times.p50),
            ms(times.p90),
            ms(times.p99),
            ms(times.p999),
            ms(times.max),
        );
    };
    line("response", &report.response);
    line("service", &report.service);
    report.kinds.iter().for_each(|(name, times)| line(name, times));
    let _ = writeln!(
        text,
        "processors in use {:.0} %, ITR {:.0} a second, driver {:.1} CPU s",
        report.busy * 100.0,
        report.internal_rate,
        report.driver_seconds,
    );
    let _ = write!(
        text,
        "wrong replies {}, refusals {}, broken connections {}, unknown {}",
        report.wrong,
        report.refused.values().sum::<u64>(),
        report.broken,
        report.unknown,
    );
    if !report.broken_first.is_empty() {
        let _ = write!(text, "\nfirst broken: {}", report.broken_first);
    }
    for (codes, count) in &report.refused {
        let _ = write!(text, "\nrefused with {codes}: {count}");
    }
    report.wrong_first.iter().for_each(|wrong| {
        let _ = write!(text, "\nwrong: {wrong}");
    });
    text
}

/// The report as a page: its figures, and response times as bars.
fn page(report: &Report) -> String {
    let times = [
        ("50 %", report.response.p50),
        ("90 %", report.response.p90),
        ("99 %", report.response.p99),
        ("99.9 %", report.response.p999),
        ("longest", report.response.max),
    ];
    let longest = times.iter().map(|(_, time)| *time).max().unwrap_or(1).max(1) as f64;
    let mut bars = String::new();
    for (at, (name, time)) in times.iter().enumerate() {
        let (y, width) = (at * 30, 500.0 * *time as f64 / longest);
        let _ = write!(
            bars,
            "<text x=\"0\" y=\"{}\">{name}</text><rect x=\"80\" y=\"{}\" width=\"{width:.0}\" \
             height=\"20\" fill=\"#357\"/><text x=\"{:.0}\" y=\"{}\">{:.2} ms</text>",
            y + 20,
            y + 5,
            85.0 + width,
            y + 20,
            *time as f64 / 1e3,
        );
    }
    let text = shown(report).replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html><meta charset=\"utf-8\"><title>Terminals</title>\
         <style>body{{font-family:sans-serif;margin:2em}}svg{{font-size:14px}}</style>\
         <h1>{:.0} transactions a second</h1><svg width=\"720\" height=\"160\">{bars}</svg>\
         <pre>{text}</pre>",
        report.rate,
    )
}
