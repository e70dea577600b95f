//! The anchor of a damaged system: whether a start would be refused because of it.

use base::Coded;

use super::{Doctor, Health};
use crate::{Repair, Stopped};

impl Doctor {
    pub(super) fn anchor(&mut self, stopped: &Stopped) {
        let mut proven = stopped.prove_anchor();
        if self.diagnosis.in_use.is_some() && proven.is_err() {
            // It may just have been written, behind what was read of the control file.
            proven = stopped.prove_anchor();
        }
        match proven {
            Ok(None) => {}
            Ok(Some(path)) => {
                let notes = format!("{}: the system is as it says, or newer", path.display());
                self.part("anchor", Health::Sound, vec![notes]);
            }
            Err(error) => {
                self.part("anchor", Health::Lost, vec![error.with_code()]);
                let what = "Put the newest state of the system back, and the anchor's file: \
                            without it nothing proves that this is the newest state. Only if the \
                            anchor is gone for good, or what it has seen behind this state is \
                            given up for good, begin it anew with the system as it is.";
                let dir = self.dir.display().to_string();
                let words = ["holdfast", "restart", "--begin-anchor", &dir].map(str::to_owned);
                self.step(what, Some(Repair(words.into())));
            }
        }
    }
}
