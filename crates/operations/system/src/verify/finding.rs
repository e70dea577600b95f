//! What a proof finds, how it is told, and what repairs it.
//!
//! Invariants:
//! 1. A place is named once, however often it is met.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use archive::LogBegins;
use base::{CiNumber, Coded};
use seam::clock::Clock;
use serde::{Deserialize, Serialize};
use space::Definition;
use uow::Kernel;

use crate::bound::ProtectionStatus;
use crate::remedy::{Repair, is_recoverable, is_recoverable_in_use};

use super::audit::Away;
use super::data_set::SetReport;

/// Something that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which object: a data set, the log, a file.
    pub object: String,
    /// The file, if it is about one.
    pub file: Option<PathBuf>,
    /// Where in the file, in bytes.
    pub offset: Option<u64>,
    /// The control interval, if it is about one.
    pub interval: Option<u32>,
    /// What is wrong.
    pub what: String,
    /// What to do, in words.
    pub remedy: String,
    /// The commands that repair it, in their order; none if no command can.
    pub repair: Vec<Repair>,
}

/// How far a verification is.
#[derive(Clone, Copy, Debug)]
pub struct Phase<'a> {
    /// What is being looked at.
    pub object: &'a str,
    /// How much of it is done, in `unit`s.
    pub done: u64,
    /// How much there is; 0 if that is not known.
    pub total: u64,
    /// What is counted.
    pub unit: &'static str,
}

/// What a verification has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VerifyReport {
    /// The system.
    pub system: String,
    /// Whether it was in use meanwhile.
    pub in_use: bool,
    /// Whether it was stopped in order.
    pub orderly: bool,
    /// What is wrong; empty if all is well.
    pub findings: Vec<Finding>,
    /// What an operator should know besides.
    pub notes: Vec<String>,
    /// What the system's bytes must prove; `None` if the control file cannot be read.
    #[serde(default)]
    pub protection: Option<ProtectionStatus>,
    /// Keys in the key file.
    pub keys: usize,
    /// Groups of the log that were read on every copy.
    pub log_groups: u64,
    /// Records in them; 0 if groups only were proven.
    pub log_records: u64,
    /// Intervals in the double-write area that were proven.
    pub double_write_intervals: u64,
    /// Each data set.
    pub data_sets: Vec<SetReport>,
    /// Files of archives and accumulations that were read from front to back.
    pub archive_files: u64,
    /// Files of image copies that were.
    pub copy_files: u64,
    /// How long it took.
    pub elapsed_ms: u64,
}

/// Who watches a verification: is told how far it is, keeps its pace, and may end it.
pub(crate) struct Watch<'w> {
    tell: &'w mut dyn FnMut(Phase<'_>) -> bool,
    clock: Arc<dyn Clock>,
    /// Bytes to read in a second at most; 0: no limit.
    rate: u64,
    begun: Duration,
    bytes: u64,
    ended: bool,
}

/// The longest sleep in one go: somebody may want to end it.
const SLEEP_MAX: Duration = Duration::from_millis(100);

impl<'w> Watch<'w> {
    pub(crate) fn new(
        clock: &Arc<dyn Clock>,
        rate: u64,
        tell: &'w mut dyn FnMut(Phase<'_>) -> bool,
    ) -> Watch<'w> {
        let begun = clock.monotonic();
        Watch { tell, clock: Arc::clone(clock), rate, begun, bytes: 0, ended: false }
    }

    /// Says how far it is and that `bytes` were read since the last time; waits if that was too
    /// fast. `false`: it is to end.
    pub(crate) fn step(&mut self, phase: Phase<'_>, bytes: u64) -> bool {
        self.ended |= !(self.tell)(phase);
        self.bytes += bytes;
        while self.rate > 0 && !self.ended {
            let due = (u128::from(self.bytes) * 1_000_000 / u128::from(self.rate)) as u64;
            let gone = self.clock.monotonic().saturating_sub(self.begun);
            let wait = Duration::from_micros(due).saturating_sub(gone);
            if wait.is_zero() {
                break;
            }
            self.clock.sleep(wait.min(SLEEP_MAX));
            self.ended |= !(self.tell)(phase);
        }
        !self.ended
    }

    /// Whether it was ended.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended
    }
}

/// Gathers findings, each place once (1).
pub(crate) struct Verifier {
    pub(crate) report: VerifyReport,
    pub(crate) dir: PathBuf,
    /// The kernel of a system in use: it may have good versions of what is damaged on disk.
    pub(crate) kernel: Option<Arc<Kernel>>,
    /// What RECON says, as far as it can be read.
    pub(crate) recon: Option<recon::State>,
    /// Where the log of a stopped system begins.
    pub(crate) log_begins: Option<LogBegins>,
    /// Folders of image copies that are not mounted.
    pub(crate) copies_away: Away,
    seen: BTreeSet<(Option<PathBuf>, Option<u64>, String)>,
}

/// What of a data set is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hurt {
    /// One of its intervals.
    Interval(CiNumber),
    /// A file, so that it cannot be opened.
    File,
    /// The system was started without it.
    Offline,
}

impl Verifier {
    pub(crate) fn new(dir: &Path, kernel: Option<Arc<Kernel>>) -> Verifier {
        Verifier {
            report: VerifyReport::default(),
            dir: dir.to_owned(),
            kernel,
            recon: None,
            log_begins: None,
            copies_away: Away::new(),
            seen: BTreeSet::new(),
        }
    }

    pub(crate) fn find(&mut self, finding: Finding) {
        // A damaged interval is met by its tag, by restart and by the tree: it is named once.
        let what = if finding.offset.is_some() { String::new() } else { finding.what.clone() };
        if self.seen.insert((finding.file.clone(), finding.offset, what)) {
            self.report.findings.push(finding);
        }
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.report.notes.push(text.into());
    }

    pub(crate) fn of_error(
        &mut self,
        object: &str,
        file: Option<PathBuf>,
        error: &dyn Coded,
        repair: Vec<Repair>,
    ) {
        self.find(Finding {
            object: object.to_owned(),
            file,
            offset: None,
            interval: None,
            what: error.with_code(),
            remedy: error.remedy(),
            repair,
        });
    }

    /// `holdfast VERB -s DIR WORDS...` for this system.
    pub(crate) fn command(&self, verb: &str, words: &[&str]) -> Repair {
        Repair::of(verb, &self.dir, words)
    }

    /// A damaged interval, by name and place.
    pub(crate) fn interval(
        &mut self,
        definition: &Definition,
        ci: CiNumber,
        what: impl Into<String>,
    ) {
        let (file, offset) = place(&self.dir, definition, ci);
        let (remedy, repair) = self.repairing(definition, Hurt::Interval(ci));
        self.find(Finding {
            object: format!("data set {}", definition.name),
            file: Some(file),
            offset: Some(offset),
            interval: Some(ci.0),
            what: what.into(),
            remedy,
            repair,
        });
    }

    /// A data set that waits for its recovery.
    pub(crate) fn offline(&mut self, definition: &Definition) {
        let (remedy, repair) = self.repairing(definition, Hurt::Offline);
        let object = format!("data set {}", definition.name);
        let what = "it is offline: it was damaged, and waits for its recovery".to_owned();
        self.find(Finding { repair, ..plain_finding(&object, what, &remedy) });
    }

    /// What repairs a data set.
    pub(crate) fn repairing(&self, definition: &Definition, what: Hurt) -> (String, Vec<Repair>) {
        let name = &definition.name;
        let ci = if let Hurt::Interval(ci) = what { Some(ci) } else { None };
        let kernel = self.kernel.as_ref();
        let mendable = kernel.zip(ci).and_then(|(kernel, ci)| {
            kernel.mendable(&*kernel.set(definition.id)?, ci).ok().flatten()
        });
        if let (Some(_), Some(ci)) = (mendable, ci) {
            let command = self.command("repair", &["--set", name, "--interval", &ci.0.to_string()]);
            let remedy = "The system still has the interval, in memory or in its double-write \
                          area: have it written again.";
            return (remedy.into(), vec![command]);
        }
        if self.is_copied(name) {
            let remedy = format!("Recover {name} from image copies and the log.");
            return (remedy, vec![self.command("recover", &["--set", name])]);
        }
        let none = format!("There is no image copy of {name} that can be used");
        // What is damaged of the maps, or is not there, is in the way of every start.
        let starts = match what {
            Hurt::Interval(ci) => ci.0 >= space::ROOT.0,
            Hurt::File => false,
            Hurt::Offline => true,
        };
        if let Some(database) = self.database_of_index(name).filter(|_| starts) {
            let remedy = format!("{none}: stop the system, and build index {name} of {database}.");
            return (remedy, vec![self.command("index build", &[database, name])]);
        }
        let recreated = self.recreated(name);
        let mut remedy =
            format!("{none}: `holdfast recon rebuild` may find one; otherwise {recreated}.");
        if !starts {
            remedy += &format!(
                " If it keeps the system from starting, `holdfast restart DIR --without {name} \
                 --yes` starts it without."
            );
        }
        (remedy, Vec::new())
    }

    /// What is done for a data set that nothing brings back.
    fn recreated(&self, name: &str) -> String {
        let dropped = format!("`holdfast sets drop DIR {name} --yes`");
        let database = name.split('.').next().unwrap_or_default();
        let is_known = |state: &recon::State| state.databases.contains_key(database);
        match name {
            // What the layers above keep in data sets of their own.
            "HOLDFAST.DEFINITIONS" => {
                format!("{dropped}, and compile all sources with `holdfast gen`")
            }
            "HOLDFAST.DATABASES" => format!("{dropped}, build all indexes, and verify databases"),
            "$SEQUENCES" => "unload the databases, and load them into a new system".to_owned(),
            // What connects logical children with their parents is made anew by a load.
            _ if name.matches('.').count() > 1 => {
                format!("{dropped}; then unload {database}, empty it and load it anew")
            }
            _ if self.recon.as_ref().is_some_and(is_known) => {
                format!("`holdfast db empty {database} --yes`, and load it anew")
            }
            _ => "load it anew".to_owned(),
        }
    }

    /// The database that a data set is an index of, as RECON knows it: of the data sets of a
    /// database only indexes have names of their own, without a point.
    fn database_of_index(&self, name: &str) -> Option<&str> {
        let of = |database: &&recon::Database| {
            database.name != name && database.sets.iter().any(|set| set == name)
        };
        let database = self.recon.as_ref()?.databases.values().find(of)?;
        (!name.contains('.')).then_some(&database.name)
    }

    /// A stopped system may not start with any of several damaged data sets: they are recovered by
    /// one command.
    pub(crate) fn join_recoveries(&mut self) {
        let verb = |command: &Repair| command.0.get(1).is_some_and(|verb| verb == "recover");
        let all = self.report.findings.iter().flat_map(|finding| &finding.repair);
        let mut sets: Vec<String> =
            all.filter(|one| verb(one)).flat_map(|one| one.0.iter().skip(5).cloned()).collect();
        sets.sort();
        sets.dedup();
        let words: Vec<&str> = sets.iter().flat_map(|name| ["--set", name]).collect();
        let joint = self.command("recover", &words);
        for finding in &mut self.report.findings {
            finding.repair.iter_mut().filter(|one| verb(one)).for_each(|one| *one = joint.clone());
        }
    }

    /// Whether RECON knows from what a data set can be recovered.
    fn is_copied(&self, name: &str) -> bool {
        let Some(state) = &self.recon else { return false };
        match &self.kernel {
            Some(kernel) => is_recoverable_in_use(kernel, state, name),
            None => is_recoverable(state, self.log_begins, name),
        }
    }
}

/// The file of an interval, and where in it.
pub(crate) fn place(home: &Path, definition: &Definition, ci: CiNumber) -> (PathBuf, u64) {
    let unit = definition.unit_bytes() as u64;
    let (file, at) = match definition.file_intervals {
        0 => (0, ci.0),
        per_file => (ci.0 / per_file, ci.0 % per_file),
    };
    (home.join(definition.file_name(file)), u64::from(at) * unit)
}

pub(crate) fn plain_finding(object: &str, what: String, remedy: &str) -> Finding {
    Finding {
        object: object.into(),
        file: None,
        offset: None,
        interval: None,
        what,
        remedy: remedy.into(),
        repair: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_written_as_a_shell_takes_it() {
        let plain = Repair::of("recover", Path::new("/srv/bank"), &["--set", "CUSTDB.A"]);
        assert_eq!(plain.to_string(), "holdfast recover -s /srv/bank --set CUSTDB.A");
        let odd = Repair::of("archive verify", Path::new("/a b/it's"), &["--repair", "$X"]);
        assert_eq!(odd.to_string(), "holdfast archive verify -s '/a b/it'\\''s' --repair '$X'");
    }
}
