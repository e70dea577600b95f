//! Commands about regions.
//!
//! | command | does |
//! |---|---|
//! | `/START REGION` name | starts one more region as the configuration has it under that name; without a name, one of the first kind |
//! | `/STOP REGION` numbers | they end after their present message |
//! | `/STOP REGION JOBNAME` name | the same by name |
//! | ... `ABDUMP` transaction | the program ends now, by an abend; with a transaction only if it processes that |
//! | ... `TRANSACTION` transaction | a program that waits for that one's inputs ends; the region stays |
//!
//! Invariants:
//! 1. What a program was doing that is ended so is backed out; its input is a failed one's.
//! 2. Who is not where the command says that he is, is left alone.

use std::sync::atomic::Ordering::SeqCst;

use otma::Name;
use schedule::Moment;
use store::Store;

use crate::commands::Answered;
use crate::dispatch::{RegionId, Takes};
use crate::inner::{Inner, State};
use crate::text;

/// How regions are to be stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// Behind the present message.
    AtEnd,
    /// Their programs, now; of that transaction if one is named.
    Now(Option<Name>),
    /// Their programs, if they wait for inputs of that transaction.
    Release(Name),
}

/// Which regions, and how.
struct Asked {
    regions: Vec<String>,
    by_job: bool,
    how: How,
}

/// What stands behind `REGION`.
fn asked(words: &[String]) -> Option<Asked> {
    let at = words.iter().position(|word| is_how(word)).unwrap_or(words.len());
    let (front, behind) = words.split_at(at);
    let name = behind.get(1).and_then(|name| Name::new(name));
    let how = match behind.first().map(String::as_str) {
        None => How::AtEnd,
        Some(word) if word.starts_with("TRA") => How::Release(name?),
        Some(_) => How::Now(name),
    };
    let by_job = front.first().is_some_and(|word| word == "JOBNAME");
    let regions = front[usize::from(by_job)..].to_vec();
    (!regions.is_empty() && behind.len() <= 2).then_some(Asked { regions, by_job, how })
}

fn is_how(word: &str) -> bool {
    matches!(word, "ABDUMP" | "TRAN" | "TRANSACTION" | "TRANS")
}

impl<S: Store> Inner<S> {
    /// `/START REGION`
    pub(crate) fn start_regions(&self, names: &[String], now: Moment) -> Answered {
        let blank = [String::new()];
        let names = if names.is_empty() { &blank[..] } else { names };
        let time = text::time(now);
        let mut lines = Vec::new();
        let mut done = false;
        for name in names {
            match self.system.start_region(name) {
                Ok(job) => {
                    done = true;
                    lines.push(format!("DFS551I {time} MESSAGE REGION {job} STARTED"));
                }
                Err(why) => lines.push(format!("DFS121 {time} PARAMETER {name} INVALID: {why}")),
            }
        }
        if done {
            lines.push(format!("DFS058I {time} START COMMAND COMPLETED"));
        }
        Answered { lines, done }
    }

    /// `/STOP REGION`
    pub(crate) fn stop_regions(&self, words: &[String], now: Moment) -> Answered {
        let time = text::time(now);
        let Some(asked) = asked(words) else {
            return Answered::bad(format!("DFS121 {time} PARAMETER MISSING BEHIND REGION"));
        };
        let mut lines = Vec::new();
        for word in &asked.regions {
            let stopped = self.stop_region(word, &asked);
            if let Err(why) = stopped {
                lines.push(format!("DFS121 {time} PARAMETER {word} INVALID: {why}"));
            }
        }
        self.work.notify_all();
        let done = lines.len() < asked.regions.len();
        if done {
            let except = if lines.is_empty() { "" } else { " EXCEPT AS SHOWN" };
            lines.push(format!("DFS058I {time} STOP COMMAND COMPLETED{except}"));
        }
        Answered { lines, done }
    }

    fn stop_region(&self, word: &str, asked: &Asked) -> Result<(), String> {
        let mut state = self.state.lock();
        let found = match asked.by_job {
            true => state.dispatch.regions.iter().find(|(_, one)| one.job == word),
            false => {
                let id = word.parse().ok().map(RegionId);
                id.and_then(|id| state.dispatch.regions.get_key_value(&id))
            }
        };
        let id = found.map(|(id, _)| *id).ok_or_else(|| "THERE IS NO SUCH REGION".to_owned())?;
        match asked.how {
            How::AtEnd => at_end(&mut state, id),
            How::Release(transaction) => release(&mut state, id, transaction),
            How::Now(transaction) => {
                let Some(region) = state.dispatch.regions.get_mut(&id) else { return Ok(()) };
                let runs = region.runs.ok_or_else(|| "NO PROGRAM RUNS THERE".to_owned())?;
                if transaction.is_some_and(|name| name != runs.0) {
                    return Err(format!("IT DOES NOT PROCESS THAT TRANSACTION, BUT {}", runs.0));
                }
                if region.takes == Takes::Batch {
                    // Its next call tells it.
                    region.is_ended.store(true, SeqCst);
                    return Ok(());
                }
                drop(state);
                self.system.end_program(id)
            }
        }
    }
}

fn at_end(state: &mut State, id: RegionId) -> Result<(), String> {
    let Some(region) = state.dispatch.regions.get_mut(&id) else { return Ok(()) };
    let gets_none = region.runs.is_none_or(|(transaction, _)| transaction.is_blank());
    if region.takes == Takes::Batch && gets_none {
        return Err("ITS PROGRAM GETS NO MESSAGES; ABDUMP ENDS IT".to_owned());
    }
    region.stopped = true;
    Ok(())
}

fn release(state: &mut State, id: RegionId, transaction: Name) -> Result<(), String> {
    let Some(region) = state.dispatch.regions.get_mut(&id) else { return Ok(()) };
    match region.runs {
        Some((runs, _)) if runs == transaction => {
            region.releases = true;
            Ok(())
        }
        _ => Err(format!("IT DOES NOT PROCESS TRANSACTION {transaction}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_stands_behind_region_says_which_ones_and_how() {
        let of = |text: &str| {
            let asked = asked(&words(text))?;
            Some((asked.regions.join("+"), asked.by_job, asked.how))
        };
        let part = Name(*b"PART    ");
        assert_eq!(of("1 2"), Some(("1+2".into(), false, How::AtEnd)));
        assert_eq!(of("JOBNAME MPP1"), Some(("MPP1".into(), true, How::AtEnd)));
        assert_eq!(of("1 ABDUMP PART"), Some(("1".into(), false, How::Now(Some(part)))));
        assert_eq!(of("1 ABDUMP"), Some(("1".into(), false, How::Now(None))));
        assert_eq!(of("3 TRANSACTION PART"), Some(("3".into(), false, How::Release(part))));
        for bad in ["JOBNAME", "ABDUMP PART", "3 TRANSACTION", "3 ABDUMP PART MORE"] {
            assert_eq!(of(bad), None, "{bad}");
        }
    }
}
