//! What every command needs: the catalog, files, SYSPRINT.
//!
//! Invariants:
//! 1. Text of SYSPRINT is in the order in which things were done, also if something fails.

use std::io::Read as _;
use std::path::Path;

use store::Store;
use vsam::{Catalog, Definition, Entry};

use crate::machine::{Dd, Machine};
use crate::refusal::{ERROR, Refusal};
use crate::syntax::Value;
use crate::sysprint::Sysprint;

/// What a command answers: its condition code.
pub(crate) type Done = Result<u32, Refusal>;

/// What commands work with.
pub(crate) struct Session<'a, S: Store> {
    pub(crate) catalog: Catalog<S>,
    pub(crate) dds: &'a [Dd],
    pub(crate) machine: &'a mut dyn Machine,
    pub(crate) print: Sysprint<'a>,
}

impl<S: Store> Session<'_, S> {
    /// A message.
    pub(crate) fn say(&mut self, id: &'static str, text: impl Into<String>) {
        self.print.message(id, text);
    }

    /// Says why something was not done; answers the condition code.
    pub(crate) fn refuse(&mut self, refusal: &Refusal) -> u32 {
        self.print.message(refusal.id, refusal.text.clone());
        refusal.code
    }

    /// Says what was defined.
    pub(crate) fn note_defined(&mut self, entry: &Entry) {
        for (name, kind) in entry.components().into_iter().zip(["D", "I"]) {
            self.say("IDC0512I", format!("NAME GENERATED-({kind}) {name}"));
        }
        for volume in &volumes_of(entry) {
            self.say("IDC0508I", format!("DATA ALLOCATION STATUS FOR VOLUME {volume} IS 0"));
        }
    }

    /// Deletes the file of an entry that is not VSAM's.
    pub(crate) fn scratch(&mut self, entry: &Entry) -> Result<(), Refusal> {
        let Definition::NonVsam(attributes) = &entry.definition else { return Ok(()) };
        let Some(file) = &attributes.file else { return Ok(()) };
        let path = Path::new(file);
        if !self.machine.exists(path) {
            return Ok(());
        }
        self.machine.remove(path).map_err(|error| {
            Refusal::new(ERROR, "IDC3302I", format!("{file} COULD NOT BE DELETED: {error}"))
        })
    }

    /// The text of the file that a value names.
    pub(crate) fn source_of(&mut self, value: &Value) -> Result<String, Refusal> {
        let path = value.literal();
        let failed = |error: std::io::Error| Refusal::of_file(&path, &error);
        let mut bytes = Vec::new();
        let input = self.machine.read(Path::new(&path)).map_err(failed)?;
        input.take(SOURCE_BYTES_MAX).read_to_end(&mut bytes).map_err(failed)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The longest record description.
const SOURCE_BYTES_MAX: u64 = 4 << 20;

/// The volumes that a definition names.
pub(crate) fn volumes_of(entry: &Entry) -> Vec<String> {
    if let Some(cluster) = entry.cluster() {
        return cluster.remarks.volumes.clone();
    }
    entry.alternate_index().map(|index| index.remarks.volumes.clone()).unwrap_or_default()
}
