//! The proof of a system in use, while programs go on.
//!
//! Invariants:
//! 1. Nobody waits for it: it takes no lock of programs and no frame for what it reads, but for
//!    maps.
//! 2. What was being written when it was looked at is looked at again. What never proves itself
//!    although nothing is in flight is damage.
//! 3. Intervals are proven one by one: tag, place, freshness, contents. That trees as a whole are
//!    right is proven of a stopped system.

use std::sync::Arc;
use std::time::Duration;

use seal::KeyProvider;
use seam::Seam;
use serde::{Deserialize, Serialize};
use space::{DataSet, Definition};

use super::recovery_files::Site;
use super::{Finding, Phase, Verifier, VerifyReport, Watch, plain_finding};
use crate::protocol::{Refusal, Talk};
use crate::remedy::bring_back;
use crate::shadow::ShadowDisk;
use crate::status::paused_note;
use crate::verify::double_write::Area;
use crate::{System, SystemConfig};

/// What is to be proven of a system in use, and how.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct VerifyRequest {
    /// Only these data sets; none: everything.
    pub sets: Vec<String>,
    /// All data sets of these databases, too; for layers that know databases.
    pub databases: Vec<String>,
    /// The most bytes to read in a second; 0: no limit.
    pub bytes_per_second: u64,
}

/// Looks at what is written all the time, before something is called damaged.
const LOOKS: u32 = 5;
const PAUSE: Duration = Duration::from_millis(20);
/// What a look at small files may keep in memory.
const SHADOW_BYTES_MAX: u64 = 16 << 20;

impl System {
    /// Proves it while it is in use.
    ///
    /// # Errors
    /// A data set that there is not; if the kernel has stopped; if whoever asked is gone. What is
    /// damaged is in the report.
    pub fn verify(
        &self,
        request: &VerifyRequest,
        talk: &mut Talk<'_>,
    ) -> Result<VerifyReport, Refusal> {
        let mut refusal = None;
        let report = verify(self, request, &mut |Phase { object, done, total, unit }| {
            refusal = refusal.take().or(talk.progress(object, done, total, unit).err());
            refusal.is_none()
        })?;
        refusal.map_or(Ok(report), Err)
    }
}

fn verify(
    system: &System,
    request: &VerifyRequest,
    tell: &mut dyn FnMut(Phase<'_>) -> bool,
) -> Result<VerifyReport, Refusal> {
    let kernel = system.kernel();
    kernel.stop_switch().check().map_err(uow::UowError::from)?;
    let clock = &kernel.seam().clock;
    let begun = clock.monotonic();
    let mut verifier = Verifier::new(system.dir(), Some(Arc::clone(kernel)));
    verifier.report.in_use = true;
    verifier.report.system = system.config().system.to_string();
    verifier.report.keys = system.keys().list().len();
    let watch = &mut Watch::new(clock, request.bytes_per_second, tell);
    let site = Site::of_running(system);
    let of_recon = verifier.recon(&site);
    if request.sets.is_empty() {
        of_recon.into_iter().for_each(|(finding, _)| verifier.find(finding));
        verifier.small_files(system, watch);
        verifier.running_log(system, watch)?;
    }
    verifier.running_sets(system, request, watch)?;
    if request.sets.is_empty() {
        verifier.archives(&site, watch);
        verifier.image_copies(&site, watch);
    }
    let mut report = verifier.report;
    report.elapsed_ms = clock.monotonic().saturating_sub(begun).as_millis() as u64;
    Ok(report)
}

impl Verifier {
    fn small_files(&mut self, system: &System, watch: &mut Watch<'_>) {
        let file = |object| Phase { object, done: 0, total: 1, unit: "files" };
        watch.step(file("key file"), 0);
        if let Err(error) = system.keys().prove_file() {
            let path = system.keys().path().to_owned();
            let repair = vec![self.command("repair", &["--keys"])];
            self.of_error("key file", Some(path), &error, repair);
        }
        let disk = &*system.kernel().seam().disk;
        match SystemConfig::read(disk, system.dir()) {
            Ok(config) if config.system == system.config().system => {
                let bound = system.kernel().protection();
                let lowered = crate::bound::lowered(&bound, &config, system.dir());
                self.protection(Some(&bound), &lowered);
            }
            Ok(config) => {
                let what = format!("holdfast.toml is of system {}", config.system);
                self.find(plain_finding("configuration", what, "Put the right one back."));
            }
            Err(error) => {
                let path = system.dir().join(crate::CONFIG_FILE);
                self.of_error("configuration", Some(path), &error, Vec::new());
            }
        }
        watch.step(file("control file"), 0);
        self.often(system, &mut |verifier, look| verifier.running_control(look));
        watch.step(file("double-write area"), 0);
        self.often(system, &mut |verifier, look| verifier.running_area(look));
    }

    /// Looks at something that is written all the time until nothing is wrong, a few times.
    fn often(&mut self, system: &System, look: &mut dyn FnMut(&mut Verifier, &Look)) {
        let kernel = system.kernel();
        for turn in 1.. {
            kernel.settle_writes();
            let seam = kernel.seam();
            let disk = Arc::new(ShadowDisk::new(Arc::clone(&seam.disk), SHADOW_BYTES_MAX));
            let at = Look {
                seam: Seam { disk, ..seam.clone() },
                config: system.config().clone(),
                keys: Arc::clone(system.keys()) as Arc<dyn KeyProvider>,
                sets: kernel.all_sets().iter().map(|set| (*set.definition()).clone()).collect(),
            };
            let mut trial = Verifier::new(&self.dir, None);
            look(&mut trial, &at);
            if turn == LOOKS || trial.report.findings.is_empty() {
                self.report.double_write_intervals += trial.report.double_write_intervals;
                trial.report.findings.into_iter().for_each(|finding| self.find(finding));
                return;
            }
            seam.clock.sleep(PAUSE);
        }
    }

    fn running_control(&mut self, look: &Look) {
        let Look { seam, config, keys, .. } = look;
        for slot in 0..2 {
            let Err(error) = super::control_with_only(seam, &self.dir, config, keys, slot) else {
                continue;
            };
            self.control_slot(slot, &error);
        }
    }

    fn running_area(&mut self, look: &Look) {
        let Look { seam, config, keys, sets } = look;
        let path = self.dir.join("double-write");
        let definition = |id| sets.iter().find(|set: &&Definition| set.id == id).cloned();
        let area = Area { seam, config, keys, path: &path, orderly: true, definition: &definition };
        self.double_write(&area);
    }

    fn running_sets(
        &mut self,
        system: &System,
        request: &VerifyRequest,
        watch: &mut Watch<'_>,
    ) -> Result<(), Refusal> {
        let kernel = system.kernel();
        let (all, offline) = (kernel.all_sets(), kernel.offline_sets());
        let wanted =
            |name: &str| request.sets.is_empty() || request.sets.iter().any(|one| one == name);
        let known = |name: &String| {
            all.iter().any(|set| set.name() == name) || offline.iter().any(|set| set.name == *name)
        };
        if let Some(name) = request.sets.iter().find(|name| !known(name)) {
            return Err(uow::UowError::NoSuchSet { name: name.clone() }.into());
        }
        for definition in offline.iter().filter(|set| wanted(&set.name)) {
            self.offline(definition);
        }
        for set in all.iter().filter(|set| wanted(set.name())) {
            if watch.is_ended() {
                break;
            }
            let before = self.report.findings.len();
            paused_note(&set.definition()).into_iter().for_each(|paused| self.note(paused));
            self.misplaced(system, set);
            self.data_set(set, None, true, watch);
            if kernel.set(set.id()).is_none() {
                // Its files are gone, and rightly so.
                self.report.findings.truncate(before);
                self.note(format!("data set {} was recovered or dropped meanwhile", set.name()));
            }
        }
        Ok(())
    }

    /// Files that a data set has open and that nobody will find again.
    fn misplaced(&mut self, system: &System, set: &DataSet) {
        for path in set.misplaced_files() {
            let (kernel, state) = (system.kernel(), self.recon.as_ref());
            let repair = bring_back(system.dir(), kernel, state, set.name());
            let object = format!("data set {}", set.name());
            let what = "the file was removed or replaced".to_owned();
            let remedy = "Only the open system still has it: bring it back before it is stopped.";
            let finding = plain_finding(&object, what, remedy);
            self.find(Finding { file: Some(path), repair, ..finding });
        }
    }
}

/// What small files are looked at with: nothing is ever written through it.
struct Look {
    seam: Seam,
    config: SystemConfig,
    keys: Arc<dyn KeyProvider>,
    sets: Vec<Definition>,
}
