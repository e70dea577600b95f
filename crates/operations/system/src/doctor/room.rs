//! Devices of a system that are full, and what frees them.

use super::{Doctor, Health};
use crate::room::{self, FullDevice};
use crate::{SystemConfig, places};

impl Doctor {
    /// Names each device that is full: there programs end, and what stands there cannot grow.
    pub(super) fn room(&mut self, config: &SystemConfig) {
        for device in room::full(&*self.seam.disk, config, &self.dir) {
            let FullDevice { folder, free_bytes, holds } = &device;
            let notes = format!(
                "it is full: {} KiB are left; it holds {}",
                free_bytes >> 10,
                holds.join(", ")
            );
            self.part(&format!("device of {}", folder.display()), Health::Impaired, vec![notes]);
            let step = self.freed_by(&device);
            self.step(step, None);
        }
    }

    /// What frees a device that is full. All of it works while it is.
    fn freed_by(&self, device: &FullDevice) -> String {
        let dir = self.dir.display();
        let mut ways = vec!["remove or move away what is not the system's".to_owned()];
        if device.holds.contains(&places::ARCHIVES) {
            ways.push(format!(
                "`holdfast archive delete -s {dir}` deletes archives that no recovery needs"
            ));
        }
        if device.holds.contains(&places::DATA_SETS) {
            ways.push(format!(
                "`holdfast db empty -s {dir} DB --yes` and `holdfast sets drop {dir} SET` give up \
                 data, and its space"
            ));
        }
        ways.push(format!(
            "image copies that stand there can be moved or removed: then say `holdfast recon \
             change -s {dir} --copy N` with --moved-to FOLDER or --gone"
        ));
        format!("Free the device of {}, or make it larger: {}.", device.folder.display(), {
            ways.join("; ")
        })
    }
}
