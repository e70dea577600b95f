//! Scenarios with clients that people have.

mod qpid_proton_is_a_client;
