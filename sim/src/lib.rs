//! The proof of the kernel by simulation (K1, K20).

// A failure says all there is to say, once, and ends the run.
#![allow(clippy::result_large_err)]

pub mod ahead;
pub mod anchor;
pub mod archive;
pub mod backout;
pub mod care;
pub mod clusters;
pub mod copied;
pub mod cramped;
pub mod cut;
pub mod dli;
pub mod emptied;
pub mod failpoints;
pub mod forms;
pub mod full;
pub mod given_up;
pub mod history;
pub mod homes;
pub mod joined;
pub mod kept;
pub mod machine;
pub mod media;
pub mod online;
pub mod operations;
pub mod parallel;
pub mod passed;
pub mod phantoms;
pub mod points;
pub mod protection;
pub mod recon;
pub mod recovery;
pub mod replaced;
pub mod restored;
pub mod scenario;
pub mod sequel;
pub mod swarm;
pub mod sweep;
pub mod verify;
pub mod whole;
pub mod world;
