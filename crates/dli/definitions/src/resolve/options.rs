//! Processing options reduced to what an organization allows, with a warning for each reduction.
//!
//! Invariants:
//! 1. The text that the PCB shows is never changed (DLI-12.37).

use super::entries::IndexUse;
use super::view::View;
use crate::codes;
use crate::finding::{Findings, Spot};
use crate::model::{Organization, ProcessingOptions};

pub(super) fn reduce(
    options: ProcessingOptions,
    view: &View,
    index: &Option<IndexUse>,
    at: (Spot, &'static str),
    found: &mut Findings,
) -> ProcessingOptions {
    let (mut options, organization) = (options, view.organization);
    if options.has('H') && organization != Organization::Dedb {
        let message = format!("PROCOPT={options}: H is for DEDB and has no effect here");
        found.warning(codes::REDUCED, at, message);
        options = without(options, "H");
    }
    if let Some(index) = index {
        return of_index(options, index, at, found);
    }
    match organization {
        Organization::Hidam | Organization::Phidam if options.has('L') && !options.has('S') => {
            // DLI-12.40.
            let message = format!("PROCOPT={options} is taken as LS for {organization}");
            found
                .warning(codes::LOAD_SEQUENTIAL, at, message)
                .help("root keys must be loaded in ascending order");
            options.reduced_to("LS")
        }
        // DLI-12.80: only reading forward and loading.
        Organization::Hsam | Organization::Shsam if !is_hsam(options) => {
            let message = format!("PROCOPT={options}: {organization} can only be read (G) here");
            found
                .warning(codes::HSAM_OPTION, at, message)
                .help("load it with PROCOPT=L into an empty database");
            options.reduced_to("G")
        }
        _ => options,
    }
}

/// DLI-12.70: of an index that is used as a database.
fn of_index(
    options: ProcessingOptions,
    index: &IndexUse,
    at: (Spot, &'static str),
    found: &mut Findings,
) -> ProcessingOptions {
    let (allowed, why) = index.options();
    let given = options.in_effect();
    if given.chars().all(|letter| allowed.contains(letter)) {
        return options;
    }
    let asked = format!("{}{given}", if options.has('A') { "GRD" } else { "" });
    let letters: String = asked.chars().filter(|letter| allowed.contains(*letter)).collect();
    let mut reduced = options.reduced_to(&letters);
    if !["G", "R", "D", "K"].iter().any(|letter| letters.contains(letter)) {
        reduced = options.reduced_to(&format!("G{letters}"));
    }
    let message = format!("PROCOPT={options}: {why}, so it means {}", reduced.in_effect());
    found.warning(codes::REDUCED, at, message);
    reduced
}

fn is_hsam(options: ProcessingOptions) -> bool {
    options.has('L') || options.in_effect().chars().all(|letter| "GSKP".contains(letter))
}

fn without(options: ProcessingOptions, letters: &str) -> ProcessingOptions {
    let kept: String =
        options.in_effect().chars().filter(|letter| !letters.contains(*letter)).collect();
    options.reduced_to(&kept)
}
