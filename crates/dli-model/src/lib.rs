//! DL/I as a plain tree in memory, written only from the facts; for tests.
