//! A data set by its files, its header, and as many of its intervals as can be read quickly.

use space::Definition;

use super::{Doctor, Health};
use crate::{Stopped, verify};

impl Doctor {
    /// How a data set is. What was not read is not called sound.
    pub(super) fn data_set(
        &self,
        stopped: &Stopped,
        definition: &Definition,
        orderly: bool,
    ) -> (Health, Vec<String>) {
        let (files, intervals) = stopped.files(definition);
        let first = self.dir.join(definition.file_name(0));
        if files.is_empty() {
            return (Health::Lost, vec![format!("{} is missing", first.display())]);
        }
        let unit = definition.unit_bytes() as u64;
        let mut notes = vec![format!("{intervals} intervals in {} files", files.len())];
        if let Some((path, len)) = files.iter().find(|(_, len)| !len.is_multiple_of(unit)) {
            // Behind the last whole interval nothing counts; whether one lacks takes reading all.
            notes.push(format!(
                "{} ends within an interval, after {len} bytes: verify tells whether one lacks",
                path.display()
            ));
        }
        if intervals <= space::ROOT.0 {
            return (Health::Lost, vec![format!("{} was cut to nothing", first.display())]);
        }
        if let Err(error) = verify::header_of(stopped, definition) {
            notes.push(format!("its header does not prove itself: {error}"));
            return (Health::Impaired, notes);
        }
        let health = match verify::sample_of(stopped, definition, intervals) {
            Ok(sample) => self.sampled(&sample, intervals, orderly, &mut notes),
            Err(error) => {
                notes.push(format!("its intervals could not be looked at: {error}"));
                Health::Unknown
            }
        };
        (health, notes)
    }

    fn sampled(
        &self,
        sample: &verify::Sample,
        intervals: u32,
        orderly: bool,
        notes: &mut Vec<String>,
    ) -> Health {
        let verify::Sample { looked, wrong, first } = sample;
        if let Some(first) = first {
            let what = format!("{wrong} of {looked} intervals do not prove themselves: {first}");
            // What is being written, or was torn by a crash, is whole again in a moment.
            let is_certain = orderly && self.diagnosis.in_use.is_none();
            notes.push(match is_certain {
                true => what,
                false => format!("{what}; that may be a write in flight: verify tells"),
            });
            return if is_certain { Health::Impaired } else { Health::Unknown };
        }
        if looked < &intervals {
            notes.push(format!(
                "{looked} of them were looked at and prove themselves; verify looks at all"
            ));
            return Health::Unknown;
        }
        Health::Sound
    }
}
