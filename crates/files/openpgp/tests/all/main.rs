//! Messages, keys and certificates, good and hostile.

mod certificates_of_x509;
mod clocks_that_differ;
mod common;
mod costs_of_hostile_input;
mod damaged_rings;
mod gnupg;
mod messages;
mod proven_to_the_end;
mod samples_of_the_rfc;
mod signatures_around_layers;
mod tampering;
