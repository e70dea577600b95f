//! TLS of terminals: whom they trust, and who they are.
//!
//! Invariants:
//! 1. A system whose certificate none of the named roots has signed, or for another name, gets
//!    nothing.

use std::io;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::plan::Tls;

/// A connection, secured or not.
pub(crate) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// What secures connections.
pub(crate) struct Secure {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl Secure {
    pub(crate) fn new(tls: &Tls) -> Result<Secure, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let mut roots = RootCertStore::empty();
        for root in certificates(&tls.roots)? {
            roots.add(root).map_err(|error| text(&error))?;
        }
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| text(&error))?
            .with_root_certificates(roots);
        let config = match &tls.own {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                let key = PrivateKeyDer::from_pem_slice(key).map_err(|error| text(&error))?;
                let chain = certificates(chain)?;
                builder.with_client_auth_cert(chain, key).map_err(|error| text(&error))?
            }
        };
        let name = ServerName::try_from(tls.name.clone());
        let name = name.map_err(|_| format!("{} is no name of a server", tls.name))?;
        Ok(Secure { connector: TlsConnector::from(Arc::new(config)), name })
    }

    /// Secures a connection.
    pub(crate) async fn connect(&self, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
        let secured = self.connector.connect(self.name.clone(), stream).await?;
        Ok(Box::new(secured))
    }
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let found = found.map_err(|error| error.to_string())?;
    if found.is_empty() { Err("there is no certificate in the PEM".to_owned()) } else { Ok(found) }
}
