//! `holdfast cmd`, `tran`, `pgm`, `define`, `user`: what operators say to the transaction manager.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};
use operations::transactions::{
    CommandRequest, Commanded, DefineRequest, Defined, DefinitionFile, UserRequest,
};
use operations::verbs::Operation;

use super::DONE;
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input::bytes_of;
use crate::operate::{Where, perform};
use crate::text::harmless;

/// Carry out a command of IMS: type 1 (/DISPLAY) or type 2 (QUERY, CREATE, UPDATE, DELETE)
///
/// It works on a started system, and on a stopped one as far as a command means something there.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: holdfast cmd -s /srv/bank '/DIS TRAN ALL'
          holdfast cmd -s /srv/bank 'QUERY PGM NAME(TELL*)'
          holdfast cmd -s /srv/bank 'UPDATE TRAN NAME(TELL) SET(CLASS(2))'
          holdfast cmd -s /srv/bank PERMIT TRAN TELL ANNA TELLERS
          holdfast cmd -s /srv/bank PERMIT GROUP TELLERS BERT CARL
          holdfast cmd -s /srv/bank PERMIT CMD DISPLAY TELLERS")]
pub(crate) struct CmdArgs {
    #[command(flatten)]
    system: Where,
    /// The command; its words may stand apart
    #[arg(required = true, value_name = "COMMAND")]
    words: Vec<String>,
}

/// Define transactions, list, change or remove them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: holdfast tran create -s /srv/bank TELL PGM=TELLONL CLASS=1
          holdfast tran list -s /srv/bank 'T*'")]
pub(crate) struct TranArgs {
    #[command(subcommand)]
    what: Resource,
}

/// Define programs of transactions, list, change or remove them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: holdfast pgm create -s /srv/bank TELLONL
          holdfast pgm list -s /srv/bank")]
pub(crate) struct PgmArgs {
    #[command(subcommand)]
    what: Resource,
}

/// What is done to resources.
#[derive(Subcommand, Debug)]
enum Resource {
    /// Define a new one
    Create(SetArgs),
    /// Change attributes
    Update(SetArgs),
    /// Remove it
    Delete(NameArgs),
    /// List those that fit
    List(ListArgs),
    /// Let it be used
    Start(NameArgs),
    /// Let it be used no more
    Stop(NameArgs),
}

#[derive(Args, Debug)]
struct SetArgs {
    #[command(flatten)]
    system: Where,
    /// Its name
    name: String,
    /// Attributes, such as CLASS=4
    #[arg(value_name = "ATTRIBUTE=VALUE")]
    attributes: Vec<String>,
}

#[derive(Args, Debug)]
struct NameArgs {
    #[command(flatten)]
    system: Where,
    /// Its name
    name: String,
}

#[derive(Args, Debug)]
struct ListArgs {
    #[command(flatten)]
    system: Where,
    /// A name, or a mask with * and %
    #[arg(default_value = "*")]
    mask: String,
}

/// Take in definition files: TRANSACT, APPLCTN, DATABASE and RTCODE macros, or CREATE commands
///
/// All files are taken in or none. What is there already is replaced.
#[derive(Args, Debug)]
#[command(after_help = "Example: holdfast define -s /srv/bank online.defs")]
pub(crate) struct DefineArgs {
    #[command(flatten)]
    system: Where,
    /// The files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Store nothing; only say what would be defined
    #[arg(long)]
    check: bool,
}

/// Define users who may come in over the network, or remove them
#[derive(Args, Debug)]
#[command(after_help = "\
Examples: holdfast user put -s /srv/bank ANNA < password.txt
          holdfast user remove -s /srv/bank ANNA")]
pub(crate) struct UserArgs {
    #[command(subcommand)]
    what: User,
}

#[derive(Subcommand, Debug)]
enum User {
    /// Define a user, or give one another password, read from standard input
    Put(NameArgs),
    /// Remove a user
    Remove(NameArgs),
}

pub(super) fn command(context: &mut Context, args: &CmdArgs) -> Result<ExitCode> {
    say(context, &args.system, args.words.join(" "))
}

pub(super) fn transactions(context: &mut Context, args: &TranArgs) -> Result<ExitCode> {
    resource(context, "TRAN", &args.what)
}

pub(super) fn programs(context: &mut Context, args: &PgmArgs) -> Result<ExitCode> {
    resource(context, "PGM", &args.what)
}

fn resource(context: &mut Context, kind: &str, what: &Resource) -> Result<ExitCode> {
    let (system, text) = match what {
        Resource::Create(args) => (&args.system, set_text("CREATE", kind, args)?),
        Resource::Update(args) => (&args.system, set_text("UPDATE", kind, args)?),
        Resource::Delete(args) => (&args.system, format!("DELETE {kind} NAME({})", args.name)),
        Resource::List(args) => (&args.system, format!("QUERY {kind} NAME({})", args.mask)),
        Resource::Start(args) => (&args.system, format!("/START {kind} {}", args.name)),
        Resource::Stop(args) => (&args.system, format!("/STOP {kind} {}", args.name)),
    };
    say(context, system, text)
}

fn set_text(verb: &str, kind: &str, args: &SetArgs) -> Result<String> {
    let mut settings = Vec::new();
    for attribute in &args.attributes {
        let (name, value) = attribute.split_once('=').ok_or_else(|| {
            let what = format!("{attribute} is no attribute with its value");
            Failure::usage(what, "Write it as in CLASS=4.")
        })?;
        settings.push(format!("{name}({value})"));
    }
    let set = match settings.is_empty() {
        true => String::new(),
        false => format!(" SET({})", settings.join(",")),
    };
    Ok(format!("{verb} {kind} NAME({}){set}", args.name))
}

fn say(context: &mut Context, system: &Where, text: String) -> Result<ExitCode> {
    let operation = Operation::Command(CommandRequest { text });
    let answer: Commanded = perform(context, &system.system, &system.passphrase, &operation)?;
    match context.output.is_json() {
        true => context.output.document(&answer)?,
        false => answer.lines.iter().try_for_each(|line| context.output.line(harmless(line)))?,
    }
    Ok(if answer.done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

pub(super) fn define(context: &mut Context, args: &DefineArgs) -> Result<ExitCode> {
    let files = args.files.iter().map(|path| {
        let name = path.display().to_string();
        let bytes = bytes_of(path, "Correct the path.")?;
        Ok(DefinitionFile { text: String::from_utf8_lossy(&bytes).into_owned(), name })
    });
    let files = files.collect::<Result<_>>()?;
    let operation = Operation::Define(DefineRequest { files, check: args.check });
    let (system, passphrase) = (&args.system.system, &args.system.passphrase);
    let defined: Defined = perform(context, system, passphrase, &operation)?;
    if context.output.is_json() {
        context.output.document(&defined)?;
        return Ok(if defined.errors == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    defined.diagnostics.iter().for_each(|one| eprintln!("{}", harmless(one)));
    if defined.errors > 0 {
        let what = format!("errors in the definitions: {}; nothing was stored", defined.errors);
        return Err(Failure::other(what, "Correct what is shown above, and define all again."));
    }
    for change in &defined.changes {
        context.output.line(harmless(change))?;
    }
    DONE
}

pub(super) fn user(context: &mut Context, args: &UserArgs) -> Result<ExitCode> {
    let (args, password) = match &args.what {
        User::Put(args) => (args, Some(password()?)),
        User::Remove(args) => (args, None),
    };
    let removes = password.is_none();
    let name = args.name.to_ascii_uppercase();
    let operation = Operation::User(UserRequest { user: name.clone(), password });
    let (system, passphrase) = (&args.system.system, &args.system.passphrase);
    let changed: bool = perform(context, system, passphrase, &operation)?;
    if !changed {
        let what = format!("there is no user {name}");
        return Err(Failure::other(what, "Check the name."));
    }
    let state = if removes { "removed" } else { "defined" };
    match context.output.is_json() {
        true => context.output.value(&serde_json::json!({ "user": name, "state": state }))?,
        false => context.output.line(format_args!("user {name} {state}"))?,
    }
    DONE
}

/// A user's password, from standard input: its first line.
fn password() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().take(PASSWORD_BYTES_MAX).read_to_string(&mut text)?;
    let password = text.lines().next().unwrap_or_default().to_owned();
    if password.is_empty() || password.len() > 8 || !password.is_ascii() {
        let what = "a password has 1 to 8 characters of ASCII: that is what its field holds";
        return Err(Failure::usage(what, "Give it on standard input, in one line."));
    }
    Ok(password)
}

const PASSWORD_BYTES_MAX: u64 = 4096;
