//! Message exits in C, and messages of which not all is text.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use codec::CodePage;
use holdfast_ims_connect::server::{MessageMap, MessageMaps};
use holdfast_ims_connect::wire::Rule;
use holdfast_ims_connect::{Error, LibraryExit, Options, Server};
use otma::Encoding;

use crate::client::{Client, options, request};
use crate::manager::Memory;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// Compiles an exit; nothing if there is no compiler.
fn compiled(source: &Path, name: &str) -> Option<PathBuf> {
    let folder = std::env::temp_dir().join(format!("holdfast-exit-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let library = folder.join("exit.so");
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-I"]).arg(include);
    compiler.arg("-o").arg(&library).arg(source);
    let limit = std::time::Duration::from_secs(120);
    let Ok(output) = seam::process::output(&mut compiler, limit) else {
        eprintln!("skipped: cc is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(library)
}

fn terse(stream: &mut TcpStream, client: &str, text: &[u8]) -> (u8, Vec<u8>) {
    let length = (16 + client.len() + text.len()).max(88);
    let [high, low] = (text.len() as u16).to_be_bytes();
    let head = [1, client.len() as u8, high, low];
    let lengths = (length as u32).to_be_bytes();
    let mut message = [&lengths[..], &head, b"*TERSE1*", client.as_bytes(), text].concat();
    message.resize(length, 0);
    stream.write_all(&message).expect("the server reads");
    let mut head = [0; 4];
    stream.read_exact(&mut head).expect("a response");
    let mut bytes = vec![0; u32::from_be_bytes(head) as usize - 4];
    stream.read_exact(&mut bytes).expect("a whole response");
    (bytes[0], bytes[1..].to_vec())
}

#[test]
fn clients_of_an_exit_in_c_speak_their_own_form() {
    let Some(library) = compiled(&root().join("apps/exits/terse.c"), "terse") else { return };
    let exit = LibraryExit::load(&library, CodePage::Cp037).expect("it is one");
    let own = Options { exits: vec![Arc::new(exit)], ..options() };
    let server = Server::start(own, Arc::new(Memory::default())).expect("it starts");
    let connect = || {
        let stream = TcpStream::connect(server.address()).expect("the server listens");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a limit");
        stream
    };
    let mut stream = connect();
    // The data store that it asks for is unknown here, and it is told in its own form.
    assert_eq!(terse(&mut stream, "TERSE01", b"ECHO 1"), (8, b"72".to_vec()));
    // What is wrong with its own form it says itself: return code 04 and its reason.
    let mut stream = connect();
    assert_eq!(terse(&mut stream, "TERSE01", b""), (4, b"12".to_vec()));
    // Others go on as they did.
    let mut client = Client::connect(server.address());
    let reply = client.ask(&request("CLIENT1", b"ECHO 1"));
    assert_eq!(crate::client::text(&reply), "ECHO 1");
}

#[test]
fn replies_reach_the_clients_of_an_exit() {
    let source = std::fs::read_to_string(root().join("apps/exits/terse.c")).expect("the sample");
    let changed = std::env::temp_dir().join(format!("holdfast-terse-{}.c", std::process::id()));
    let here = source.replace("\"HOLDFAST\"", "\"HFST    \"");
    std::fs::write(&changed, here).expect("a file");
    let Some(library) = compiled(&changed, "here") else { return };
    let exit = LibraryExit::load(&library, CodePage::Cp037).expect("it is one");
    let own = Options { exits: vec![Arc::new(exit)], ..options() };
    let server = Server::start(own, Arc::new(Memory::default())).expect("it starts");
    let mut stream = TcpStream::connect(server.address()).expect("the server listens");
    assert_eq!(terse(&mut stream, "TERSE01", b"ECHO 1"), (0, b"ECHO 1".to_vec()));
    // The connection stays, and a long reply has room.
    let long = [b"ECHO ".to_vec(), vec![b'X'; 20_000]].concat();
    assert_eq!(terse(&mut stream, "TERSE01", &long), (0, long.clone()));
}

#[test]
fn what_is_no_exit_is_refused_with_its_name() {
    let printed = |path: &Path| match LibraryExit::load(path, CodePage::Cp037) {
        Err(Error::Exit { path, what }) => format!("{path}: {what}"),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it is none"),
    };
    assert!(printed(Path::new("/not/there.so")).starts_with("/not/there.so: "));
    let source = std::env::temp_dir().join(format!("holdfast-old-{}.c", std::process::id()));
    let text = "int hfx_init(char *id) { (void)id; return 7; }\n\
                int hfx_read(void) { return 0; }\nint hfx_write(void) { return 0; }\n";
    std::fs::write(&source, text).expect("a file");
    let Some(library) = compiled(&source, "old") else { return };
    assert!(printed(&library).contains("version 7"), "{}", printed(&library));
    std::fs::write(&source, "int nothing;\n").expect("a file");
    let Some(library) = compiled(&source, "none") else { return };
    assert!(printed(&library).contains("does not export hfx_init"), "{}", printed(&library));
}

#[test]
fn binary_fields_of_ebcdic_clients_reach_ascii_programs_as_they_are() {
    let map = MessageMap {
        transaction: "ECHO".into(),
        input: Rule::Fields(vec![0..8, 12..20]),
        #[allow(clippy::single_range_in_vec_init)] // a list of places that has one
        output: Rule::Fields(vec![0..8]),
    };
    let own = Options {
        programs: Some(Encoding::Ascii),
        translation: Some(Arc::new(MessageMaps(vec![map]))),
        ..options()
    };
    let server = Server::start(own, Arc::new(Memory::default())).expect("it starts");
    let mut client = Client::connect(server.address());
    client.encoding = Encoding::Ebcdic;
    // "ECHO 1  ", a number, "ABCD": the manager sends back what the program would have got.
    let data = b"\xc5\xc3\xc8\xd6\x40\xf1\x40\x40\x00\x00\xc1\x5c\xc1\xc2\xc3\xc4";
    let reply = client.ask(&request("CLIENT1", data));
    let back = reply.data.data().next().expect("data").to_vec();
    assert_eq!(back[..8], data[..8], "text there and back");
    assert_eq!(back[8..12], data[8..12], "as it is");
    assert_eq!(&back[12..], b"ABCD", "text there, and by its own map as it is back");
}
