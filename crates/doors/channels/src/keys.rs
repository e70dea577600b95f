//! Certificates of both ends.
//!
//! 1. Each end shows a certificate, and believes those that its roots have signed; the end that
//!    connects also wants the name that it connects to.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, ServerConfig};
use tls::{TlsError, Trust};

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

impl Keys {
    pub(crate) fn of(own: &Tls) -> Result<Keys, TlsError> {
        let trust = Trust { roots: &own.roots, own: Some((&own.certificates, &own.key)) };
        // Whether a partner without a certificate may come in is a matter of its channel.
        let server = tls::Tls {
            certificates: own.certificates.clone(),
            key: own.key.clone(),
            client_roots: Some(own.roots.clone()),
            client_required: false,
        };
        Ok(Keys { client: trust.connector()?, server: server.acceptor(&[])? })
    }
}

/// The distinguished name of the first certificate of a chain.
pub(crate) fn subject(chain: Option<&[CertificateDer<'_>]>) -> Option<String> {
    mqi::certificate::subject(chain?.first()?)
}
