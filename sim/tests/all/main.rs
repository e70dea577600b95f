//! Sweeps and swarms of the whole kernel in the simulator.

mod anchor;
mod archive;
mod backout;
mod care;
mod clusters;
mod dli_programs_survive_crashes;
mod emptied;
mod failpoints;
mod full;
mod media;
mod online;
mod operations;
mod plain;
mod protection;
mod recon;
mod recovery;
mod sweeps;
mod two_thousand_random_seeds_lose_nothing;
mod whole;
