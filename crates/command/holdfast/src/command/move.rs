//! `holdfast move`: takes a database to another system, from a kernel to an engine or back.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use operations::moving::{self, Arriving, Counted, SendRequest};
use operations::verbs::{Operation, answer_of};
use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
use seal::KeyProvider;
use seam::sync::Mutex;
use serde_json::{Value, json};
use system::operator::Refusal;
use system::{SystemConfig, SystemError, read_keyset};

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::operate::{SystemArgs, any_options, with};
use crate::passphrase::PassphraseArgs;
use crate::text::count;

/// Move a database to another system: from a kernel to an engine, or back
///
/// Both systems have the same definition of it, and it is empty in the target. It can be read at
/// the source meanwhile, but not changed: programs that change it are waited for. Counts and
/// digests of both places are compared at the end. At the source nothing is taken away: once
/// programs use the other system, empty it there with `holdfast db empty`.
///
/// The passphrase is that of both systems.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast move -s /srv/bank --to /srv/bank-on-engine CUSTDB")]
pub(crate) struct MoveArgs {
    /// The folder of the system that has it; the system may be started
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    #[command(flatten)]
    passphrase: PassphraseArgs,
    /// The folder of the system that gets it; that one must be stopped
    #[arg(long, value_name = "DIR")]
    to: PathBuf,
    /// The database
    #[arg(value_name = "DB")]
    database: String,
    /// How long to wait for programs that change it
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    wait: u64,
}

/// A pipe in the source's folder, which goes when this does.
struct Pipe(PathBuf);

impl Pipe {
    fn make(dir: &Path) -> Result<Pipe> {
        let path = dir.join(format!("move-{}.pipe", std::process::id()));
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, &path, FileType::Fifo, mode, 0)
            .map_err(|error| refused(&path, error.into()))?;
        Ok(Pipe(path))
    }

    /// The reading end, which is there before anybody writes.
    fn open(&self) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = open(&self.0, flags, Mode::empty());
        Ok(File::from(file.map_err(|error| refused(&self.0, error.into()))?))
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        // What is left behind does no harm.
        let _ = rustix::fs::unlink(&self.0);
    }
}

fn refused(path: &Path, source: std::io::Error) -> Failure {
    let (path, what) = (path.to_owned(), "made");
    let error = moving::MoveError::Pipe { path, what, source };
    Failure::Error(Box::new(error))
}

/// What the sender, in another thread, has come to.
#[derive(Default)]
struct Sender {
    is_over: AtomicBool,
    answer: Mutex<Option<std::result::Result<Value, Refusal>>>,
}

pub(super) fn run(context: &mut Context, args: &MoveArgs) -> Result<ExitCode> {
    let from = std::path::absolute(&args.system).map_err(|error| {
        Failure::other(format!("{}: {error}", args.system.display()), "Name it.")
    })?;
    SystemConfig::read_any(&*context.seam.disk, &from)?;
    SystemConfig::read_any(&*context.seam.disk, &args.to)?;
    let passphrase = args.passphrase.get()?;
    let target = SystemArgs { system: args.to.clone(), passphrase: args.passphrase.clone() };
    let name = args.database.to_ascii_uppercase();
    let (moved, sent) = with(context, &target, |context, _, databases| {
        let database = databases.named(&name)?;
        let keys = read_keyset(&context.seam, &from, &passphrase)?;
        let keys: Arc<dyn KeyProvider> = Arc::new(keys);
        let pipe = Pipe::make(&from)?;
        let file = pipe.open()?;
        let asked =
            SendRequest { database: name.clone(), pipe: pipe.0.clone(), wait_seconds: args.wait };
        let request = Operation::Send(asked).request()?;
        let sender = Arc::new(Sender::default());
        let (seam, dir, theirs) = (context.seam.clone(), from.clone(), Arc::clone(&sender));
        let secret = passphrase.clone();
        let body = move || {
            let passphrase = || Ok::<_, Refusal>(secret.clone());
            let answer = system::run(&seam, &dir, any_options(), &request, passphrase, &mut |_| ());
            *theirs.answer.lock() = Some(answer);
            theirs.is_over.store(true, Ordering::SeqCst);
        };
        let thread = seam::thread::spawn("move", body).map_err(|error| refused(&from, error))?;
        let is_over = || sender.is_over.load(Ordering::SeqCst);
        let arriving = Arriving { file, seam: context.seam.clone(), is_over: &is_over };
        let received = moving::receive(databases, database, arriving, keys);
        // The reading end is closed by now: a sender that still writes hears that.
        thread.join();
        let answer = sender.answer.lock().take();
        let answer = answer.unwrap_or_else(|| {
            let why = "its thread has ended".to_owned();
            Err(SystemError::NoAnswer { dir: from.clone(), why }.into())
        });
        match (received, answer) {
            (Ok(moved), Ok(answer)) => Ok((moved, answer_of::<Counted>(&from, answer)?)),
            // Why nothing came, the sender knows better.
            (_, Err(refusal)) if refusal.code != "HFY111" => Err(refusal.into()),
            (Err(error), _) => Err(error.into()),
            (Ok(_), Err(refusal)) => Err(refusal.into()),
        }
    })?;
    if moved != sent {
        return Err(Failure::other(
            format!("{name} is not what was sent"),
            format!("Empty it in the target with `holdfast db empty {name} --yes`, and try again."),
        ));
    }
    let all: u64 = moved.segments.iter().map(|(_, count)| count).sum();
    let output = &mut context.output;
    if output.is_json() {
        output.document(&json!({ "database": name, "segments": all, "digest": moved.digest }))?;
        return DONE;
    }
    let rows: Vec<Vec<String>> =
        moved.segments.iter().map(|(name, number)| vec![name.clone(), count(*number)]).collect();
    output.table(&["segment", "segments"], &rows)?;
    output.line(format!("{name} is in {}: {} segments", args.to.display(), count(all)))?;
    output.line(format!("SHA-256 of both: {}", moved.digest))?;
    output.line(format!(
        "once programs use it there: holdfast db empty -s {} {name} --yes",
        args.system.display()
    ))?;
    DONE
}
