//! x
pub struct Options; pub struct Server; pub struct Counters; pub struct Error;
