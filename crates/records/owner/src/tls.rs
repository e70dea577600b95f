//! TLS on both sides.
//!
//! Invariants:
//! 1. A client believes an owner whose certificate was signed by whom it was told, and which names
//!    the host that was asked for.

use std::net::TcpStream;
use std::sync::Arc;

use ::tls::{Tls, TlsError, Trust};
use rustls::{ClientConnection, ServerConfig, ServerConnection, StreamOwned};

use crate::stream::Timed;

/// What serves connections with TLS.
#[derive(Clone)]
pub struct Acceptor(Arc<ServerConfig>);

fn setup(why: &impl ToString) -> TlsError {
    TlsError::Setup(why.to_string())
}

impl Acceptor {
    /// With what the server shows, and whom it asks for a certificate.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn new(tls: &Tls) -> Result<Acceptor, TlsError> {
        tls.acceptor(&[]).map(Acceptor)
    }

    pub(crate) fn accept(
        &self,
        stream: Timed<TcpStream>,
    ) -> Result<Box<StreamOwned<ServerConnection, Timed<TcpStream>>>, TlsError> {
        let connection = ServerConnection::new(Arc::clone(&self.0)).map_err(|why| setup(&why))?;
        Ok(Box::new(StreamOwned::new(connection, stream)))
    }
}

/// Secures a connection to the owner at `host`, whom one of `roots` has to vouch for.
pub(crate) fn connect(
    stream: TcpStream,
    host: &str,
    roots: &[u8],
) -> Result<Box<StreamOwned<ClientConnection, TcpStream>>, TlsError> {
    let config = Trust { roots, own: None }.connector()?;
    let name = Trust::server_name(host)?;
    let connection = ClientConnection::new(config, name).map_err(|why| setup(&why))?;
    Ok(Box::new(StreamOwned::new(connection, stream)))
}
