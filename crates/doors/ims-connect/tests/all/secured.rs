//! TLS, and certificates of clients.

use std::net::TcpStream;
use std::sync::Arc;

use holdfast_ims_connect::server::Tls;
use holdfast_ims_connect::{Options, Server};
use otma::Encoding;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::client::{Client, name, options, request, status, text};
use crate::manager::Memory;

const ROOT: &[u8] = include_bytes!("../certificates/ca.pem");
const SERVER: &[u8] = include_bytes!("../certificates/server.pem");
const SERVER_KEY: &[u8] = include_bytes!("../certificates/server.key");
const CLIENT: &[u8] = include_bytes!("../certificates/client.pem");
const CLIENT_KEY: &[u8] = include_bytes!("../certificates/client.key");

type Secured = StreamOwned<ClientConnection, TcpStream>;

fn start(client_required: bool) -> Server {
    start_with("TELLER", client_required)
}

/// With one user.
fn start_with(user: &str, client_required: bool) -> Server {
    let tls = Tls {
        certificates: SERVER.to_vec(),
        key: SERVER_KEY.to_vec(),
        client_roots: Some(ROOT.to_vec()),
        client_required,
    };
    let mut manager = Memory::default();
    manager.users.insert(name(user), b"SECRET".to_vec());
    let options = Options { tls: Some(tls), ..options() };
    Server::start(options, Arc::new(manager)).expect("it starts")
}

fn connect(server: &Server, certified: bool) -> Client<Secured> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(ROOT).expect("a certificate")).expect("a root");
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_root_certificates(roots);
    let config = if certified {
        let chain = vec![CertificateDer::from_pem_slice(CLIENT).expect("a certificate")];
        let key = PrivateKeyDer::from_pem_slice(CLIENT_KEY).expect("a key");
        config.with_client_auth_cert(chain, key).expect("a pair")
    } else {
        config.with_no_client_auth()
    };
    let host = ServerName::try_from("localhost").expect("a name");
    let connection = ClientConnection::new(Arc::new(config), host).expect("a client");
    let stream = Client::connect(server.address()).stream;
    Client { stream: StreamOwned::new(connection, stream), encoding: Encoding::Ascii }
}

#[test]
fn a_certificate_stands_for_its_user() {
    let server = start(false);
    let mut client = connect(&server, true);
    assert_eq!(text(&client.ask(&request("C1", b"ECHO"))), "ECHO");
    let mut other = request("C1", b"ECHO");
    other.irm.user = name("BOSS");
    assert_eq!(status(&client.ask(&other)), (0x08, 0x28));
    let mut client = connect(&server, false);
    assert_eq!(status(&client.ask(&request("C2", b"ECHO"))), (0x08, 0x28));
    let mut client = connect(&server, false);
    let mut named = request("C2", b"ECHO");
    named.irm.user = name("TELLER");
    named.irm.password = name("SECRET");
    for _ in 0..50 {
        assert_eq!(text(&client.ask(&named)), "ECHO");
    }
}

#[test]
fn a_certificate_of_somebody_who_is_no_user_stands_for_nobody() {
    let server = start_with("OTHER", false);
    let mut client = connect(&server, true);
    assert_eq!(status(&client.ask(&request("C1", b"ECHO"))), (0x08, 0x28));
    let mut named = request("C1", b"ECHO");
    named.irm.user = name("TELLER");
    let mut client = connect(&server, true);
    assert_eq!(status(&client.ask(&named)), (0x08, 0x28));
}

#[test]
fn a_certificate_can_be_required() {
    let server = start(true);
    assert_eq!(text(&connect(&server, true).ask(&request("C1", b"ECHO"))), "ECHO");
    let mut without = connect(&server, false);
    assert!(without.ended());
    let mut plain = Client::connect(server.address());
    plain.send(&request("C1", b"ECHO"));
    // What comes back, if anything, is an alert of TLS and no response.
    let mut first = [0; 1];
    let read = std::io::Read::read(&mut plain.stream, &mut first);
    assert!(matches!(read, Ok(0) | Err(_)) || first[0] == 0x15);
    crate::flows::until(|| server.counters().read().handshakes_failed >= 2);
}

#[test]
fn a_key_that_is_none_is_named() {
    let tls = Tls {
        certificates: SERVER.to_vec(),
        key: b"no key".to_vec(),
        client_roots: None,
        client_required: false,
    };
    let options = Options { tls: Some(tls), ..options() };
    let error = Server::start(options, Arc::new(Memory::default())).err().expect("no key");
    assert!(error.to_string().contains("certificates"), "{error}");
}
