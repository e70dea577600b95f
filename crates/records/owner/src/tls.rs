//! TLS on both sides.
//!
//! Invariants:
//! 1. A client believes an owner whose certificate was signed by whom it was told, and which names
//!    the host that was asked for.

use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use crate::stream::Timed;

/// What serves connections with TLS.
#[derive(Clone)]
pub struct Acceptor(Arc<ServerConfig>);

fn text(error: &impl ToString) -> String {
    error.to_string()
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| text(&error))?;
    if found.is_empty() { Err("there is no certificate in the PEM".into()) } else { Ok(found) }
}

fn roots_of(pem: &[u8]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    for root in certificates(pem)? {
        roots.add(root).map_err(|error| text(&error))?;
    }
    Ok(roots)
}

impl Acceptor {
    /// With a chain of certificates and its key, in PEM. With `clients` a client has to have a
    /// certificate of these.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub fn new(chain: &[u8], key: &[u8], clients: Option<&[u8]>) -> Result<Acceptor, String> {
        let chain = certificates(chain)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| text(&error))?;
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| text(&error))?;
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(pem) => {
                let roots = Arc::new(roots_of(pem)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider);
                let verifier = verifier.build().map_err(|error| text(&error))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let config = builder.with_single_cert(chain, key).map_err(|error| text(&error))?;
        Ok(Acceptor(Arc::new(config)))
    }

    pub(crate) fn accept(
        &self,
        stream: Timed<TcpStream>,
    ) -> Result<Box<StreamOwned<ServerConnection, Timed<TcpStream>>>, String> {
        let connection =
            ServerConnection::new(Arc::clone(&self.0)).map_err(|error| text(&error))?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

/// Secures a connection to the owner at `host`, whom one of `roots` has to vouch for.
pub(crate) fn connect(
    stream: TcpStream,
    host: &str,
    roots: &[u8],
) -> Result<Box<StreamOwned<ClientConnection, TcpStream>>, String> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| text(&error))?
        .with_root_certificates(roots_of(roots)?)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_owned()).map_err(|error| text(&error))?;
    let connection = ClientConnection::new(Arc::new(config), name).map_err(|error| text(&error))?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}
