//! `holdfast dltest`: issues the calls on control statements and reports what came back.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::{Code, Coded};
use clap::Args;
use codec::CodePage;
use definitions::Function;
use dltest::{
    AibCodes, Both, Deck, Feedback, JsonLines, Observer, PcbChoice, Program, Punch, Report,
    Request, RunError, Summary, parse, parse_merged,
};
use jobs::job::{Job, JobFile, Kind, absolute};
use jobs::programs;
use region::layout::{PcbKind, PcbLayout};
use region::{Abend, AibFields, Client, Dd, DirectAnswer, DirectCall, Embedded, Ending, Link};

use super::batch::RegionType;
use super::{batch, unload};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::passphrase::PassphraseArgs;
use crate::standard::{Guarded, is_special};

/// Issue the DL/I calls on control statements, and report each
///
/// Reads DFSDDLT0 control statements from standard input. The calls are committed at the end, if
/// the report could be written, or where the statements say CHKP. With --json standard output is
/// for the results alone: no file may be /dev/stdout.
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
    /// The PCB of the first calls: the name of its database, its own, or its number in the
    /// program's list, where the I/O PCB is 1, as $LISTALL shows it (a number on an S card does not
    /// count the I/O PCB); the first database if left out
    #[arg(long, value_name = "NAME|N")]
    pcb: Option<String>,
    /// The region type
    #[arg(long = "type", value_name = "TYPE", default_value = "dli", ignore_case = true)]
    kind: RegionType,
    /// A file of a GSAM PCB, PUNCHDD for cards that CTL statements punch, or SYSIN2 for statements
    /// that are merged into those of standard input by columns 73 to 80; may be repeated
    #[arg(long = "dd", value_name = "NAME=PATH[,text]")]
    dds: Vec<String>,
}

/// Control statements are no longer than this.
const BYTES_MAX: u64 = 256 << 20;

/// The DD that punched cards go to.
const PUNCH_DD: &str = "PUNCHDD";
/// The DD of statements that are merged into the others.
const MERGED_DD: &str = "SYSIN2";

/// Calls that go to the I/O PCB whatever PCB was chosen.
const SERVICES: [Function; 11] = [
    Function::Chkp,
    Function::Xrst,
    Function::Sync,
    Function::Rolb,
    Function::Roll,
    Function::Rols,
    Function::Sets,
    Function::Setu,
    Function::Log,
    Function::Init,
    Function::Deq,
];

/// The program that issues the calls.
struct Tester {
    client: Client,
    pcb: usize,
    /// What the last get or call with data left in the I/O area, in bytes.
    left: usize,
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
            let is_database = |layout: &PcbLayout| matches!(layout.kind, PcbKind::Database(_));
            self.pcb = self.client.pcbs().iter().position(is_database).unwrap_or_default();
            return Ok(());
        };
        self.pcb = self.find(&first_choice(wanted)).ok_or_else(|| {
            let titles = self.client.pcbs().iter().map(PcbLayout::title).enumerate();
            let known: Vec<String> =
                titles.map(|(at, title)| format!("{} {title}", at + 1)).collect();
            Failure::usage(
                format!("the PSB has no PCB {wanted}"),
                format!("It has {}: give one of these numbers or names.", known.join(", ")),
            )
        })?;
        Ok(())
    }

    /// The PCB of a name or a number.
    fn find(&self, choice: &PcbChoice) -> Option<usize> {
        let layouts = self.client.pcbs();
        let of_database = |layout: &PcbLayout| match &layout.kind {
            PcbKind::Database(database) => Some(database.dbd),
            PcbKind::Gsam(gsam) => Some(gsam.dbd),
            PcbKind::Io(_) | PcbKind::Alternate { .. } => None,
        };
        let by_database = |name: &str| {
            let name = region::layout::name(name);
            layouts.iter().position(|layout| of_database(layout) == Some(name))
        };
        let own = |name: &str| {
            let name = region::layout::name(name);
            layouts.iter().position(|layout| layout.name == name)
        };
        let at = |number: u32| usize::try_from(number).ok().filter(|at| *at < layouts.len());
        match choice {
            PcbChoice::Number(number) => at(*number).filter(|at| *at > 0),
            PcbChoice::Nth(number) => at(number.checked_sub(1)?),
            PcbChoice::NthDatabase(number) => {
                let databases = layouts.iter().enumerate();
                let mut databases = databases.filter(|(_, layout)| of_database(layout).is_some());
                Some(databases.nth(usize::try_from(number.checked_sub(1)?).ok()?)?.0)
            }
            PcbChoice::Own(name) => own(name),
            PcbChoice::Database(name) => by_database(name),
            PcbChoice::Name(name) => by_database(name).or_else(|| own(name)),
        }
    }

    /// What an AIB says: the PCB's name, and of INQY the subfunction in place of an SSA.
    fn aib_fields(&self, request: &Request<'_>, pcb: usize) -> AibFields {
        let resource = self.client.pcbs().get(pcb).map(|layout| layout.name).unwrap_or_default();
        let first = request.ssas.first().filter(|_| request.function == Function::Inqy);
        let word = first.map(|ssa| String::from_utf8_lossy(ssa).trim().to_owned());
        let subfunction = region::layout::name(&word.unwrap_or_default());
        AibFields { resource, subfunction, ..AibFields::default() }
    }
}

/// The PCB that `--pcb` names. A number is that of the list that `$LISTALL` shows, and that a
/// program is given: the I/O PCB is 1.
fn first_choice(wanted: &str) -> PcbChoice {
    let name = || PcbChoice::Name(wanted.to_ascii_uppercase());
    wanted.parse().map_or_else(|_| name(), PcbChoice::Nth)
}

impl Program for Tester {
    type Error = Abended;

    fn choose(&mut self, pcb: &PcbChoice) -> std::result::Result<bool, Abended> {
        let found = self.find(pcb);
        self.pcb = found.unwrap_or(self.pcb);
        Ok(found.is_some())
    }

    fn pcbs(&self) -> Vec<String> {
        let title = |layout: &PcbLayout| {
            let (own, what) = (layout.title(), region::layout::text(&layout.name));
            match &layout.kind {
                PcbKind::Io(_) => "I/O PCB".to_owned(),
                PcbKind::Alternate { .. } => format!("alternate PCB {own}"),
                PcbKind::Database(database) => {
                    format!("database {}  {what}", region::layout::text(&database.dbd))
                }
                PcbKind::Gsam(gsam) => format!("GSAM {}  {what}", region::layout::text(&gsam.dbd)),
            }
        };
        self.client.pcbs().iter().map(|layout| title(layout).trim_end().to_owned()).collect()
    }

    fn call(
        &mut self,
        request: &Request<'_>,
        area: &mut [u8],
    ) -> std::result::Result<Feedback, Abended> {
        let function = request.function;
        let is_service = SERVICES.contains(&function);
        let pcb = if is_service { 0 } else { self.pcb };
        let layout = self.client.pcbs().get(pcb);
        let is_database = layout.is_some_and(|layout| matches!(layout.kind, PcbKind::Database(_)));
        let longest = layout.map_or(0, |layout| layout.area_max as usize);
        let says_length = layout.is_some_and(|layout| {
            matches!(&layout.kind, PcbKind::Gsam(gsam) if gsam.undefined)
                && function == Function::Isrt
        });
        let given: usize = request.data.iter().sum();
        let room = match (is_service, function) {
            (true, Function::Chkp) => 8,
            (true, Function::Xrst) => 14,
            (true, _) => given,
            (false, Function::Stat) => STATISTICS,
            // A record of undefined length has the length of its data.
            (false, _) if says_length && given > 0 => given,
            (false, _) => longest.max(given),
        };
        let taken = match function {
            Function::Isrt => {
                let inserted = layout.and_then(|layout| inserted(layout, request.ssas, area));
                inserted.unwrap_or(if given > 0 { given } else { self.left })
            }
            // They take what the get returned; without DATA it is in the area still.
            Function::Repl | Function::Dlet if given == 0 || (1..given).contains(&self.left) => {
                self.left
            }
            _ => given,
        };
        let room = room.min(area.len());
        let ssas: Vec<&[u8]> = request.ssas.iter().map(Vec::as_slice).collect();
        // Only databases have SSAs; elsewhere what stands in their place is a parameter.
        let is_parameter = !is_database || function == Function::Stat;
        let (ssas, more) = if is_parameter { (&[][..], &ssas[..]) } else { (&ssas[..], &[][..]) };
        let call = DirectCall { function, pcb, ssas, more, area: Some(&area[..room]), room };
        let (answer, aib) = match request.uses_aib {
            true => {
                let fields = self.aib_fields(request, pcb);
                let (answer, reply) = self.client.call_with_aib(&call, &fields)?;
                let (return_code, reason) = (reply.return_code, reply.reason);
                (answer, Some(AibCodes { return_code, reason }))
            }
            false => (self.client.call(&call)?, None),
        };
        let filled = answer.area.len();
        area[..filled].copy_from_slice(&answer.area);
        match function {
            Function::Repl | Function::Dlet => {}
            _ if filled > 0 => self.left = filled,
            _ if taken > 0 => self.left = taken,
            _ => {}
        }
        let DirectAnswer { status, level, segment, key, .. } = answer;
        Ok(Feedback { level, status, segment, key, filled, given: taken, aib })
    }
}

/// How much of the I/O area an ISRT takes: the segments that its last SSA names, or those from one
/// with command code D on. `None` where the PCB or its segments do not say that.
fn inserted(layout: &PcbLayout, ssas: &[Vec<u8>], area: &[u8]) -> Option<usize> {
    let PcbKind::Database(database) = &layout.kind else { return None };
    let is_path = |ssa: &Vec<u8>| dltest::take_apart(ssa).codes.contains(&b'D');
    let first = ssas.iter().position(is_path).or(ssas.len().checked_sub(1))?;
    let mut at = 0;
    for ssa in &ssas[first..] {
        let mut segments = database.segments.iter();
        let segment = segments.find(|one| ssa.get(..8) == Some(&one.name[..]))?;
        at += match segment.variable {
            true => usize::from(u16::from_be_bytes(*area.get(at..)?.first_chunk()?)),
            false => usize::from(segment.bytes_max),
        };
    }
    (at <= area.len()).then_some(at)
}

/// Bytes of the longest statistics.
const STATISTICS: usize = 600;

impl From<Abend> for Abended {
    fn from(Abend { code, text }: Abend) -> Abended {
        Abended { code, text }
    }
}

pub(super) fn run(context: &mut Context, args: &DltestArgs) -> Result<ExitCode> {
    let is = |wanted: &'static str| move |dd: &Dd| dd.name.eq_ignore_ascii_case(wanted);
    let guarded = Guarded::of(&context.seam, &args.system, context.output.is_json())?;
    let dds = batch::dds_of_step(&args.dds, &guarded, None)?;
    let (punch_dd, dds): (Vec<Dd>, Vec<Dd>) = dds.into_iter().partition(is(PUNCH_DD));
    let (merged_dd, dds): (Vec<Dd>, Vec<Dd>) = dds.into_iter().partition(is(MERGED_DD));
    let job = job_of(args, &dds)?;
    let cards = read(std::io::stdin(), "standard input")?;
    let deck = match merged_dd.first() {
        Some(dd) => parse_merged(&cards, &read_file(&dd.path)?),
        None => parse(&cards),
    };
    let punch_dd: Option<Dd> = Vec::into_iter(punch_dd).next();
    if deck.punches() && punch_dd.is_none() {
        let what = "the control statements punch cards, but there is no file for them";
        return Err(Failure::usage(what, "Give one, as in --dd PUNCHDD=cards.txt."));
    }
    let link: Box<dyn Link> = match job.kind {
        Kind::Bmp => Box::new(programs::connect(&job)?),
        Kind::Dli | Kind::Dbb => {
            let passphrase = args.passphrase.get_for(&context.seam, &args.system)?;
            let server = batch::serve(context, &job, &passphrase)?;
            Box::new(Embedded::new(Box::new(server)))
        }
    };
    let mut tester = Tester { client: Client::new(link), pcb: 0, left: 0 };
    if let Err(failure) = tester.begin(args.pcb.as_deref()) {
        // Nothing was done; what the end says is of less use than what was wrong.
        let _ = tester.client.end(Ending::Abend);
        return Err(failure);
    }
    issue(context, &deck, punch_dd.as_ref(), tester)
}

/// Reads control statements to their end.
fn read(from: impl std::io::Read, name: &str) -> Result<Vec<u8>> {
    let mut cards = Vec::new();
    from.take(BYTES_MAX + 1).read_to_end(&mut cards).map_err(|error| {
        let what = format!("the control statements of {name} cannot be read: {error}");
        Failure::other(what, "Check where they come from.")
    })?;
    if cards.len() as u64 > BYTES_MAX {
        return Err(Failure::usage("there are too many control statements", "Give fewer."));
    }
    Ok(cards)
}

/// Reads the control statements of a file.
#[allow(clippy::disallowed_methods)] // cards are people's files, no part of a system
fn read_file(path: &Path) -> Result<Vec<u8>> {
    let name = path.display().to_string();
    let file = std::fs::File::open(path).map_err(|error| {
        let what = format!("the control statements of {name} cannot be read: {error}");
        Failure::other(what, "Correct the path behind --dd SYSIN2=.")
    })?;
    read(file, &name)
}

/// Issues the calls and ends: well, unless a call has ended it, or nobody would know what came of
/// them. Nothing is said after the commit that could fail.
fn issue(
    context: &mut Context,
    deck: &Deck,
    punch_dd: Option<&Dd>,
    mut tester: Tester,
) -> Result<ExitCode> {
    context.output.flush()?;
    let is_json = context.output.is_json();
    let mut out = std::io::BufWriter::new(seam::standard::output());
    let mut cards = Vec::new();
    let mut punch = Punch::new(&mut cards, deck);
    let mut run = |observer: &mut dyn Observer| {
        dltest::run(deck, &mut tester, &mut Both(observer, &mut punch))
    };
    let done = match is_json {
        true => run(&mut JsonLines::new(&mut out, std::io::stderr())),
        false => run(&mut Report::new(&mut out, CodePage::Ascii)),
    };
    // What was punched is of use even if a call has ended the run.
    let punched = punch_dd.map_or(Ok(()), |dd| punched(context, &dd.path, &cards));
    let reported = match &done {
        Ok(summary) if !is_json && punched.is_ok() => writeln!(out, "{}", summed_up(summary)),
        _ => Ok(()),
    };
    let reported = reported.and_then(|()| out.flush());
    let is_whole = done.is_ok() && punched.is_ok() && reported.is_ok();
    let ended = tester.client.end(if is_whole { Ending::Normal } else { Ending::Abend });
    let summary = match done {
        Ok(summary) => summary,
        Err(RunError::Report(error)) => return Err(unreported(&error)),
        Err(error) => return Err(Failure::Error(Box::new(error))),
    };
    punched.map_err(|failure| failure.within(BACKED_OUT))?;
    reported.map_err(|error| unreported(&error))?;
    ended.map_err(|abend| Failure::Error(Box::new(Abended::from(abend))))?;
    Ok(if summary.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

const BACKED_OUT: &str = "what the calls have changed since the last commit is backed out";

/// A reader that has gone away is no good end here: the calls were to change something.
fn unreported(error: &std::io::Error) -> Failure {
    let what = format!("{BACKED_OUT}: the report cannot be written: {error}");
    Failure::other(what, "Write the report elsewhere, and issue the calls again.")
}

/// Writes the cards that were punched: as a file that is whole, or to what cannot be replaced.
#[allow(clippy::disallowed_methods)] // cards are people's files, no part of a system
fn punched(context: &Context, path: &Path, cards: &[u8]) -> Result<()> {
    if !is_special(path) {
        return unload::write_whole(&context.seam, path, true, |file| Ok(file.write_all(cards)?));
    }
    let place = std::fs::OpenOptions::new().append(true).open(path);
    place.and_then(|mut place| place.write_all(cards)).map_err(|error| {
        let what = format!("{} cannot be written: {error}", path.display());
        Failure::other(what, "Correct the path behind --dd PUNCHDD=.")
    })
}

fn summed_up(summary: &Summary) -> String {
    let Summary { calls, compared, different, wrong, .. } = summary;
    format!("{calls} calls, {compared} comparisons, {different} different, {wrong} wrong cards")
}

fn job_of(args: &DltestArgs, dds: &[Dd]) -> Result<Job> {
    Ok(Job {
        system: absolute(&args.system)?,
        kind: args.kind.into(),
        psb: args.psb.to_ascii_uppercase(),
        program: PathBuf::from("DFSDDLT0"),
        files: dds.iter().map(JobFile::of).collect::<jobs::Result<_>>()?,
        include: Vec::new(),
        free: false,
        entry: None,
        parm: None,
        checkpoint: None,
        step: None,
        pcb_order: None,
        trace: None,
        compiled: None,
        makes_no_calls: false,
        input: None,
        output: None,
    })
}
