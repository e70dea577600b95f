//! A client for the tests.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use codec::CodePage;
use holdfast_ims_connect::wire::{Function, Irm, Pages, Request, Response, Status, f2, f3};
use holdfast_ims_connect::{Options, Server};
use otma::{Encoding, Name, Segments};

use crate::manager::Memory;

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

pub(crate) fn pages() -> Pages {
    Pages::new(CodePage::Cp037)
}

pub(crate) fn options() -> Options {
    let addresses = vec!["127.0.0.1:0".parse().expect("an address")];
    let grace = Duration::from_millis(100);
    Options { addresses, grace, ..Options::default() }
}

pub(crate) fn start() -> (Server, Arc<Memory>) {
    let manager = Arc::new(Memory::default());
    let server = Server::start(options(), manager.clone()).expect("it starts");
    (server, manager)
}

/// A request of mode 1 with one segment, on a socket that stays.
pub(crate) fn request(client: &str, data: &[u8]) -> Request {
    let mut segments = Segments::new();
    if !data.is_empty() {
        segments.push([0, 0], data).expect("short");
    }
    let mut irm = Irm::new(2, *b"*SAMPL1*");
    irm.socket = 0x10;
    irm.timer = 0x28;
    irm.client = name(client);
    irm.data_store = name("HFST");
    irm.f2 = f2::MODE_1;
    Request { irm, segments }
}

/// A request of mode 0.
pub(crate) fn queued(client: &str, data: &[u8]) -> Request {
    let mut request = request(client, data);
    request.irm.f2 = f2::MODE_0;
    request.irm.f3 = f3::CONFIRM;
    request
}

/// A request without data.
pub(crate) fn bare(client: &str, function: Function) -> Request {
    let mut request = queued(client, b"");
    request.irm.function = function;
    request
}

pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    pub(crate) encoding: Encoding,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Client {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit");
        Client { stream, encoding: Encoding::Ascii }
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn send(&mut self, request: &Request) {
        let bytes = request.encode(self.encoding, &pages());
        self.stream.write_all(&bytes).expect("the server reads");
    }

    pub(crate) fn receive(&mut self) -> Response {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).expect("a response");
        let mut bytes = vec![0; u32::from_be_bytes(head) as usize - 4];
        self.stream.read_exact(&mut bytes).expect("a whole response");
        Response::decode(&bytes, &pages()).expect("a response")
    }

    pub(crate) fn ask(&mut self, request: &Request) -> Response {
        self.send(request);
        self.receive()
    }

    /// Waits until the server has ended the connection.
    pub(crate) fn ended(&mut self) -> bool {
        matches!(self.stream.read(&mut [0]), Ok(0) | Err(_))
    }
}

/// The text of a response.
pub(crate) fn text(response: &Response) -> String {
    let data = response.data.data().collect::<Vec<_>>();
    String::from_utf8_lossy(&data.join(&b'|')).into_owned()
}

/// Flags of a response that went well.
pub(crate) fn flags(response: &Response) -> u8 {
    match response.status {
        Status::Complete(csm) => csm.flags,
        Status::Request(status) => panic!("it did not go well: {status:?}"),
    }
}

/// Return code and reason of a response that is a status.
pub(crate) fn status(response: &Response) -> (u32, u32) {
    match response.status {
        Status::Complete(_) => panic!("it went well: {}", text(response)),
        Status::Request(status) => (status.code, status.reason),
    }
}
