//! Tests of the libraries: programs in C, COBOL and JavaScript, and callers that break rules.
