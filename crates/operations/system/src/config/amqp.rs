//! The section `[amqp]`: where clients of AMQP come in, and who they have to be.

use std::path::PathBuf;

use serde::Deserialize;

use super::SystemConfig;
use super::door::{DoorCertificates, write_addresses};
use super::template::{Text, plain};

/// The section `[amqp]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AmqpSettings {
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
    /// Serve clients that name no user also at addresses that other machines reach.
    pub anonymous: bool,
    /// Connections at a time.
    pub connections_max: u32,
}

impl Default for AmqpSettings {
    fn default() -> AmqpSettings {
        AmqpSettings {
            listen: Vec::new(),
            tls: Vec::new(),
            tls_certificate: PathBuf::new(),
            tls_key: PathBuf::new(),
            tls_clients: PathBuf::new(),
            anonymous: false,
            connections_max: 1_000,
        }
    }
}

impl AmqpSettings {
    /// Its certificates.
    #[must_use]
    pub fn certificates(&self) -> DoorCertificates<'_> {
        DoorCertificates {
            section: "amqp",
            certificate: &self.tls_certificate,
            key: &self.tls_key,
            clients: &self.tls_clients,
        }
    }
}

impl SystemConfig {
    pub(super) fn check_amqp(&self) -> Result<(), (&'static str, String)> {
        let (amqp, online) = (&self.amqp, &self.online.tls_certificate);
        amqp.certificates().check_tls("AMQP", &amqp.tls, online)
    }
}

pub(super) fn write(text: &mut Text, amqp: &AmqpSettings) {
    let usual = AmqpSettings::default();
    text.line("");
    text.line("# Clients of AMQP 1.0. Without an address there is no such door.");
    text.line("[amqp]");
    write_addresses(text, "listen", &amqp.listen, "such as \"127.0.0.1:5672\"");
    write_addresses(text, "tls", &amqp.tls, "with TLS, such as \"0.0.0.0:5671\"");
    amqp.certificates().write(text);
    let anonymous = (&amqp.anonymous, &usual.anonymous);
    text.set("anonymous", anonymous, plain, "true: others than this machine need no user");
    let most = (&amqp.connections_max, &usual.connections_max);
    text.set("connections_max", most, plain, "connections at a time");
}
