//! TLS of terminals: whom they trust, and who they are.
//!
//! Invariants:
//! 1. A system whose certificate none of the named roots has signed, or for another name, gets
//!    nothing.

use std::io;

use rustls::pki_types::ServerName;
use tls::{TlsError, Trust};
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
    pub(crate) fn new(wanted: &Tls) -> Result<Secure, TlsError> {
        let own = wanted.own.as_ref().map(|(chain, key)| (&**chain, &**key));
        let config = Trust { roots: &wanted.roots, own }.connector()?;
        Ok(Secure { connector: config.into(), name: Trust::server_name(&wanted.name)? })
    }

    /// Secures a connection.
    pub(crate) async fn connect(&self, stream: TcpStream) -> io::Result<Box<dyn Stream>> {
        let secured = self.connector.connect(self.name.clone(), stream).await?;
        Ok(Box::new(secured))
    }
}
