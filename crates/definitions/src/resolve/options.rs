//! Processing options reduced to what an organization allows, with a warning for each reduction.
//!
//! Invariants:
//! 1. The text that the PCB shows is never changed (facts, section 12 row 37).

use crate::codes;
use crate::finding::{Findings, Spot};
use crate::model::{Organization, ProcessingOptions};

pub(super) fn reduce(
    options: ProcessingOptions,
    organization: Organization,
    at: (Spot, &'static str),
    found: &mut Findings,
) -> ProcessingOptions {
    let mut options = options;
    if options.has('H') && organization != Organization::Dedb {
        let message = format!("PROCOPT={options}: H is for DEDB and has no effect here");
        found.warning(codes::REDUCED, at, message);
        options = without(options, "H");
    }
    match organization {
        Organization::Hidam | Organization::Phidam if options.has('L') && !options.has('S') => {
            // Section 12 row 40.
            let message = format!("PROCOPT={options} is taken as LS for {organization}");
            found
                .warning(codes::LOAD_SEQUENTIAL, at, message)
                .help("root keys must be loaded in ascending order");
            options.reduced_to("LS")
        }
        // Row 70: an index that is used as a database takes no inserts.
        Organization::Index | Organization::Psindex if options.allows('I') => {
            let kept = if options.has('A') { "GRD" } else { "" };
            let reduced = without(options, "AI");
            let letters = format!("{kept}{}", reduced.in_effect());
            let reduced = options.reduced_to(&letters);
            let message = format!(
                "PROCOPT={options}: an index takes no inserts, so it means {}",
                reduced.in_effect()
            );
            found.warning(codes::REDUCED, at, message);
            reduced
        }
        // Row 80: only reading forward and loading.
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

fn is_hsam(options: ProcessingOptions) -> bool {
    options.has('L') || options.in_effect().chars().all(|letter| "GSKP".contains(letter))
}

fn without(options: ProcessingOptions, letters: &str) -> ProcessingOptions {
    let kept: String =
        options.in_effect().chars().filter(|letter| !letters.contains(*letter)).collect();
    options.reduced_to(&kept)
}
