//! The section `[mqi]`: where programs of the message queue interface on other machines come in.

use std::path::PathBuf;

use serde::Deserialize;

use super::SystemConfig;
use super::template::{Text, list, path, plain};

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

impl SystemConfig {
    pub(super) fn check_mqi(&self) -> Result<(), (&'static str, String)> {
        let mqi = &self.mqi;
        if mqi.tls_certificate.as_os_str().is_empty() != mqi.tls_key.as_os_str().is_empty() {
            return Err(("tls_certificate", "a certificate and its key go together".into()));
        }
        Ok(())
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
    text.set("listen", (&mqi.listen, &usual.listen), list, "such as \"0.0.0.0:1415\"");
    let certificate = (&mqi.tls_certificate, &usual.tls_certificate);
    text.set("tls_certificate", certificate, path, "PEM; empty: those of [online]");
    text.set("tls_key", (&mqi.tls_key, &usual.tls_key), path, "PEM");
    let clients = (&mqi.tls_clients, &usual.tls_clients);
    text.set("tls_clients", clients, path, "PEM; a certificate of these stands for its user");
    let most = (&mqi.connections_max, &usual.connections_max);
    text.set("connections_max", most, plain, "connections at a time");
}
