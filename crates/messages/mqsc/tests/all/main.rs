//! Scenarios of commands over a queue manager, and what no text may do.
