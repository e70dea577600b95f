//! A client in another language, written from the published layout alone.

use std::time::Duration;

use crate::client::start;

#[test]
fn a_client_in_python_gets_what_it_should() {
    let (server, _) = start();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients.py");
    let mut command = seam::process::command("python3");
    command.arg(script).arg(server.address().port().to_string());
    match seam::process::output(&mut command, Duration::from_secs(60)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            eprintln!("there is no python3 here: left out");
        }
        Err(error) => panic!("python3: {error}"),
        Ok(output) => {
            let printed = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{printed}");
        }
    }
}
