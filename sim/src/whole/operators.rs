//! What operators order of a system in use, one thing after another, as chance has it.

use std::sync::Arc;
use std::time::Duration;

use recovery::{RecoveryError, Target};
use seam::Seam;
use seam::sim::{Fault, FaultKind, Rng, SimDisk, When};
use serde_json::{Value, json};
use system::System;
use system::operator::{Refusal, Request};

use super::office::{Office, is_full, names};
use super::{FRAMES, Lived, SETS, UNIT};
use crate::recovery::coded;

/// Asks a system for something.
pub(super) fn ask(system: &System, verb: &str, arguments: Value) -> Result<Value, Refusal> {
    system.operate(&Request { verb: verb.into(), arguments }, &mut |_| ())
}

/// Somebody at a console.
pub(super) struct Operator {
    pub(super) system: Arc<System>,
    pub(super) office: Arc<Office>,
    pub(super) disk: SimDisk,
    /// The device that fails now and then: never both of a log in one life.
    pub(super) device: &'static str,
    pub(super) seam: Seam,
    /// Whether the number of stripes changes, too.
    pub(super) restripes: bool,
    pub(super) rng: Rng,
}

impl Operator {
    /// Orders so many things.
    pub(super) fn work(mut self, orders: usize) -> Result<(), String> {
        for _ in 0..orders {
            let pause = self.rng.below(4_000);
            self.seam.clock.sleep(Duration::from_micros(pause));
            self.order()?;
        }
        Ok(())
    }

    /// Asks for something that may be refused for one of these reasons.
    fn want(&self, verb: &str, arguments: Value, reasons: &[&str]) -> Result<Value, String> {
        let begun = self.system.kernel().log().next_lsn();
        let order = format!("{verb} {arguments}");
        let answer = ask(&self.system, verb, arguments);
        let what = answer.as_ref().map_or_else(|no| no.code.clone(), ToString::to_string);
        self.office.tell(format!("{begun}: {order}: {what}"));
        match answer {
            Ok(answer) => Ok(answer),
            Err(refusal) if reasons.contains(&refusal.code.as_str()) => Ok(Value::Null),
            Err(Refusal { code, message, .. }) => Err(format!("{order}: {code} {message}")),
        }
    }

    fn some_set(&mut self) -> &'static str {
        SETS[self.rng.index(SETS.len())]
    }

    fn order(&mut self) -> Result<(), String> {
        let (system, office) = (Arc::clone(&self.system), Arc::clone(&self.office));
        match self.rng.below(20) {
            0 => self.want("archive now", json!({}), &[]).map(drop),
            // Somebody else may delete meanwhile what no recovery needs any more.
            1 => self.want("archive accumulate", json!({ "sets": names() }), &["HFZ005"]).map(drop),
            2 => {
                office.deleting();
                let deleted = self.want("archive delete", json!({}), &["HFZ010"])?;
                let deleted = deleted.get("deleted").and_then(Value::as_array);
                office.deleted(&system, deleted.map(Vec::len));
                Ok(())
            }
            3 | 4 => office.copy(&system, self.rng.one_in(2)),
            5 => office.forget_copy(&system),
            6 => self.lose_log_copy(),
            7 | 8 => self.bring_back(),
            9 | 10 => self.change_form(),
            11..=13 => self.change_pools(),
            14 => self.recover(),
            15 => system.kernel().checkpoint_now(false).map_err(coded),
            16 => office.proven(&system, false),
            17 if self.restripes => self.change_stripes(),
            _ => {
                let log = system.kernel().log();
                let lsn = log.next_lsn();
                log.wait_durable(lsn).map_err(coded)?;
                office.note_point(lsn);
                Ok(())
            }
        }
    }

    /// A device fails for a moment.
    fn lose_log_copy(&mut self) -> Result<(), String> {
        let copies = self.system.kernel().log().statistics().copies;
        if copies.iter().all(|copy| copy.living) {
            let when = When::Nth(1 + self.rng.below(4));
            let fault = self.disk.inject(Fault::new(FaultKind::WriteError, self.device).when(when));
            if let Some(before) = self.office.fault(Some(fault)) {
                self.disk.heal(before);
            }
        }
        Ok(())
    }

    fn bring_back(&mut self) -> Result<(), String> {
        if let Some(fault) = self.office.fault(None) {
            self.disk.heal(fault);
        }
        let back = self.want("log resync", json!({}), &["HFL020", "HFL021"])?;
        let came_back = back.as_array().map_or(0, Vec::len);
        self.office.count(Lived { came_back, ..Lived::default() });
        Ok(())
    }

    fn change_stripes(&mut self) -> Result<(), String> {
        let (before, known) = self.system.kernel().log().stripes();
        let stripes = self.rng.between(1, 3) as u8;
        // The second stripe may have folders of its own.
        let own = before == 1 && stripes == 2 && known.is_empty() && self.rng.one_in(2);
        let folders = if own { json!(["/more1", "/more2"]) } else { json!([]) };
        // A copy is being brought back or the log is too full, its device fails, somebody else was
        // faster.
        let reasons = ["HFL024", "HFL010", "HFL006"];
        let asked = json!({ "stripes": stripes, "folders": folders });
        self.want("log stripes", asked, &reasons).map(drop)
    }

    fn change_form(&mut self) -> Result<(), String> {
        let (set, no_wait) = (self.some_set(), self.rng.one_in(2));
        // It is plain, is being converted, or is being recovered.
        let reasons = ["HFY010", "HFU009", "HFU003"];
        let (verb, arguments) = match self.rng.below(5) {
            0 => ("rekey", json!({ "log": true })),
            1 => ("convert", json!({ "sets": [set], "plain": true, "no_wait": no_wait })),
            2 => ("convert", json!({ "sets": [set], "no_wait": no_wait })),
            _ => ("rekey", json!({ "sets": [set], "no_wait": no_wait })),
        };
        self.want(verb, arguments, &reasons).map(drop)
    }

    fn change_pools(&mut self) -> Result<(), String> {
        // One that is there, is not there, holds data sets, is the last, or is being used.
        let reasons = ["HFP008", "HFU020", "HFU021", "HFU022", "HFP007"];
        let (set, pool) = (self.some_set(), ["default", "hot"][self.rng.index(2)]);
        let (verb, arguments) = match self.rng.below(5) {
            0 => {
                let frames = self.rng.between(FRAMES - 20, FRAMES + 40);
                ("pool resize", json!({ "name": "default", "frames": frames }))
            }
            1 => ("pool add", json!({ "name": "hot", "unit": UNIT, "bytes": 60 * UNIT })),
            2 => ("pool delete", json!({ "name": "hot" })),
            _ => ("pool assign", json!({ "name": pool, "data_set": set })),
        };
        self.want(verb, arguments, &reasons).map(drop)
    }

    /// Recovers one data set or all of them to now, under the programs that use them.
    fn recover(&mut self) -> Result<(), String> {
        let one = vec![self.some_set().to_owned()];
        let names = if self.rng.one_in(2) { names() } else { one };
        let begun = self.system.kernel().log().next_lsn();
        let done = self.office.recover(&self.system, &names, Target::Now);
        let now = self.system.kernel().log().next_lsn();
        self.office.tell(format!("{begun} to {now}: recovery of {names:?}: {done:?}"));
        match done {
            Ok(()) => {
                self.office.count(Lived { recovered: 1, ..Lived::default() });
                Ok(())
            }
            Err(RecoveryError::InUse { .. } | RecoveryError::Replaced { .. }) => Ok(()),
            Err(error) if is_full(&error) => Ok(()),
            Err(error) => Err(format!("recovery of {names:?}: {}", coded(error))),
        }
    }
}
