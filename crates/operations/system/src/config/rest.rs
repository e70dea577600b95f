//! The section `[rest]`: where clients of REST come in, and who they have to be.

use std::path::PathBuf;

use queue_manager::MESSAGE_BYTES_MAX;
use serde::Deserialize;

use super::door::{DoorCertificates, write_addresses};
use super::template::{Text, amount, list, plain};
use super::{Bytes, SystemConfig};

/// The section `[rest]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RestSettings {
    /// Addresses at which clients are served without TLS.
    pub listen: Vec<String>,
    /// Addresses at which they are served with TLS.
    pub tls: Vec<String>,
    /// The certificates of TLS, in PEM; empty: those of `[online]`.
    pub tls_certificate: PathBuf,
    /// The key of its first certificate, in PEM.
    pub tls_key: PathBuf,
    /// Who signs the certificates by which clients may say who they are, in PEM.
    pub tls_clients: PathBuf,
    /// Users who may administer the queue manager.
    pub administrators: Vec<String>,
    /// Take passwords of other machines without TLS.
    pub clear_passwords: bool,
    /// The longest message that is taken.
    pub message_bytes_max: Bytes,
    /// Connections at a time, at each address.
    pub connections_max: u32,
}

impl Default for RestSettings {
    fn default() -> RestSettings {
        RestSettings {
            listen: Vec::new(),
            tls: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            tls_clients: PathBuf::new(),
            administrators: Vec::new(),
            clear_passwords: false,
            message_bytes_max: Bytes(MESSAGE_BYTES_MAX as u64),
            connections_max: 1_000,
        }
    }
}

impl RestSettings {
    /// Its certificates.
    #[must_use]
    pub fn certificates(&self) -> DoorCertificates<'_> {
        DoorCertificates {
            section: "rest",
            certificate: &self.tls_certificate,
            key: &self.tls_key,
            clients: &self.tls_clients,
        }
    }
}

impl SystemConfig {
    pub(super) fn check_rest(&self) -> Result<(), (&'static str, String)> {
        let rest = &self.rest;
        let online = &self.online.tls_certificate;
        rest.certificates().check_tls("REST", &rest.tls, online)?;
        let is_name = |name: &String| !name.is_empty() && name.len() <= 8;
        if !rest.administrators.iter().all(is_name) {
            return Err(("administrators", "a user has a name of up to 8 characters".into()));
        }
        if !(1..=MESSAGE_BYTES_MAX as u64).contains(&rest.message_bytes_max.0) {
            return Err(("message_bytes_max", "it is 1 B to 100 MiB".into()));
        }
        Ok(())
    }
}

pub(super) fn write(text: &mut Text, rest: &RestSettings) {
    let usual = RestSettings::default();
    text.line("");
    text.line("# Clients of REST over HTTP. Without an address there is no such door.");
    text.line("[rest]");
    write_addresses(text, "listen", &rest.listen, "such as \"127.0.0.1:9080\"");
    write_addresses(text, "tls", &rest.tls, "with TLS, such as \"0.0.0.0:9443\"");
    rest.certificates().write(text);
    let administrators = (&rest.administrators, &usual.administrators);
    text.set("administrators", administrators, list, "users who may administer");
    let clear = (&rest.clear_passwords, &usual.clear_passwords);
    text.set("clear_passwords", clear, plain, "true: passwords of others without TLS");
    let longest = (&rest.message_bytes_max, &usual.message_bytes_max);
    text.set("message_bytes_max", longest, amount, "of the longest message that is taken");
    let most = (&rest.connections_max, &usual.connections_max);
    text.set("connections_max", most, plain, "connections at a time, at each address");
}
