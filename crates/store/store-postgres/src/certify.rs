//! The conformance suite, for an operator against an engine of his own.
