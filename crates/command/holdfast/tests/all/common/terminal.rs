//! A terminal of a started system: it asks through IMS Connect, and waits for its reply.
#![allow(dead_code)] // each scenario uses a part

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use codec::CodePage;
use ims_connect::wire::{Function, Irm, Pages, Request, Response, Status, f2};
use otma::{Encoding, Name, Segments};
use serde_json::Value;

use super::in_time::first_line;

/// Sets the online side of a system's configuration: a door on a port of its own, and the lists of
/// the section's other settings as they are written.
pub(crate) fn put_online(dir: &Path, settings: &[(&str, String)]) {
    let config = dir.join("holdfast.toml");
    let mut text = std::fs::read_to_string(&config).unwrap();
    let door = ("ims_connect", "[\"127.0.0.1:0\"]".to_owned());
    for (name, value) in std::iter::once(&door).chain(settings) {
        let begin = format!("#: {name} = ");
        let line = text.lines().find(|line| line.starts_with(&begin)).unwrap().to_owned();
        text = text.replace(&line, &format!("{name} = {value}"));
    }
    std::fs::write(&config, text).unwrap();
}

/// Starts a system; answers its process and the address of its door.
pub(crate) fn started(command: &mut Command, dir: &Path) -> (Child, String) {
    command.args(["--json", "start", "-s"]).arg(dir).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let line = first_line(&mut child);
    let answer: Value = serde_json::from_str(&line).unwrap();
    (child, answer["ims_connect"].as_str().unwrap().to_owned())
}

pub(crate) struct Terminal {
    stream: TcpStream,
    client: Name,
    pub(crate) encoding: Encoding,
}

impl Terminal {
    pub(crate) fn at(address: &str, client: &str) -> Terminal {
        let stream = TcpStream::connect(address).unwrap();
        // The first program of a system waits for compilers.
        stream.set_read_timeout(Some(Duration::from_secs(300))).unwrap();
        Terminal { stream, client: Name::new(client).unwrap(), encoding: Encoding::Ascii }
    }

    pub(crate) fn request(&self, function: Function, data: &[u8]) -> Request {
        let mut segments = Segments::new();
        if !data.is_empty() {
            segments.push([0, 0], data).unwrap();
        }
        let mut irm = Irm::new(2, *b"*SAMPL1*");
        irm.function = function;
        irm.socket = 0x10;
        irm.timer = 0xff;
        irm.client = self.client;
        irm.data_store = Name::new("HOLDFAST").unwrap();
        irm.f2 = f2::MODE_1;
        Request { irm, segments }
    }

    pub(crate) fn exchange(&mut self, request: &Request) -> Response {
        self.send(request);
        self.receive()
    }

    pub(crate) fn send(&mut self, request: &Request) {
        let bytes = request.encode(self.encoding, &Pages::new(CodePage::Cp037));
        self.stream.write_all(&bytes).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Response {
        let mut head = [0; 4];
        self.stream.read_exact(&mut head).unwrap();
        let mut bytes = vec![0; u32::from_be_bytes(head) as usize - 4];
        self.stream.read_exact(&mut bytes).unwrap();
        Response::decode(&bytes, &Pages::new(CodePage::Cp037)).unwrap()
    }

    /// Asks in mode 1 without confirmation, and answers the reply's text.
    pub(crate) fn ask(&mut self, text: &str) -> String {
        let request = self.request(Function::SendReceive, text.as_bytes());
        text_of(&self.exchange(&request))
    }
}

/// The text of a response; codes if it is a status.
pub(crate) fn text_of(response: &Response) -> String {
    match response.status {
        Status::Complete(_) => {
            let data = response.data.data().collect::<Vec<_>>();
            String::from_utf8_lossy(&data.join(&b'|')).into_owned()
        }
        Status::Request(status) => format!("{:02X}/{:02X}", status.code, status.reason),
    }
}
