//! The section `[channels]`: how a started system meets other queue managers.

use std::path::PathBuf;

use serde::Deserialize;

use super::SystemConfig;
use super::door::{write_addresses, write_path};
use super::template::Text;

/// The section `[channels]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelSettings {
    /// Addresses at which partners are listened for; none: only this system connects.
    pub listen: Vec<String>,
    /// This system's certificate and those above it, in PEM; empty: only this machine is met.
    pub tls_certificate: PathBuf,
    /// The key of its first certificate, in PEM.
    pub tls_key: PathBuf,
    /// Who signs the certificates of partners, in PEM.
    pub tls_partners: PathBuf,
}

impl SystemConfig {
    /// What the layers above would take for granted.
    pub(super) fn check_channels(&self) -> Result<(), (&'static str, String)> {
        let channels = &self.channels;
        let given = [&channels.tls_certificate, &channels.tls_key, &channels.tls_partners];
        let count = given.iter().filter(|path| !path.as_os_str().is_empty()).count();
        if count != 0 && count != given.len() {
            let why = "a certificate, its key and the partners' roots go together".into();
            return Err(("tls_certificate", why));
        }
        Ok(())
    }
}

pub(super) fn write(text: &mut Text, channels: &ChannelSettings) {
    text.line("");
    text.line("# Messages to and from other queue managers, over message channels.");
    text.line("[channels]");
    write_addresses(text, "listen", &channels.listen, "such as \"127.0.0.1:1414\"");
    let certificate = &channels.tls_certificate;
    write_path(text, "tls_certificate", certificate, "PEM; without, only this machine is met");
    write_path(text, "tls_key", &channels.tls_key, "PEM");
    let partners = &channels.tls_partners;
    write_path(text, "tls_partners", partners, "PEM; who signs partners' certificates");
}
