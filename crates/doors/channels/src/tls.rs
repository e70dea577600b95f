//! Certificates of both ends.
//!
//! 1. Each end shows a certificate, and believes those that its roots have signed; the end that
//!    connects also wants the name that it connects to.

use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{ClientConfig, RootCertStore, ServerConfig};

use crate::error::Error;

/// Certificates, as PEM.
#[derive(Clone)]
pub struct Tls {
    /// This end's certificate and those above it.
    pub certificates: Vec<u8>,
    /// Its key.
    pub key: Vec<u8>,
    /// Who signs the certificates of partners.
    pub roots: Vec<u8>,
}

/// What makes handshakes in both directions.
#[derive(Clone)]
pub(crate) struct Keys {
    pub(crate) client: Arc<ClientConfig>,
    pub(crate) server: Arc<ServerConfig>,
}

fn error(text: &impl ToString) -> Error {
    Error::Tls(text.to_string())
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, Error> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|why| error(&why))?;
    if found.is_empty() { Err(error(&"there is no certificate in the PEM")) } else { Ok(found) }
}

impl Keys {
    pub(crate) fn of(tls: &Tls) -> Result<Keys, Error> {
        let chain = certificates(&tls.certificates)?;
        let key = || PrivateKeyDer::from_pem_slice(&tls.key).map_err(|why| error(&why));
        let mut roots = RootCertStore::empty();
        for root in certificates(&tls.roots)? {
            roots.add(root).map_err(|why| error(&why))?;
        }
        let roots = Arc::new(roots);
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|why| error(&why))?
            .with_root_certificates(Arc::clone(&roots))
            .with_client_auth_cert(chain.clone(), key()?)
            .map_err(|why| error(&why))?;
        // Whether a partner without a certificate may come in is a matter of its channel.
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .allow_unauthenticated()
            .build()
            .map_err(|why| error(&why))?;
        let server = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|why| error(&why))?
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key()?)
            .map_err(|why| error(&why))?;
        Ok(Keys { client: Arc::new(client), server: Arc::new(server) })
    }
}

/// The distinguished name of the first certificate of a chain.
pub(crate) fn subject(chain: Option<&[CertificateDer<'_>]>) -> Option<String> {
    mqi::certificate::subject(chain?.first()?)
}
