//! Certificates of the door.
//!
//! 1. TLS 1.3 alone is spoken: the other end is a library of ours.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::error::Error;

/// Certificates and keys, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// The chain of the door.
    pub certificates: Vec<u8>,
    /// The key of its first certificate.
    pub key: Vec<u8>,
    /// Who signs the certificates of programs, which may come with one then.
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
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(|why| error(&why))?;
    let builder = match &tls.client_roots {
        None => builder.with_no_client_auth(),
        Some(pem) => {
            let mut roots = RootCertStore::empty();
            for root in certificates(pem)? {
                roots.add(root).map_err(|why| error(&why))?;
            }
            // Who has none proves who they are by a password.
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                .allow_unauthenticated();
            builder.with_client_cert_verifier(verifier.build().map_err(|why| error(&why))?)
        }
    };
    let config = builder.with_single_cert(chain, key).map_err(|why| error(&why))?;
    Ok(Arc::new(config))
}
