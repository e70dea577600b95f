//! The image copies of a damaged system: what is left of those that RECON knows.

use std::path::PathBuf;

use recon::State;

use super::{Doctor, Health, NOTES_MAX, files};
use crate::verify;

impl Doctor {
    pub(super) fn image_copies(&mut self, state: &State) {
        let cut_off = verify::unfinished_copies(&*self.seam.disk, state);
        if !cut_off.is_empty() && self.diagnosis.in_use.is_none() {
            let left = |path: &PathBuf| {
                format!("{} is left over from one that was cut off: remove it", path.display())
            };
            let notes = cut_off.iter().map(left).take(NOTES_MAX).collect();
            self.part("image copies", Health::Sound, notes);
        }
        let away = recovery::folders_away(&*self.seam.disk, state);
        for copy in state.image_copies.values() {
            let mut notes = Vec::new();
            let mut folders = copy.files.iter().filter_map(|file| file.path.parent());
            let mount = folders.find(|folder| away.contains(*folder)).map(|folder| {
                let folder = folder.display();
                format!("Mount {folder}, which has no image copy; if those are gone for good: ")
            });
            let mount = mount.unwrap_or_default();
            for file in &copy.files {
                let found = files::look(&*self.seam.disk, &file.path);
                let path = file.path.display();
                match (found.bytes, found.what.as_str()) {
                    (0, _) => notes.push(format!("{path} is missing or empty")),
                    (bytes, "image copy") if bytes == copy.bytes => {}
                    (bytes, _) => {
                        let wanted = copy.bytes;
                        notes.push(format!("{path} has {bytes} bytes, not {wanted}, or is none"));
                    }
                }
            }
            let health = match notes.len() {
                0 => Health::Sound,
                bad if bad < copy.files.len() => Health::Impaired,
                _ => Health::Lost,
            };
            let number = copy.number.to_string();
            match health {
                Health::Impaired => {
                    let command = self.command("repair", &["--copy", &number]);
                    let what = format!("{mount}Have image copy {number} made whole again.");
                    self.step(what, command);
                }
                Health::Lost => {
                    let what = format!(
                        "{mount}Bring image copy {number} back, and say where it is; or have RECON \
                         forget it with --gone."
                    );
                    let words = ["--copy", &number, "--moved-to", "FOLDER"];
                    let command = self.command("recon change", &words);
                    self.step(what, command);
                }
                Health::Sound | Health::Unknown => {}
            }
            self.part(&format!("image copy {number}"), health, notes);
        }
    }
}
