//! A PSB by itself.

use crate::codes;
use crate::finding::{Findings, Spot, nth};
use crate::model::{Pcb, PcbKind, Psb};

pub(super) fn check(psb: &Psb, found: &mut Findings) {
    let mut latest = 0;
    for (at, pcb) in psb.pcbs.iter().enumerate() {
        let rank = rank(pcb);
        if rank < latest {
            // DLI-4: programs rely on the order, which stays as it is written.
            let message = "PCBs stand in the order TP, DB, GSAM; the program gets them as written";
            found.warning(codes::PCB_ORDER, (Spot::Pcb(nth(at)), "TYPE"), message);
        }
        latest = latest.max(rank);
        let PcbKind::Database(database) = &pcb.kind else { continue };
        if database.segments.is_empty() {
            let message = format!("the PCB for {} has no SENSEG", database.dbd);
            found.error(codes::NO_SENSEG, (Spot::Pcb(nth(at)), ""), message);
        }
        if database.options.has('K') {
            let message = "PROCOPT=K is for a SENSEG, not for a PCB";
            found.error(codes::BAD_OPTIONS, (Spot::Pcb(nth(at)), "PROCOPT"), message);
        }
    }
}

fn rank(pcb: &Pcb) -> u8 {
    match pcb.kind {
        PcbKind::Terminal(_) => 0,
        PcbKind::Database(_) => 1,
        PcbKind::Gsam(_) => 2,
    }
}
