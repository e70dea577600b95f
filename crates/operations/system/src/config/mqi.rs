//! The section `[mqi]`: where programs of the message queue interface on other machines come in.

use std::path::PathBuf;

use serde::Deserialize;

use super::SystemConfig;
use super::door::{DoorCertificates, write_addresses};
use super::template::{Text, plain};

/// The section `[mqi]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MqiSettings {
    /// Addresses at which programs are listened for; none: only those of this machine come in, by
    /// the socket.
    pub listen: Vec<String>,
    /// The certificates of TLS, in PEM; empty: those of `[online]`.
    pub tls_certificate: PathBuf,
    /// The key of its first certificate, in PEM.
    pub tls_key: PathBuf,
    /// Who signs the certificates by which programs may say who they are, in PEM.
    pub tls_clients: PathBuf,
    /// Connections at a time.
    pub connections_max: u32,
}

impl Default for MqiSettings {
    fn default() -> MqiSettings {
        MqiSettings {
            listen: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            tls_clients: PathBuf::new(),
            connections_max: 1_000,
        }
    }
}

impl MqiSettings {
    /// Its certificates.
    #[must_use]
    pub fn certificates(&self) -> DoorCertificates<'_> {
        DoorCertificates {
            section: "mqi",
            certificate: &self.tls_certificate,
            key: &self.tls_key,
            clients: &self.tls_clients,
        }
    }
}

impl SystemConfig {
    pub(super) fn check_mqi(&self) -> Result<(), (&'static str, String)> {
        self.mqi.certificates().check()
    }
}

pub(super) fn write(text: &mut Text, mqi: &MqiSettings) {
    let usual = MqiSettings::default();
    text.line("");
    text.line(
        "# Programs with libmqic_r.so, by channels of type SVRCONN. Without an address there is",
    );
    text.line("# no such door; without a certificate only this machine comes in.");
    text.line("[mqi]");
    write_addresses(text, "listen", &mqi.listen, "such as \"0.0.0.0:1415\"");
    mqi.certificates().write(text);
    let most = (&mqi.connections_max, &usual.connections_max);
    text.set("connections_max", most, plain, "connections at a time");
}
