//! What every subcommand is given.

use facility::Secrets;
use seam::Seam;

use crate::output::Output;

/// What every subcommand is given.
pub(crate) struct Context {
    /// Disk, clock, entropy.
    pub(crate) seam: Seam,
    /// Standard output.
    pub(crate) output: Output,
    /// Passphrases that came with the command line, or with its configuration.
    pub(crate) given: Secrets,
}
