//! Whom a client believes, and what it shows.

use std::net::IpAddr;
use std::sync::Arc;

use rustls::ClientConfig;
use rustls::pki_types::ServerName;

use crate::error::TlsError;
use crate::pem::{authorities, certificates, key, no_pair, provider, setup};

/// Whom a client believes, and what it shows, in PEM.
#[derive(Clone, Copy)]
pub struct Trust<'a> {
    /// Who signs the certificates of servers.
    pub roots: &'a [u8],
    /// The client's own certificate with those above it, and its key.
    pub own: Option<(&'a [u8], &'a [u8])>,
}

impl Trust<'_> {
    /// What makes handshakes.
    ///
    /// # Errors
    /// If something of it is not PEM, is not what it should be, or does not belong together.
    pub fn connector(&self) -> Result<Arc<ClientConfig>, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|why| setup(&why))?
            .with_root_certificates(authorities(self.roots)?);
        let config = match self.own {
            None => builder.with_no_client_auth(),
            Some((chain, own)) => builder
                .with_client_auth_cert(certificates("certificate", chain)?, key(own)?)
                .map_err(|why| no_pair(&why))?,
        };
        Ok(Arc::new(config))
    }

    /// The name, or the address, that the server's certificate has to be for.
    ///
    /// # Errors
    /// If no certificate could be for it.
    pub fn server_name(host: &str) -> Result<ServerName<'static>, TlsError> {
        match host.parse::<IpAddr>() {
            Ok(address) => Ok(ServerName::from(address)),
            Err(_) => ServerName::try_from(host.to_owned())
                .map_err(|_| TlsError::ServerName(host.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &[u8] = include_bytes!("../../../doors/ims-connect/tests/certificates/ca.pem");
    const OWN: &[u8] = include_bytes!("../../../doors/ims-connect/tests/certificates/client.pem");
    const KEY: &[u8] = include_bytes!("../../../doors/ims-connect/tests/certificates/client.key");
    const OTHER_KEY: &[u8] =
        include_bytes!("../../../doors/ims-connect/tests/certificates/server.key");

    #[test]
    fn a_client_has_authorities_and_its_own_key_or_none() {
        assert!(Trust { roots: ROOT, own: None }.connector().is_ok());
        assert!(Trust { roots: ROOT, own: Some((OWN, KEY)) }.connector().is_ok());
        let wrong = Trust { roots: ROOT, own: Some((OWN, OTHER_KEY)) }.connector();
        assert!(matches!(wrong, Err(TlsError::Key(_))));
        assert!(Trust { roots: b"", own: None }.connector().is_err());
    }

    #[test]
    fn names_and_addresses_are_what_certificates_can_be_for() {
        assert!(Trust::server_name("example.com").is_ok());
        assert!(matches!(Trust::server_name("::1"), Ok(ServerName::IpAddress(_))));
        let wrong = TlsError::ServerName("no name".into());
        assert_eq!(Trust::server_name("no name"), Err(wrong));
    }
}
