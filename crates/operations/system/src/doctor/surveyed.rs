//! A look at the control file, which says where the log begins, and at the log.

use super::{Doctor, Health, NOTES_MAX};
use crate::Repair;
use crate::verify;
use crate::{LogSurvey, Stopped};

impl Doctor {
    /// One slot of the control file proves itself; the other one may be damaged.
    pub(super) fn control_file(&mut self, stopped: &Stopped, orderly: bool) {
        let stop = if orderly { "in order" } else { "not in order, or it is in use" };
        let mut notes = vec![format!("the system was stopped {stop}")];
        let damaged = verify::damaged_slots(stopped);
        notes.extend(damaged.iter().map(|(slot, why)| format!("slot {slot} is damaged: {why}")));
        // A crash tears a slot that is being written.
        let sound = damaged.is_empty() || !orderly;
        self.part("control file", if sound { Health::Sound } else { Health::Impaired }, notes);
        if !sound {
            let command = self.command("repair", &["--control"]);
            self.step("One slot of the control file serves; have the other one written.", command);
        }
    }

    /// What the log says, and which of its copies lack something.
    pub(super) fn surveyed(&mut self, survey: &LogSurvey) {
        let mut notes = vec![format!(
            "{} groups with {} records from {} to {}; a start backs out {} units of work",
            survey.groups,
            survey.records,
            survey.control.needed_from,
            survey.end,
            survey.in_flight.len()
        )];
        let passed = survey.passed.iter().map(|(one, _)| one);
        let damages = survey.damages.iter().chain(passed);
        let lacking =
            damages.map(|one| format!("{}: {}: {}", one.number, one.path.display(), one.why));
        notes.extend(lacking.take(NOTES_MAX));
        let short = survey.short.iter();
        notes.extend(short.map(|(path, len)| format!("{} ends after {len} bytes", path.display())));
        let lost = survey.lost.iter();
        notes.extend(lost.map(|lost| format!("copy {} cannot be used: {}", lost.number, lost.why)));
        let whole = survey.damages.is_empty() && survey.short.is_empty();
        let sound = whole && survey.lost.is_empty() && survey.passed.is_empty();
        self.part("log", if sound { Health::Sound } else { Health::Impaired }, notes);
        for lost in &survey.lost {
            let what = format!(
                "See that {} is mounted, then have copy {} of the log brought back.",
                lost.path.display(),
                lost.number
            );
            self.step(what, self.command("log resync", &["--copy", &lost.number.to_string()]));
        }
        if !survey.passed.is_empty() {
            let what = "Groups of the log that no start needs are lost: no recovery reads across \
                        them. Make image copies of everything.";
            self.step(what, self.command("image-copy", &["--all", "--to", "FOLDER"]));
        }
        if !whole && survey.is_orderly() {
            let words = ["holdfast", "restart", &self.dir.display().to_string()].map(str::to_owned);
            let what = "One copy of the log lacks what the other one has: a start copies it.";
            self.step(what, Some(Repair(words.into())));
        }
    }
}
