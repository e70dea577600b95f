//! `holdfast mq dlq`: does with dead letters what a table of rules says.
//!
//! 1. A message leaves the queue in the unit of work that puts it elsewhere: killed at any moment,
//!    it is in one place.
//! 2. Nothing is put where the system carries out what is put, or starts programs for it: anybody
//!    may have made a dead letter for there. It stays, and the command says so.
//! 3. What no rule is for, or could be done with, stays; it is looked at again after the interval
//!    that the table names.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;
use mqi::structures::Dlh;
use mqi::table::{Structure as _, text};
use mqsc::dead_letters::{Action, Letter, Rule, Rules, Waiting};
use queue_manager::Reason;
use queue_manager::name::unpadded;
use queue_manager::options::value::{get, open, put};

use super::program::{Message, Program};
use crate::command::{Context, DONE};
use crate::failure::{Failure, Result};
use crate::output::warn;

/// Bytes of a dead-letter header.
const HEADER_BYTES: usize = 172;
/// The attribute of the queue manager that names its dead-letter queue.
const DEAD_LETTER_QUEUE: i32 = 2006;

/// Do with dead letters what rules say
///
/// Reads a table of rules from a file, or from standard input, as runmqdlq takes it: each message
/// on the dead-letter queue is tried again, sent elsewhere, thrown away or left.
#[derive(Args, Debug)]
#[command(after_help = "Example: echo 'ACTION(RETRY) RETRY(3)' | holdfast mq dlq -s /srv/bank")]
pub(crate) struct DlqArgs {
    /// The system's folder
    #[arg(short, long, value_name = "DIR")]
    system: PathBuf,
    /// The dead-letter queue; the one of the rules, or of the queue manager, without
    #[arg(short, long, value_name = "QUEUE")]
    queue: Option<String>,
    /// The table of rules
    #[arg(value_name = "RULES")]
    rules: Option<PathBuf>,
}

/// What became of the messages.
#[derive(Default)]
struct Done {
    retried: u64,
    forwarded: u64,
    discarded: u64,
    left: u64,
}

impl Done {
    fn any(&self) -> bool {
        self.retried + self.forwarded + self.discarded > 0
    }
}

pub(super) fn run(context: &mut Context, args: &DlqArgs) -> Result<ExitCode> {
    let rules = Rules::read(&table(args)?).map_err(|(line, error)| {
        let what = format!("line {line} of the rules: {error}");
        Failure::usage(what, "Correct the table; holdfast mq dlq --help shows the form.")
    })?;
    let mut program = Program::connect(&args.system, "dead letters")?;
    let control = &rules.control;
    if !control.manager.is_empty() && control.manager != program.manager() {
        let what = format!("the rules are for queue manager {}", control.manager);
        return Err(Failure::usage(what, "Name the system of that queue manager."));
    }
    let named = args.queue.clone().unwrap_or_else(|| control.queue.clone());
    let name = match named.is_empty() {
        true => program.attribute(DEAD_LETTER_QUEUE)?,
        false => named,
    };
    let queue = program.open(&name, open::INPUT_SHARED | open::BROWSE)?;
    let mut handler = Handler { program, queue, rules: &rules, tries: BTreeMap::new() };
    let interval = Duration::from_secs(u64::from(control.retry_s.max(1)));
    let (mut all, mut idle) = (Done::default(), Duration::ZERO);
    loop {
        let done = handler.pass()?;
        let any = done.any();
        all.retried += done.retried;
        all.forwarded += done.forwarded;
        all.discarded += done.discarded;
        all.left = done.left;
        idle = if any { Duration::ZERO } else { idle };
        let ends = match control.waiting {
            Waiting::Always => false,
            Waiting::Never => !any,
            Waiting::Seconds(seconds) => idle >= Duration::from_secs(u64::from(seconds)),
        };
        if ends {
            break;
        }
        if !any {
            let wait = match control.waiting {
                Waiting::Seconds(seconds) => interval.min(Duration::from_secs(u64::from(seconds))),
                _ => interval,
            };
            context.seam.clock.sleep(wait.max(Duration::from_millis(100)));
            idle += wait.max(Duration::from_millis(100));
        }
    }
    let Done { retried, forwarded, discarded, left } = all;
    context.output.line(format_args!(
        "dead letters: {retried} put where they were for, {forwarded} sent elsewhere, {discarded} \
         thrown away, {left} left"
    ))?;
    DONE
}

#[allow(clippy::disallowed_methods)] // people's files are no part of a system
fn table(args: &DlqArgs) -> Result<String> {
    let Some(file) = &args.rules else {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text)?;
        return Ok(text);
    };
    std::fs::read_to_string(file).map_err(|error| {
        let what = format!("{}: {error}", file.display());
        Failure::other(what, "Name a file that can be read.")
    })
}

struct Handler<'r> {
    program: Program,
    queue: i32,
    rules: &'r Rules,
    /// How often each message was tried, by its identifier and rule.
    tries: BTreeMap<([u8; 24], usize), u32>,
}

impl Handler<'_> {
    /// Looks at every message once.
    fn pass(&mut self) -> Result<Done> {
        let mut done = Done::default();
        let mut options = get::BROWSE_FIRST;
        while let Some(message) = self.program.get(self.queue, options, 0)? {
            options = get::BROWSE_NEXT;
            let mut header = Dlh::initial();
            let known = message.data.len() >= HEADER_BYTES && header.take(&message.data).is_ok();
            if !known || header.struc_id != *b"DLH " {
                warn("a message without a dead-letter header is left");
                done.left += 1;
                continue;
            }
            self.decide(&message, &header, &mut done)?;
        }
        Ok(done)
    }

    /// Does what the first rule that can be followed says.
    fn decide(&mut self, message: &Message, header: &Dlh, done: &mut Done) -> Result<()> {
        let letter = letter(message, header);
        let rules = self.rules;
        let fitting = rules.rules.iter().enumerate().filter(|(_, rule)| rule.fits(&letter));
        for (at, rule) in fitting {
            let counted = match &rule.action {
                Action::Ignore => break,
                Action::Discard => {
                    self.take()?;
                    self.program.end_unit(true)?;
                    &mut done.discarded
                }
                Action::Retry(most) => {
                    let tries = self.tries.entry((message.md.msg_id, at)).or_default();
                    if *tries >= *most {
                        continue;
                    }
                    *tries += 1;
                    let to = (&*letter.queue, &*letter.manager);
                    if !self.move_to(rule, to, &without_header(message, header))? {
                        // It is tried again by the next pass.
                        break;
                    }
                    self.tries.remove(&(message.md.msg_id, at));
                    &mut done.retried
                }
                Action::Forward { queue, manager, header: keeps } => {
                    let named = |name: &str| match name {
                        "&DESTQ" => letter.queue.clone(),
                        "&REPLYQ" => letter.reply_queue.clone(),
                        "&DESTQM" => letter.manager.clone(),
                        "&REPLYQM" => letter.reply_manager.clone(),
                        name => name.to_owned(),
                    };
                    let (queue, manager) = (named(queue), named(manager));
                    let bare = without_header(message, header);
                    let sent = if *keeps { message } else { &bare };
                    if !self.move_to(rule, (&queue, &manager), sent)? {
                        continue;
                    }
                    &mut done.forwarded
                }
            };
            *counted += 1;
            return Ok(());
        }
        done.left += 1;
        Ok(())
    }

    /// Takes the message that was looked at, in the unit of work.
    fn take(&mut self) -> Result<()> {
        let options = get::MSG_UNDER_CURSOR | get::SYNCPOINT;
        self.program.get(self.queue, options, 0).map(drop)
    }

    /// Moves the message that was looked at; `false` if it cannot be put there.
    fn move_to(&mut self, rule: &Rule, to: (&str, &str), message: &Message) -> Result<bool> {
        self.take()?;
        let mut options = put::SYNCPOINT | put::SET_ALL_CONTEXT | put::NOT_CARRIED_OUT;
        if rule.as_context {
            options |= put::ALTERNATE_USER_AUTHORITY;
        }
        let moved = self.program.put(to, message, options);
        self.program.end_unit(moved.is_ok())?;
        if let Err(reason) = moved {
            let why = match reason {
                // This one is an administrator, who may put everywhere else.
                Reason::NOT_AUTHORIZED => {
                    "what is put there may be carried out, and anybody may have made it".to_owned()
                }
                reason => reason.to_string(),
            };
            warn(format!("a dead letter cannot be put on {}: {why}", to.0));
        }
        Ok(moved.is_ok())
    }
}

fn letter(message: &Message, header: &Dlh) -> Letter {
    let md = &message.md;
    Letter {
        identity_data: unpadded(&md.appl_identity_data),
        application: unpadded(&header.put_appl_name),
        application_type: header.put_appl_type,
        queue: unpadded(&header.dest_q_name),
        manager: unpadded(&header.dest_q_mgr_name),
        feedback: md.feedback,
        format: unpadded(&header.format),
        message_type: md.msg_type,
        persistence: md.persistence,
        reason: header.reason,
        reply_queue: unpadded(&md.reply_to_q),
        reply_manager: unpadded(&md.reply_to_q_mgr),
        user: unpadded(&md.user_identifier),
    }
}

/// The message as it was before it became a dead letter.
fn without_header(message: &Message, header: &Dlh) -> Message {
    let mut md = message.md.clone();
    (md.encoding, md.ccsid, md.format) = (header.encoding, header.ccsid, header.format);
    if md.format == [0; 8] {
        md.format = text("");
    }
    Message { md, data: message.data[HEADER_BYTES..].to_vec() }
}
