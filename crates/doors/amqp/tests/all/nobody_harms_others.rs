//! What one client does, or nobody who has said who they are, harms no other.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::door::Door;

#[test]
fn an_array_of_billions_is_refused_before_anybody_has_logged_in() {
    let door = Door::new();
    for _ in 0..3 {
        let mut stream = TcpStream::connect(door.address()).unwrap();
        let mut bytes = b"AMQP\x03\x01\x00\x00".to_vec();
        bytes.extend([0, 0, 0, 0x13, 2, 1, 0, 0]);
        bytes.extend([0xf0, 0, 0, 0, 6, 0xFF, 0xFF, 0xFF, 0xFF, 0x40, 0]);
        stream.write_all(&bytes).unwrap();
        let mut answer = Vec::new();
        // What it says first, and then no more; a reset is an end, too.
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.starts_with(b"AMQP\x03\x01\x00\x00"), "{answer:?}");
    }
    assert!(TcpStream::connect(door.address()).is_ok());
}
