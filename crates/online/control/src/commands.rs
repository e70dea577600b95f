//! Operators' commands of type 1.
//!
//! | command | does |
//! |---|---|
//! | `/DISPLAY` `TRAN`, `PGM`, `DB` names; `ACTIVE`; `Q`; `CONV`; `STATUS`; `POOL` | shows it (`display`) |
//! | `/START`, `/STOP` `TRAN`, `PGM` names | has it scheduled and queued, or not |
//! | `/START DB` names, `ACCESS=` `UP`, `EX`, `RD`, `RO` | has programs use it: change it, or read it |
//! | `/STOP DB`, `/DBRECOVERY DB` names | no program uses it: who begins a unit of work has none of it |
//! | `/DBDUMP DB` names | no program changes it |
//! | `/START`, `/STOP` `REGION` | starts regions, and ends them or their programs (`operate`) |
//! | `/CHECKPOINT` `SIMPLE`, `FREEZE`, `DUMPQ`, `PURGE`, `QUIESCE` | is handed on |
//! | `/EXIT` | ends the terminal's conversation |
//!
//! Verbs may be cut to three characters. A name may end in `*`; `ALL` is every one.
//!
//! Invariants:
//! 1. Each name that cannot be found is told; the others are done.
//! 2. Who may issue a command is asked before, where it comes from a client (`manager`).

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use otma::Name;
use queues::Kind;
use resources::{Kind as ResourceKind, Stop};
use schedule::Moment;
use seam::failpoint::{Failpoint, armed};
use store::{Store, Unit, UnitOptions};

use crate::commits::Then;
use crate::envelope::Envelope;
use crate::error::ControlError;
use crate::inner::Inner;
use crate::options::{Checkpoint, DatabaseUse};
use crate::profiles::VERB_LETTERS;
use crate::text;

/// What a command answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The lines, as a terminal shows them.
    pub lines: Vec<String>,
    /// Whether it was carried out.
    pub done: bool,
}

impl Answered {
    pub(crate) fn good(lines: Vec<String>) -> Answered {
        Answered { lines, done: true }
    }

    pub(crate) fn bad(line: String) -> Answered {
        Answered { lines: vec![line], done: false }
    }
}

/// What a command of type 1 can be about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Subject {
    Transaction,
    Program,
    Database,
    Active,
    Queue,
    Region,
    Conversation,
    Status,
    Pool,
}

fn subject(word: &str) -> Option<Subject> {
    Some(match word {
        "TRAN" | "TRANSACTION" | "TRA" | "TRANS" => Subject::Transaction,
        "PGM" | "PROGRAM" | "PROG" => Subject::Program,
        "DB" | "DATABASE" => Subject::Database,
        "A" | "ACT" | "ACTIVE" => Subject::Active,
        "Q" | "QUEUE" => Subject::Queue,
        "REG" | "REGION" => Subject::Region,
        "CONV" | "CONVERSATION" => Subject::Conversation,
        "STATUS" => Subject::Status,
        "POOL" => Subject::Pool,
        _ => return None,
    })
}

/// A command's words: without the slash, in upper case.
fn words(text: &str) -> Vec<String> {
    let text = text.trim().trim_start_matches('/').trim_end_matches('.');
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '\0');
    text.split(ends).filter(|word| !word.is_empty()).map(str::to_ascii_uppercase).collect()
}

/// The verb of a command, as its profiles know it; blank if there is none.
pub(crate) fn verb_of(text: &str) -> Name {
    let verb = words(text).into_iter().next().unwrap_or_default();
    let short: String = verb.chars().take(VERB_LETTERS).collect();
    Name::new(&short).unwrap_or(Name::BLANK)
}

/// Whether a text is the command that ends a conversation.
pub(crate) fn is_exit(text: &str) -> bool {
    words(text).first().is_some_and(|verb| verb.starts_with("EXI"))
}

impl<S: Store> Inner<S> {
    /// Carries a command out.
    pub(crate) fn command(&self, text: &str, terminal: Name) -> Answered {
        let words = words(text);
        let now = Moment::now(&*self.clock);
        let Some((verb, rest)) = words.split_first() else {
            return Answered::bad(format!("DFS165 {} COMMAND MISSING", text::time(now)));
        };
        let short: String = verb.chars().take(VERB_LETTERS).collect();
        match short.as_str() {
            "DIS" => self.display(rest, now),
            "STA" | "STO" => self.set(short == "STA", rest, now),
            "DBR" => self.close(("DBRECOVERY", DatabaseUse::Nothing), rest, now),
            "DBD" => self.close(("DBDUMP", DatabaseUse::Reads), rest, now),
            "CHE" => self.checkpoint(rest, now),
            "EXI" => self.exit_now(terminal, rest, now),
            _ => Answered::bad(format!("DFS165 {} COMMAND {verb} INVALID", text::time(now))),
        }
    }

    pub(crate) fn wrong_keyword(&self, verb: &str, word: &str, now: Moment) -> Answered {
        let time = text::time(now);
        Answered::bad(format!("DFS165 {time} COMMAND {verb} KEYWORD {word} INVALID OR MISSING"))
    }

    fn set(&self, start: bool, rest: &[String], now: Moment) -> Answered {
        let verb = if start { "START" } else { "STOP" };
        let Some((word, names)) = rest.split_first() else {
            return self.wrong_keyword(verb, "", now);
        };
        match subject(word) {
            Some(Subject::Region) if start => return self.start_regions(names, now),
            Some(Subject::Region) => return self.stop_regions(names, now),
            Some(Subject::Database) if start => {
                let Some(may) = access_of(names) else {
                    return self.wrong_keyword(verb, "ACCESS", now);
                };
                let is_name = |word: &&String| !word.starts_with("ACCESS=");
                let names: Vec<String> = names.iter().filter(is_name).cloned().collect();
                return self.use_databases((verb, may), word, &names, now);
            }
            Some(Subject::Database) => {
                return self.use_databases((verb, DatabaseUse::Nothing), word, names, now);
            }
            _ => {}
        }
        if names.is_empty() {
            let time = text::time(now);
            return Answered::bad(format!("DFS121 {time} PARAMETER MISSING BEHIND {word}"));
        }
        let mut found = Vec::new();
        let bad = match subject(word) {
            Some(Subject::Transaction) => self.set_transactions(start, names, &mut found),
            Some(Subject::Program) => self.set_programs(start, names, &mut found),
            _ => return self.wrong_keyword(verb, word, now),
        };
        self.work.notify_all();
        let kind = match subject(word) {
            Some(Subject::Program) => ResourceKind::Program,
            _ => ResourceKind::Transaction,
        };
        if let Err(error) =
            self.repository.set_stopped(kind, &found, (!start).then_some(Stop::Whole))
        {
            // It is done, but not kept: an operator has to know.
            return Answered::bad(format!("{} {error}", base::Coded::code(&error)));
        }
        completed(verb, names.len(), &bad, now)
    }

    /// `/DBRECOVERY`, `/DBDUMP`
    fn close(&self, how: (&str, DatabaseUse), rest: &[String], now: Moment) -> Answered {
        let Some((word, names)) = rest.split_first() else {
            return self.wrong_keyword(how.0, "", now);
        };
        if subject(word) != Some(Subject::Database) {
            return self.wrong_keyword(how.0, word, now);
        }
        // There is one system that has the database.
        let is_name = |word: &&String| !matches!(word.as_str(), "GLOBAL" | "LOCAL" | "NOFEOV");
        let names: Vec<String> = names.iter().filter(is_name).cloned().collect();
        self.use_databases(how, word, &names, now)
    }

    /// Says what databases may be used for.
    fn use_databases(
        &self,
        (verb, may): (&str, DatabaseUse),
        word: &str,
        names: &[String],
        now: Moment,
    ) -> Answered {
        if names.is_empty() {
            let time = text::time(now);
            return Answered::bad(format!("DFS121 {time} PARAMETER MISSING BEHIND {word}"));
        }
        let mut found = Vec::new();
        let bad = self.set_databases(may, names, &mut found);
        let stop = match may {
            DatabaseUse::Updates => None,
            DatabaseUse::Reads => Some(Stop::Scheduling),
            DatabaseUse::Nothing => Some(Stop::Whole),
        };
        if may != DatabaseUse::Nothing {
            self.resume_all();
        }
        if let Err(error) = self.repository.set_stopped(ResourceKind::Database, &found, stop) {
            return Answered::bad(format!("{} {error}", base::Coded::code(&error)));
        }
        completed(verb, names.len(), &bad, now)
    }

    /// Transactions whose programs had a database missing are tried again.
    fn resume_all(&self) {
        let mut state = self.state.lock();
        let all = state.dispatch.transactions.iter_mut();
        let waiting = all.filter_map(|(name, one)| one.missing.take().map(|_| *name));
        let waiting: Vec<Name> = waiting.collect();
        waiting.into_iter().for_each(|name| self.touch(&mut state, name));
        drop(state);
        self.work.notify_all();
    }

    fn set_transactions(
        &self,
        start: bool,
        names: &[String],
        all_found: &mut Vec<Name>,
    ) -> Vec<String> {
        let mut bad = Vec::new();
        for mask in names {
            let mut state = self.state.lock();
            let all = state.dispatch.transactions.keys().copied();
            let found: Vec<Name> = all.filter(|name| fits(mask, *name)).collect();
            if found.is_empty() {
                bad.push(mask.clone());
            }
            all_found.extend(&found);
            for name in found {
                if let Some(one) = state.dispatch.transactions.get_mut(&name) {
                    (one.no_queuing, one.no_scheduling) = (!start, !start);
                    one.failures = 0;
                }
                self.touch(&mut state, name);
            }
        }
        bad
    }

    fn set_programs(
        &self,
        start: bool,
        names: &[String],
        all_found: &mut Vec<Name>,
    ) -> Vec<String> {
        let mut bad = Vec::new();
        for mask in names {
            let mut state = self.state.lock();
            let all = state.dispatch.programs.keys().copied();
            let found: Vec<Name> = all.filter(|name| fits(mask, *name)).collect();
            if found.is_empty() {
                bad.push(mask.clone());
            }
            all_found.extend(&found);
            for program in found {
                if let Some(one) = state.dispatch.programs.get_mut(&program) {
                    one.stopped = !start;
                    one.failures = 0;
                }
                for name in state.dispatch.transactions_of(program) {
                    self.touch(&mut state, name);
                }
            }
        }
        bad
    }

    /// What was stopped before the start stays so.
    pub(crate) fn stop_again(&self) {
        if armed(Failpoint::StopForgotten) {
            return;
        }
        let mut state = self.state.lock();
        for ((kind, name), stop) in self.repository.stopped() {
            let touched = match kind {
                ResourceKind::Transaction => {
                    if let Some(one) = state.dispatch.transactions.get_mut(&name) {
                        (one.no_queuing, one.no_scheduling) = (stop == Stop::Whole, true);
                    }
                    vec![name]
                }
                ResourceKind::Database => {
                    let closed = match stop {
                        Stop::Whole => DatabaseUse::Nothing,
                        Stop::Scheduling => DatabaseUse::Reads,
                    };
                    // One that is there no more is used by nobody.
                    let _ = self.system.set_database(&name.text(), closed);
                    Vec::new()
                }
                ResourceKind::Program => {
                    if let Some(one) = state.dispatch.programs.get_mut(&name) {
                        one.stopped = true;
                    }
                    state.dispatch.transactions_of(name)
                }
                ResourceKind::RoutingCode => Vec::new(),
            };
            touched.into_iter().for_each(|name| self.touch(&mut state, name));
        }
    }

    fn set_databases(
        &self,
        may: DatabaseUse,
        names: &[String],
        all_found: &mut Vec<Name>,
    ) -> Vec<String> {
        let mut bad = Vec::new();
        let known = self.system.databases();
        for mask in names {
            let of = known.iter().filter_map(|one| Name::new(&one.name));
            let found: Vec<Name> = of.filter(|name| fits(mask, *name)).collect();
            let set = |name: &Name| self.system.set_database(&name.text(), may).is_ok();
            let done: Vec<Name> = found.iter().copied().filter(set).collect();
            if done.is_empty() || done.len() < found.len() {
                bad.push(mask.clone());
            }
            all_found.extend(done);
        }
        bad
    }

    fn checkpoint(&self, rest: &[String], now: Moment) -> Answered {
        let (mut form, mut quiesce) = (Checkpoint::Simple, false);
        for word in rest {
            match word.as_str() {
                "SIMPLE" => form = Checkpoint::Simple,
                "FREEZE" => form = Checkpoint::Freeze,
                "DUMPQ" => form = Checkpoint::DumpQueues,
                "PURGE" => form = Checkpoint::Purge,
                "QUIESCE" => quiesce = true,
                other => return self.wrong_keyword("CHECKPOINT", other, now),
            }
        }
        match self.system.checkpoint(form, quiesce) {
            Ok(()) => {
                let line = format!("DFS058I {} CHECKPOINT COMMAND IN PROGRESS", text::time(now));
                Answered::good(vec![line])
            }
            Err(why) => Answered::bad(format!("DFS165 {} CHECKPOINT: {why}", text::time(now))),
        }
    }

    fn exited(&self, now: Moment) -> Answered {
        Answered::good(vec![format!("DFS058I {} EXIT COMMAND COMPLETED", text::time(now))])
    }

    fn no_conversation(&self, now: Moment) -> Answered {
        Answered::bad(format!("DFS577 {} TERMINAL NOT IN CONVERSATION", text::time(now)))
    }

    /// Begins to end a terminal's conversation, if it is his who asks and not in its program's
    /// hands: nobody goes on with it meanwhile.
    fn begin_exit(&self, terminal: Name, user: Option<Name>) -> bool {
        let user = user.filter(|_| self.has_users.load(SeqCst));
        let mut state = self.state.lock();
        let Some(one) = state.conversations.get_mut(&terminal) else { return false };
        let may = !one.busy && user.is_none_or(|user| one.is_of(user));
        one.busy |= may;
        may
    }

    fn exit_unit(&self, terminal: Name) -> Result<S::Unit, ControlError> {
        let mut unit = self.store.begin(UnitOptions::default())?;
        self.queues.drop_record(&mut unit, Kind::Conversation, terminal)?;
        Ok(unit)
    }

    /// The conversation has ended, durably; or it goes on, because that has failed.
    fn end_exit(&self, terminal: Name, now: Moment, done: Result<(), ControlError>) -> Answered {
        let mut state = self.state.lock();
        match done {
            Ok(()) => {
                state.conversations.remove(&terminal);
                self.exited(now)
            }
            Err(error) => {
                if let Some(one) = state.conversations.get_mut(&terminal) {
                    one.busy = false;
                }
                Answered::bad(error.to_string())
            }
        }
    }

    /// Ends a terminal's conversation for an operator, who may name another one's: /EXIT
    /// CONVERSATION, with a number or not, and LTERM NAME.
    fn exit_now(&self, terminal: Name, rest: &[String], now: Moment) -> Answered {
        let named = rest.iter().skip_while(|word| *word != "LTERM").nth(1);
        let Some(terminal) = named.map_or(Some(terminal), |name| Name::new(name)) else {
            return self.wrong_keyword("EXIT", "LTERM", now);
        };
        if !self.begin_exit(terminal, None) {
            return self.no_conversation(now);
        }
        let ended = self.exit_unit(terminal).and_then(|unit| Ok(unit.commit().map(drop)?));
        self.end_exit(terminal, now, ended)
    }

    /// Ends a terminal's conversation for who has it; `then` is told when that is durable.
    pub(crate) fn exit(
        self: &Arc<Inner<S>>,
        asks: &Envelope,
        then: impl FnOnce(Answered) + Send + 'static,
    ) {
        let now = Moment::now(&*self.clock);
        let terminal = asks.terminal;
        if !self.begin_exit(terminal, Some(asks.identity.user)) {
            then(self.no_conversation(now));
            return;
        }
        match self.exit_unit(terminal) {
            Ok(unit) => {
                let inner = Arc::clone(self);
                let done: Then = Box::new(move |outcome| {
                    then(inner.end_exit(terminal, now, outcome.map_err(ControlError::from)));
                });
                self.commits.queue(unit, done);
            }
            Err(error) => then(self.end_exit(terminal, now, Err(error))),
        }
    }

    /// A command that shows something.
    fn display(&self, rest: &[String], now: Moment) -> Answered {
        let Some((word, names)) = rest.split_first() else {
            return self.wrong_keyword("DISPLAY", "", now);
        };
        let (mut lines, bad) = match subject(word) {
            Some(Subject::Transaction) => self.show_transactions(names),
            Some(Subject::Program) => self.show_programs(names),
            Some(Subject::Database) => self.show_databases(names),
            Some(Subject::Active) => (self.show_active(), Vec::new()),
            Some(Subject::Queue) => (self.show_queues(), Vec::new()),
            Some(Subject::Conversation) => (self.show_conversations(), Vec::new()),
            Some(Subject::Status) => (self.show_status(), Vec::new()),
            Some(Subject::Pool) => (self.show_pools(), Vec::new()),
            _ => return self.wrong_keyword("DISPLAY", word, now),
        };
        let done = names.is_empty() || bad.len() < names.len();
        let time = text::time(now);
        lines.extend(bad.iter().map(|name| format!("DFS121 {time} PARAMETER {name} INVALID")));
        lines.push(format!("   {}", text::stamp(now)));
        Answered { lines, done }
    }
}

/// What a command has to say that was carried out for all names but some.
fn completed(verb: &str, names: usize, bad: &[String], now: Moment) -> Answered {
    let (done, time) = (bad.len() < names, text::time(now));
    let wrong = |name: &String| format!("DFS121 {time} PARAMETER {name} INVALID");
    let mut lines: Vec<String> = bad.iter().map(wrong).collect();
    if done {
        let except = if bad.is_empty() { "" } else { " EXCEPT AS SHOWN" };
        lines.push(format!("DFS058I {time} {verb} COMMAND COMPLETED{except}"));
    }
    Answered { lines, done }
}

/// What databases are started for; `None` if that is no access.
fn access_of(words: &[String]) -> Option<DatabaseUse> {
    let access = words.iter().find_map(|word| word.strip_prefix("ACCESS="));
    match access {
        None | Some("UP" | "EX") => Some(DatabaseUse::Updates),
        Some("RD" | "RO") => Some(DatabaseUse::Reads),
        Some(_) => None,
    }
}

/// Whether a name fits what was written behind a keyword.
pub(crate) fn fits(mask: &str, name: Name) -> bool {
    match mask.strip_suffix('*') {
        _ if mask == "ALL" => true,
        Some(front) => name.text().starts_with(front),
        None => name.text() == mask,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_masks_are_taken_as_they_are_written() {
        assert_eq!(words("/dis tran PART, dspinv."), ["DIS", "TRAN", "PART", "DSPINV"]);
        assert!(is_exit("/EXIT") && is_exit("/exi CONV 1") && !is_exit("/DIS A"));
        let part = Name(*b"PART    ");
        assert!(fits("ALL", part) && fits("PA*", part) && fits("PART", part));
        assert!(!fits("PAR", part));
    }
}
