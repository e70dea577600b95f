//! What the sections of doors have in common: addresses, and the certificates of TLS.
//!
//! 1. A certificate and its key go together.
//! 2. A door with TLS has certificates, its own or those of `[online]`.

use std::path::{Path, PathBuf};

use super::template::{Text, list, path};

/// The certificates that a section names, in PEM; empty paths stand for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DoorCertificates<'a> {
    /// The section's name.
    pub section: &'static str,
    /// The certificates of TLS; empty: those of `[online]`.
    pub certificate: &'a Path,
    /// The key of its first certificate.
    pub key: &'a Path,
    /// Who signs the certificates by which clients may say who they are.
    pub clients: &'a Path,
}

impl DoorCertificates<'_> {
    /// Names the setting that cannot be so, and says why.
    pub(super) fn check(self) -> Result<(), (&'static str, String)> {
        if self.certificate.as_os_str().is_empty() != self.key.as_os_str().is_empty() {
            return Err(("tls_certificate", "a certificate and its key go together".into()));
        }
        Ok(())
    }

    /// The same for a door that listens at `addresses` with TLS; `online` has other certificates.
    pub(super) fn check_tls(
        self,
        protocol: &str,
        addresses: &[String],
        online: &Path,
    ) -> Result<(), (&'static str, String)> {
        self.check()?;
        let certified = [self.certificate, online].iter().any(|path| !path.as_os_str().is_empty());
        if !addresses.is_empty() && !certified {
            let why = format!("{protocol} with TLS needs a tls_certificate, here or in [online]");
            return Err(("tls", why));
        }
        Ok(())
    }

    pub(super) fn write(self, text: &mut Text) {
        let online = "PEM; empty: those of [online]";
        write_path(text, "tls_certificate", self.certificate, online);
        write_path(text, "tls_key", self.key, "PEM");
        let user = "PEM; a certificate of these stands for its user";
        write_path(text, "tls_clients", self.clients, user);
    }
}

/// Writes a setting of a file, of which there is none by default.
pub(super) fn write_path(text: &mut Text, name: &str, file: &Path, meaning: &str) {
    text.set(name, (&file.to_owned(), &PathBuf::new()), path, meaning);
}

/// Writes a setting of addresses, of which there are none by default.
pub(super) fn write_addresses(text: &mut Text, name: &str, addresses: &[String], meaning: &str) {
    text.set(name, (&addresses.to_vec(), &Vec::new()), list, meaning);
}
