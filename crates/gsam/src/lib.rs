//! Sequential files as GSAM gives them to programs.
