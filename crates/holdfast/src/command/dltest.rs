//! `holdfast dltest`: issues the calls on control statements and reports what came back.

use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use base::{Code, Coded};
use clap::Args;
use codec::CodePage;
use dltest::{Feedback, JsonLines, PcbChoice, Program, Report, Request, RunError, Summary, parse};
use region::shape::{PcbKind, PcbShape};
use region::{Abend, Client, DirectAnswer, DirectCall, Embedded, Ending, Link};

use super::{Context, batch, guest};
use crate::failure::{Failure, Result};
use crate::job::{Job, JobFile, Kind, absolute};
use crate::passphrase::PassphraseArgs;

/// Issue the DL/I calls on control statements, and report each
///
/// Reads DFSDDLT0 control statements from standard input. The calls are committed at the end, or
/// where the statements say CHKP.
#[derive(Args, Debug)]
#[command(after_help = "\
Example: holdfast dltest -s /srv/bank --psb TELLER --pcb 2 <<'END'
S 1 1 1 1 1
L        GU    CUSTOMER(CUSTNO   =10000001)
L   9999 GN
END")]
pub(crate) struct DltestArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The PSB
    #[arg(long, value_name = "NAME")]
    psb: String,
    /// The PCB of the first calls: the name of its database, its own, or its number from 1 in the
    /// program's list; the first database if left out
    #[arg(long, value_name = "NAME|N")]
    pcb: Option<String>,
    /// The region type
    #[arg(long = "type", value_name = "TYPE", default_value = "dli", ignore_case = true)]
    kind: Kind,
    /// A file of a GSAM PCB; may be repeated
    #[arg(long = "dd", value_name = "NAME=PATH[,text]")]
    dds: Vec<String>,
}

/// Control statements are no longer than this.
const BYTES_MAX: u64 = 256 << 20;

/// Calls that go to the I/O PCB whatever PCB was chosen.
const SERVICES: [&[u8; 4]; 11] = [
    b"CHKP", b"XRST", b"SYNC", b"ROLB", b"ROLL", b"ROLS", b"SETS", b"SETU", b"LOG ", b"INIT",
    b"DEQ ",
];

/// The program that issues the calls.
struct Tester {
    client: Client,
    pcb: usize,
}

/// A call ended the program.
#[derive(Debug)]
struct Abended {
    code: String,
    text: String,
}

impl std::fmt::Display for Abended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "abend {}: {}", self.code, self.text)
    }
}

impl std::error::Error for Abended {}

impl Coded for Abended {
    fn code(&self) -> Code {
        Code("HFY102")
    }

    fn remedy(&self) -> String {
        "The calls since the last commit are backed out.".into()
    }
}

impl Tester {
    /// Makes the first calls use the PCB that was asked for, or else the first database.
    fn begin(&mut self, wanted: Option<&str>) -> Result<()> {
        let Some(wanted) = wanted else {
            let is_database = |shape: &PcbShape| matches!(shape.kind, PcbKind::Database(_));
            self.pcb = self.client.pcbs().iter().position(is_database).unwrap_or_default();
            return Ok(());
        };
        self.pcb = self.find(&PcbChoice::of(&wanted.to_ascii_uppercase())).ok_or_else(|| {
            let known: Vec<String> =
                self.client.pcbs().iter().skip(1).map(PcbShape::title).collect();
            Failure::usage(
                format!("the PSB has no PCB {wanted}"),
                format!("It has {}, numbered from 1.", known.join(", ")),
            )
        })?;
        Ok(())
    }

    /// The PCB of a name or a number; numbers count the PCBs of the PSB from 1.
    fn find(&self, choice: &PcbChoice) -> Option<usize> {
        let shapes = self.client.pcbs();
        match choice {
            PcbChoice::Number(number) => {
                usize::try_from(*number).ok().filter(|at| (1..shapes.len()).contains(at))
            }
            PcbChoice::Name(name) => {
                let name = region::shape::name(name);
                let of_database = |shape: &PcbShape| match &shape.kind {
                    PcbKind::Database(database) => database.dbd == name,
                    PcbKind::Gsam(gsam) => gsam.dbd == name,
                    PcbKind::Io | PcbKind::Alternate { .. } => false,
                };
                let by_database = shapes.iter().position(of_database);
                by_database.or_else(|| shapes.iter().position(|shape| shape.name == name))
            }
        }
    }
}

impl Program for Tester {
    type Error = Abended;

    fn choose(&mut self, pcb: &PcbChoice) -> std::result::Result<bool, Abended> {
        let found = self.find(pcb);
        self.pcb = found.unwrap_or(self.pcb);
        Ok(found.is_some())
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        area: &mut [u8],
    ) -> std::result::Result<Feedback, Abended> {
        let function = request.function;
        let is_service = SERVICES.contains(&&function);
        let pcb = if is_service { 0 } else { self.pcb };
        let shape = self.client.pcbs().get(pcb);
        let is_database = shape.is_some_and(|shape| matches!(shape.kind, PcbKind::Database(_)));
        let longest = shape.map_or(0, |shape| shape.area_max as usize);
        let given: usize = request.data.iter().sum();
        let room = match (is_service, &function) {
            (true, b"CHKP") => 8,
            (true, b"XRST") => 14,
            (true, _) => given,
            (false, b"STAT") => STATISTICS,
            (false, _) => longest.max(given),
        };
        let room = room.min(area.len());
        let ssas: Vec<&[u8]> = request.ssas.iter().map(Vec::as_slice).collect();
        // Only databases have SSAs; elsewhere what stands in their place is a parameter.
        let is_parameter = !is_database || function == *b"STAT";
        let (ssas, more) = if is_parameter { (&[][..], &ssas[..]) } else { (&ssas[..], &[][..]) };
        let call = DirectCall { function, pcb, ssas, more, area: Some(&area[..room]), room };
        let answer = self.client.call(&call)?;
        let filled = answer.area.len();
        area[..filled].copy_from_slice(&answer.area);
        let DirectAnswer { status, level, segment, key, .. } = answer;
        Ok(Feedback { level, status, segment, key, filled })
    }
}

/// Bytes of the longest statistics.
const STATISTICS: usize = 600;

impl From<Abend> for Abended {
    fn from(Abend { code, text }: Abend) -> Abended {
        Abended { code, text }
    }
}

pub(super) fn run(context: &mut Context, args: &DltestArgs) -> Result<ExitCode> {
    let job = job_of(args)?;
    let mut cards = Vec::new();
    let read = std::io::stdin().take(BYTES_MAX + 1).read_to_end(&mut cards);
    read.map_err(|error| {
        let what = format!("the control statements cannot be read: {error}");
        Failure::other(what, "Give them on standard input.")
    })?;
    if cards.len() as u64 > BYTES_MAX {
        return Err(Failure::usage("there are too many control statements", "Give fewer."));
    }
    let link: Box<dyn Link> = match job.kind {
        Kind::Bmp => Box::new(batch::connect(&job)?),
        Kind::Dli | Kind::Dbb => {
            Box::new(Embedded::new(Box::new(guest::serve(&context.seam, &job, false)?)))
        }
    };
    let mut tester = Tester { client: Client::new(link), pcb: 0 };
    if let Err(failure) = tester.begin(args.pcb.as_deref()) {
        // Nothing was done; what the end says is of less use than what was wrong.
        let _ = tester.client.end(Ending::Abend);
        return Err(failure);
    }
    issue(context, &cards, tester)
}

/// Issues the calls and ends: well, unless a call has ended it.
fn issue(context: &mut Context, cards: &[u8], mut tester: Tester) -> Result<ExitCode> {
    context.output.flush()?;
    let deck = parse(cards);
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let done = match context.output.is_json() {
        true => dltest::run(&deck, &mut tester, &mut JsonLines::new(&mut out, std::io::stderr())),
        false => dltest::run(&deck, &mut tester, &mut Report::new(&mut out, CodePage::Ascii)),
    };
    let flushed = out.flush();
    drop(out);
    let ending = if done.is_ok() { Ending::Normal } else { Ending::Abend };
    let ended = tester.client.end(ending);
    let summary = match done {
        Ok(summary) => summary,
        Err(RunError::Report(error)) => return Err(error.into()),
        Err(error) => return Err(Failure::Error(Box::new(error))),
    };
    ended.map_err(|abend| Failure::Error(Box::new(Abended::from(abend))))?;
    flushed?;
    tell(context, &summary)
}

fn tell(context: &mut Context, summary: &Summary) -> Result<ExitCode> {
    let Summary { calls, compared, different, wrong, .. } = summary;
    if !context.output.is_json() {
        context.output.line(format_args!(
            "{calls} calls, {compared} comparisons, {different} different, {wrong} wrong cards"
        ))?;
    }
    Ok(if summary.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn job_of(args: &DltestArgs) -> Result<Job> {
    Ok(Job {
        system: absolute(&args.system)?,
        passphrase_file: args.passphrase.passphrase_file.clone(),
        kind: args.kind,
        psb: args.psb.to_ascii_uppercase(),
        program: PathBuf::from("DFSDDLT0"),
        files: batch::dds_of(&args.dds)?.iter().map(JobFile::of).collect::<Result<_>>()?,
        include: Vec::new(),
        free: false,
        entry: None,
        parm: None,
        checkpoint: None,
        pcb_order: None,
        trace: None,
    })
}
