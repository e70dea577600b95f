//! Accepting connections.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use otma::Name;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;

use super::Shared;
use super::connection::Connection;
use super::mailbox::Mailbox;

/// Connections that the kernel holds until they are accepted.
const BACKLOG: u32 = 4_096;
/// Connections that are accepted before others go on.
const AT_A_TIME: u32 = 16;
/// How long to wait when the machine has no more descriptors.
const PAUSE: Duration = Duration::from_millis(50);

pub(super) async fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

pub(super) async fn run(listener: TcpListener, acceptor: Option<TlsAcceptor>, shared: Arc<Shared>) {
    let mut row = 0_u32;
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(PAUSE).await;
            continue;
        };
        let mailbox = Arc::new(Mailbox::default());
        match shared.clients.enter(&mailbox, shared.options.connections_max) {
            None => shared.counters.add(&shared.counters.turned_away),
            Some(id) => {
                shared.counters.add(&shared.counters.accepted);
                shared.counters.add(&shared.counters.open);
                let connection = Connection::new(id, mailbox, Arc::clone(&shared));
                match acceptor.clone() {
                    None => drop(tokio::spawn(plain(stream, connection))),
                    Some(acceptor) => drop(tokio::spawn(secured(stream, acceptor, connection))),
                }
            }
        }
        row = row.wrapping_add(1);
        if row.is_multiple_of(AT_A_TIME) {
            tokio::task::yield_now().await;
        }
    }
}

/// Small messages go at once, and a client that has vanished is noticed.
fn prepare(stream: &TcpStream) {
    let _ = stream.set_nodelay(true);
    let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
    let _ = rustix::net::sockopt::set_tcp_keepidle(stream, Duration::from_secs(60));
}

async fn plain(stream: TcpStream, connection: Connection) {
    prepare(&stream);
    connection.serve(stream).await;
}

async fn secured(stream: TcpStream, acceptor: TlsAcceptor, mut connection: Connection) {
    prepare(&stream);
    // The handshake's state is large and short-lived: it has no place in the connection's.
    let handshake = Box::pin(acceptor.accept(stream));
    match timeout(connection.shared.options.frame_time, handshake).await {
        Ok(Ok(stream)) => {
            let chain = stream.get_ref().1.peer_certificates();
            let user = chain.and_then(|chain| tls::user(chain.first()?));
            let named = user.and_then(|user| Name::new(&user));
            connection.certified = named.filter(|name| !name.is_blank());
            connection.serve(Box::new(stream)).await;
        }
        _ => connection.shared.counters.add(&connection.shared.counters.handshakes_failed),
    }
}
