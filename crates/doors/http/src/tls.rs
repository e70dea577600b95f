//! Certificates of the server, and those that clients must have.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};

use crate::error::HttpError;

/// Certificates, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// The server's certificate and those above it.
    pub certificates: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// Who signs clients' certificates; nobody is asked for one without.
    pub client_roots: Option<Vec<u8>>,
    /// A client without a certificate is not let in.
    pub client_required: bool,
}

fn error(text: &impl ToString) -> HttpError {
    HttpError::Tls(text.to_string())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, HttpError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|why| error(&why))?;
    if found.is_empty() { Err(error(&"there is no certificate in the PEM")) } else { Ok(found) }
}

/// What accepts handshakes.
pub(crate) fn config(tls: &Tls) -> Result<Arc<ServerConfig>, HttpError> {
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
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier =
                if tls.client_required { verifier } else { verifier.allow_unauthenticated() };
            builder.with_client_cert_verifier(verifier.build().map_err(|why| error(&why))?)
        }
    };
    let mut config = builder.with_single_cert(chain, key).map_err(|why| error(&why))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
