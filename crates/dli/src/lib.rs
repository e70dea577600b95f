//! The DL/I call engine.
