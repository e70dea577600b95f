//! What `/DISPLAY` shows.

use otma::Name;
use queues::{Kind, QueueName};
use store::Store;

use crate::commands::fits;
use crate::dispatch::{RegionId, RegionState, Takes};
use crate::inner::{Inner, State};

type Shown = (Vec<String>, Vec<String>);

const ALL: &[String] = &[];

/// The names that were asked for: those that there are, and those that there are not.
fn select(asked: &[String], known: &[Name]) -> (Vec<Name>, Vec<String>) {
    if asked.is_empty() {
        return (known.to_vec(), Vec::new());
    }
    let is_asked = |name: &&Name| asked.iter().any(|mask| fits(mask, **name));
    let found = known.iter().filter(is_asked).copied().collect();
    let has_none = |mask: &&String| !known.iter().any(|name| fits(mask, *name));
    (found, asked.iter().filter(has_none).cloned().collect())
}

/// A limit as it is shown: 65535 is none.
fn limit(value: u16) -> String {
    if value == u16::MAX { "NONE".to_owned() } else { value.to_string() }
}

fn kind_of(region: &RegionState) -> &'static str {
    match region.takes {
        Takes::Classes => "TP",
        Takes::Batch => "BMP",
        Takes::Expedited(_) => "FP",
    }
}

fn show_region(id: RegionId, region: &RegionState, kind: &str) -> String {
    let (transaction, program) = region.runs.unwrap_or_else(|| match region.takes {
        Takes::Expedited(program) => (Name::BLANK, program),
        _ => Default::default(),
    });
    let status = match (region.stopped, region.waits, region.runs) {
        (true, _, _) => "TERMINATING",
        (_, true, _) => "WAIT-INPUT",
        (_, _, None) => "WAITING",
        _ => "",
    };
    // A batch message program without inputs is known by its step.
    let is_step = region.takes == Takes::Batch && transaction.is_blank();
    let what = if is_step { region.job.clone() } else { transaction.text() };
    let classes: Vec<String> = region.classes.iter().map(u16::to_string).collect();
    let line = format!(
        "   {:>5} {:8} {kind:4} {what:9} {program:8} {status:16} {}",
        id.0,
        region.job,
        classes.join(", "),
    );
    line.trim_end().to_owned()
}

impl<S: Store> Inner<S> {
    pub(crate) fn show_transactions(&self, asked: &[String]) -> Shown {
        let state = self.state.lock();
        let known: Vec<Name> = state.dispatch.transactions.keys().copied().collect();
        let (found, bad) = select(asked, &known);
        let mut lines = Vec::new();
        if !found.is_empty() {
            lines.push(
                "   TRAN     CLS ENQCT   QCT   LCT  PLCT CP NP LP SEGSZ SEGNO PARLM  RC".to_owned(),
            );
        }
        for name in found {
            lines.extend(self.show_transaction(&state, name));
        }
        (lines, bad)
    }

    fn show_transaction(&self, state: &State, name: Name) -> Vec<String> {
        let Some(one) = state.dispatch.transactions.get(&name) else { return Vec::new() };
        let of = &one.definition;
        let figures = self.queues.figures(QueueName::input(name));
        let waiting = figures.waiting;
        let raised = of.limit_count != u16::MAX && waiting >= u64::from(of.limit_count);
        let current = if raised { of.limit_priority } else { of.normal_priority };
        let mut lines = vec![
            format!(
                "   {name:8} {:>3} {:>5} {waiting:>5} {:>5} {:>5} {:>2} {:>2} {:>2} {:>5} {:>5} \
                 {:>5} {:>3}",
                of.class.0,
                one.enqueued,
                of.limit_count,
                of.process_limit,
                current.0,
                of.normal_priority.0,
                of.limit_priority.0,
                of.segment_bytes_max,
                of.segments_max,
                limit(of.parallel_limit),
                one.regions,
            ),
            format!("      PSBNAME: {}", of.program),
        ];
        let program = state.dispatch.programs.get(&of.program);
        let program_stopped = program.is_none_or(|program| program.stopped);
        let mut status = Vec::new();
        if one.no_queuing {
            status.push("STOP");
        } else if one.no_scheduling {
            status.push("USTOP");
        }
        if one.missing.is_some() {
            status.push("SUSPENDED");
        }
        if program_stopped {
            status.push("PSB STOPPED");
        }
        if !status.is_empty() {
            lines.push(format!("      STATUS: {}", status.join(", ")));
        }
        lines
    }

    pub(crate) fn show_programs(&self, asked: &[String]) -> Shown {
        let state = self.state.lock();
        let known: Vec<Name> = state.dispatch.programs.keys().copied().collect();
        let (found, bad) = select(asked, &known);
        let mut lines = Vec::new();
        if !found.is_empty() {
            lines.push("   PROGRAM  TRAN     TYPE".to_owned());
        }
        for name in found {
            let Some(one) = state.dispatch.programs.get(&name) else { continue };
            let kind = if one.definition.batch { "BMP" } else { "TP" };
            let status = if one.stopped { "   STOPPED" } else { "" };
            let mut transactions = state.dispatch.transactions_of(name);
            if transactions.is_empty() {
                transactions.push(Name::BLANK);
            }
            for (at, transaction) in transactions.iter().enumerate() {
                let shown = if at == 0 { name } else { Name::BLANK };
                lines.push(format!("   {shown:8} {transaction:8} {kind:4}{status}"));
            }
        }
        (lines, bad)
    }

    pub(crate) fn show_databases(&self, asked: &[String]) -> Shown {
        let states = self.system.databases();
        let known: Vec<Name> = states.iter().filter_map(|one| Name::new(&one.name)).collect();
        let (found, bad) = select(asked, &known);
        let mut lines = Vec::new();
        if !found.is_empty() {
            lines.push("   DATABASE  TYPE   TOTAL UNUSED  TOTAL UNUSED ACC CONDITIONS".to_owned());
        }
        let is_found = |name: &str| Name::new(name).is_some_and(|name| found.contains(&name));
        for one in states.iter().filter(|one| is_found(&one.name)) {
            let conditions = one.conditions.join(", ");
            let line = format!("   {:9} {:30} {:3} {conditions}", one.name, one.kind, one.access);
            lines.push(line.trim_end().to_owned());
        }
        (lines, bad)
    }

    pub(crate) fn show_active(&self) -> Vec<String> {
        let mut lines =
            vec!["   REGID JOBNAME  TYPE TRAN/STEP PROGRAM  STATUS           CLASS".to_owned()];
        let state = self.state.lock();
        let all = state.dispatch.regions.iter();
        let none = [("TP", "MSGRGN"), ("BMP", "BATCHREG"), ("FP", "FPRGN")];
        for (kind, name) in none {
            let of_kind = all.clone().filter(|(_, region)| kind_of(region) == kind);
            let shown: Vec<String> =
                of_kind.map(|(id, region)| show_region(*id, region, kind)).collect();
            if shown.is_empty() {
                lines.push(format!("         {name:8} {kind:4} NONE"));
            }
            lines.extend(shown);
        }
        lines
    }

    pub(crate) fn show_queues(&self) -> Vec<String> {
        let mut lines = vec!["   CLS  PRTY MSGCT TRAN     PSBNAME".to_owned()];
        let state = self.state.lock();
        for (queue, figures) in self.queues.all(Kind::Input) {
            let Some(one) = state.dispatch.transactions.get(&queue.name) else { continue };
            if figures.waiting == 0 {
                continue;
            }
            let of = &one.definition;
            lines.push(format!(
                "   {:>3} {:>5} {:>5} {:8} {}",
                of.class.0, of.normal_priority.0, figures.waiting, queue.name, of.program
            ));
        }
        drop(state);
        if lines.len() == 1 {
            lines.push("   NO MESSAGES QUEUED".to_owned());
        }
        lines
    }

    pub(crate) fn show_conversations(&self) -> Vec<String> {
        let mut lines = vec!["   TERMINAL TRAN     STATUS".to_owned()];
        let state = self.state.lock();
        for (terminal, one) in &state.conversations {
            let status = if one.busy { "SCHEDULED" } else { "ACTIVE" };
            lines.push(format!("   {terminal:8} {:8} {status}", one.transaction));
        }
        if state.conversations.is_empty() {
            lines.push("   NO CONVERSATIONS".to_owned());
        }
        lines
    }

    /// What is not as it usually is.
    /// The message queues' and all buffer pools' room, and what was done in it.
    pub(crate) fn show_pools(&self) -> Vec<String> {
        let (totals, limits) = (self.queues.totals(), self.queues.limits());
        let mut lines = vec![
            "   MESSAGE QUEUES    MESSAGES         LIMIT          BYTES".to_owned(),
            format!(
                "                 {:>12} {:>13} {:>14}",
                totals.messages, limits.messages_max, totals.bytes
            ),
        ];
        let pools = self.system.pools();
        if !pools.is_empty() {
            lines.push(
                "   BUFFER POOL          SIZE  BUFFERS     FREE        FOUND       READ    WRITTEN"
                    .to_owned(),
            );
        }
        lines.extend(pools.iter().map(|pool| {
            format!(
                "   {:16} {:>8} {:>8} {:>8} {:>12} {:>10} {:>10}",
                pool.name,
                pool.buffer_bytes,
                pool.buffers,
                pool.free,
                pool.found,
                pool.read,
                pool.written
            )
        }));
        lines
    }

    pub(crate) fn show_status(&self) -> Vec<String> {
        let (transactions, _) = self.show_transactions(ALL);
        let mut lines = vec!["   **TRANSACTION**".to_owned()];
        let mut name = String::new();
        for line in transactions {
            if line.contains("STATUS:") {
                lines.push(format!("   {name:8} {}", line.trim().trim_start_matches("STATUS: ")));
            } else if !line.starts_with("      ") {
                name = line.split_whitespace().next().unwrap_or_default().to_owned();
            }
        }
        lines.push("   **PROGRAM**".to_owned());
        let state = self.state.lock();
        let stopped = state.dispatch.programs.iter().filter(|(_, one)| one.stopped);
        lines.extend(stopped.map(|(name, _)| format!("   {name:8} STOPPED")));
        lines
    }
}
