//! Certificates: what accepts handshakes, and whom a client's certificate names.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::error::Error;

/// Certificates and keys, in PEM.
#[derive(Clone)]
pub struct Tls {
    /// The chain of the server.
    pub certificates: Vec<u8>,
    /// The key of its first certificate.
    pub key: Vec<u8>,
    /// Who signs the certificates of clients, which may come with one then.
    pub client_roots: Option<Vec<u8>>,
}

fn error(text: &impl ToString) -> Error {
    Error::Tls(text.to_string())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|why| error(&why))?;
    if found.is_empty() { Err(error(&"there is no certificate in the PEM")) } else { Ok(found) }
}

/// What accepts handshakes.
pub(crate) fn config(tls: &Tls) -> Result<Arc<ServerConfig>, Error> {
    let chain = certificates(&tls.certificates)?;
    let key = PrivateKeyDer::from_pem_slice(&tls.key).map_err(|why| error(&why))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|why| error(&why))?;
    let builder = match &tls.client_roots {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(pem)? {
                roots.add(root).map_err(|why| error(&why))?;
            }
            // Who has none proves who they are by SASL.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated();
            builder.with_client_cert_verifier(verifier.build().map_err(|why| error(&why))?)
        }
    };
    let config = builder.with_single_cert(chain, key).map_err(|why| error(&why))?;
    Ok(Arc::new(config))
}

/// The common name of a certificate.
#[must_use]
pub fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate) = x509_parser::parse_x509_certificate(certificate).ok()?;
    let name = certificate.subject().iter_common_name().next()?.as_str().ok()?;
    Some(name.to_owned())
}
