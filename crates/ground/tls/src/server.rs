//! What a server shows, and whom it asks for a certificate.

use std::fmt;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::server::WebPkiClientVerifier;

use crate::error::TlsError;
use crate::pem::{authorities, certificates, key, no_pair, provider, setup};

/// The certificates of a server, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate and those above it.
    pub certificates: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// Who signs the certificates of clients; without, nobody is asked for one.
    pub client_roots: Option<Vec<u8>>,
    /// A client without a certificate is not let in.
    pub client_required: bool,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The key is not to be seen.
        f.debug_struct("Tls")
            .field("client_required", &self.client_required)
            .finish_non_exhaustive()
    }
}

impl Tls {
    /// What accepts handshakes; `protocols` are those that may be spoken over them, any if none.
    ///
    /// # Errors
    /// If something of it is not PEM, is not what it should be, or does not belong together.
    pub fn acceptor(&self, protocols: &[&[u8]]) -> Result<Arc<ServerConfig>, TlsError> {
        let chain = certificates("certificate", &self.certificates)?;
        let key = key(&self.key)?;
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|why| setup(&why))?;
        let builder = match &self.client_roots {
            None if self.client_required => {
                return Err(TlsError::Missing { what: "certificate of an authority" });
            }
            None => builder.with_no_client_auth(),
            Some(roots) => {
                let roots = authorities(roots)?;
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider());
                let verifier = match self.client_required {
                    true => verifier,
                    false => verifier.allow_unauthenticated(),
                };
                builder.with_client_cert_verifier(verifier.build().map_err(|why| setup(&why))?)
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|why| no_pair(&why))?;
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(Arc::new(config))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CERTIFICATE: &[u8] =
        include_bytes!("../../../doors/ims-connect/tests/certificates/server.pem");
    const KEY: &[u8] = include_bytes!("../../../doors/ims-connect/tests/certificates/server.key");
    const OTHER_KEY: &[u8] =
        include_bytes!("../../../doors/ims-connect/tests/certificates/client.key");
    const ROOT: &[u8] = include_bytes!("../../../doors/ims-connect/tests/certificates/ca.pem");

    fn tls(certificates: &[u8], key: &[u8], roots: Option<&[u8]>) -> Tls {
        let client_roots = roots.map(<[u8]>::to_vec);
        let client_required = client_roots.is_some();
        let (certificates, key) = (certificates.to_vec(), key.to_vec());
        Tls { certificates, key, client_roots, client_required }
    }

    #[test]
    fn what_belongs_together_accepts_handshakes() {
        for roots in [None, Some(ROOT)] {
            let config = tls(CERTIFICATE, KEY, roots).acceptor(&[b"http/1.1"]).unwrap();
            assert_eq!(config.alpn_protocols, [b"http/1.1"]);
        }
    }

    #[test]
    fn what_is_missing_damaged_or_of_another_is_named() {
        let why = |certificates, key, roots| {
            tls(certificates, key, roots).acceptor(&[]).expect_err("it cannot be used")
        };
        let none = TlsError::Missing { what: "certificate" };
        assert_eq!(why(b"", KEY, None), none);
        assert_eq!(why(CERTIFICATE, b"no key", None), TlsError::Missing { what: "key" });
        assert!(matches!(why(CERTIFICATE, OTHER_KEY, None), TlsError::Key(_)));
        let none = TlsError::Missing { what: "certificate of an authority" };
        assert_eq!(why(CERTIFICATE, KEY, Some(b"")), none);
        let cut = &CERTIFICATE[..CERTIFICATE.len() / 2];
        assert!(matches!(why(cut, KEY, None), TlsError::Pem { .. } | TlsError::Missing { .. }));
        let nobody = Tls { client_required: true, ..tls(CERTIFICATE, KEY, None) };
        assert_eq!(nobody.acceptor(&[]).unwrap_err(), none);
    }

    #[test]
    fn a_key_is_not_shown() {
        let shown = format!("{:?}", tls(CERTIFICATE, KEY, Some(ROOT)));
        assert_eq!(shown, "Tls { client_required: true, .. }");
    }
}
