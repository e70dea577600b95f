//! Branches of global transactions: which there are, and what becomes of one whose transaction
//! manager does not come back.
//!
//! 1. A branch is named as displays show it. What an operator has decided is kept until the
//!    transaction manager has heard of it.

use queue_manager::QueueManager;
use queue_manager::branch::{BranchId, BranchState, BranchStatus};
use queue_manager::name::matches_generic;
use store::Store;

use crate::command::Command;
use crate::display::Wanted;
use crate::error::SyntaxError;
use crate::failure::{CommandError, Done};
use crate::moment::if_any;
use crate::reply::{Field, MessageId, Reply};

const WORDS: &[&str] = &["THREAD", "TYPE", "STATUS", "USERID", "MSGS", "UOWSTDA", "UOWSTTI"];

fn not_found(name: &str) -> CommandError {
    CommandError::NotFound { what: "Thread", name: name.to_owned() }
}

/// `DISPLAY THREAD`.
pub(crate) fn display<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let of_type = command.keywords.word("TYPE", &["ACTIVE", "INDOUBT", "*"])?;
    let wanted = Wanted::read(&mut command.keywords)?;
    wanted.check(&command.title, |keyword| WORDS.contains(&keyword))?;
    let mut replies = Vec::new();
    for one in manager.branches() {
        let row = fields(&one);
        let of_branch = kind(one.state);
        let meant = matches_generic(&one.branch.to_string(), &name)
            && of_type.is_none_or(|wanted| wanted == "*" || wanted == of_branch);
        if meant && wanted.holds(&row) {
            let fields = wanted.select(row, 2, true);
            let text = "Display Thread details.";
            replies.push(Reply::new(MessageId::done(8276), text).with(fields));
        }
    }
    if replies.is_empty() { Err(not_found(&name)) } else { Ok(replies) }
}

fn kind(state: BranchState) -> &'static str {
    match state {
        BranchState::Active | BranchState::Idle => "ACTIVE",
        _ => "INDOUBT",
    }
}

fn fields(one: &BranchStatus) -> Vec<Field> {
    let status = match one.state {
        BranchState::Active => "ACTIVE",
        BranchState::Idle => "ENDED",
        BranchState::Prepared => "PREPARED",
        BranchState::DecidedCommit => "COMMITTED",
        BranchState::DecidedBackOut => "BACKEDOUT",
    };
    let (date, time) = if_any(Some(one.since_ms));
    vec![
        Field::new("THREAD", &one.branch),
        Field::new("TYPE", kind(one.state)),
        Field::new("STATUS", status),
        Field::new("USERID", &one.user),
        Field::new("MSGS", one.messages),
        Field::new("UOWSTDA", date),
        Field::new("UOWSTTI", time),
    ]
}

/// `RESOLVE INDOUBT`.
pub(crate) fn resolve<S: Store>(manager: &QueueManager<S>, mut command: Command) -> Done {
    let name = command.named()?.text.trim_end().to_owned();
    let action = command.keywords.word("ACTION", &["COMMIT", "BACKOUT"])?;
    command.keywords.end()?;
    let Some(action) = action else {
        let (command, end) = (command.title.clone(), command.keywords.end_of_text());
        return Err(SyntaxError::Missing { command, keyword: "ACTION", end }.into());
    };
    let branch = BranchId::parse(&name).ok_or_else(|| not_found(&name))?;
    let known = manager.branches().into_iter().any(|one| one.branch == branch);
    if !known {
        return Err(not_found(&name));
    }
    let decided = manager.decide_branch(&branch, action == "COMMIT");
    decided.map_err(|error| CommandError::Branch { branch: branch.to_string(), error })?;
    let text = if action == "COMMIT" { "committed" } else { "backed out" };
    let text = format!("Thread {branch} {text}.");
    Ok(vec![Reply::new(MessageId::done(8025), text)])
}
