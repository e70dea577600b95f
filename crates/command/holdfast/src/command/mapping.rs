//! The options that say how data is converted.

use std::path::PathBuf;

use clap::Args;
use operations::encoding::Mapping;

/// How data is converted.
#[derive(Args, Debug)]
pub(super) struct MappingArgs {
    /// Which record descriptions the segments have; left out: the map that the system keeps
    #[arg(long, value_name = "MAPFILE")]
    map: Option<PathBuf>,
    /// Convert zoned numbers that hold something else as characters, in place of refusing them
    #[arg(long)]
    pub(super) as_text: bool,
}

impl MappingArgs {
    /// Whether any of it was given.
    pub(super) fn is_given(&self) -> bool {
        self.map.is_some() || self.as_text
    }

    pub(super) fn mapping(&self) -> Mapping {
        Mapping { map: self.map.clone(), as_text: self.as_text }
    }
}
