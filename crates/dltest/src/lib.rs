//! Control statements of the DL/I test program, and its report.
