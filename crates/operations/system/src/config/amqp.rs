//! The section `[amqp]`: where clients of AMQP come in, and who they have to be.

use std::path::PathBuf;

use serde::Deserialize;

use super::SystemConfig;
use super::template::{Text, list, path, plain};

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

impl SystemConfig {
    pub(super) fn check_amqp(&self) -> Result<(), (&'static str, String)> {
        let amqp = &self.amqp;
        if amqp.tls_certificate.as_os_str().is_empty() != amqp.tls_key.as_os_str().is_empty() {
            return Err(("tls_certificate", "a certificate and its key go together".into()));
        }
        let certificates = [&amqp.tls_certificate, &self.online.tls_certificate];
        let certified = certificates.iter().any(|path| !path.as_os_str().is_empty());
        if !amqp.tls.is_empty() && !certified {
            let why = "AMQP with TLS needs a tls_certificate, here or in [online]";
            return Err(("tls", why.into()));
        }
        Ok(())
    }
}

pub(super) fn write(text: &mut Text, amqp: &AmqpSettings) {
    let usual = AmqpSettings::default();
    text.line("");
    text.line("# Clients of AMQP 1.0. Without an address there is no such door.");
    text.line("[amqp]");
    text.set("listen", (&amqp.listen, &usual.listen), list, "such as \"127.0.0.1:5672\"");
    text.set("tls", (&amqp.tls, &usual.tls), list, "with TLS, such as \"0.0.0.0:5671\"");
    let certificate = (&amqp.tls_certificate, &usual.tls_certificate);
    text.set("tls_certificate", certificate, path, "PEM; empty: those of [online]");
    text.set("tls_key", (&amqp.tls_key, &usual.tls_key), path, "PEM");
    let clients = (&amqp.tls_clients, &usual.tls_clients);
    text.set("tls_clients", clients, path, "PEM; a certificate of these stands for its user");
    let anonymous = (&amqp.anonymous, &usual.anonymous);
    text.set("anonymous", anonymous, plain, "true: others than this machine need no user");
    let most = (&amqp.connections_max, &usual.connections_max);
    text.set("connections_max", most, plain, "connections at a time");
}
