//! The handler over clusters of a store in memory: requests as programs make them.

mod clusters;
mod hostile;
mod machine;
mod program;
