//! What an agent for passphrases sends.
//!
//! No bytes make the talk panic, take memory out of proportion, or go on without end.

use std::io::{Read, Result, Write};

use openpgp::agent::{Agent, Question};

/// An agent that says these bytes, whatever it is asked.
struct Script<'a>(&'a [u8]);

impl Read for Script<'_> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        self.0.read(out)
    }
}

impl Write for Script<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Asks for a passphrase, and hears any bytes.
///
/// # Panics
/// If more comes out than was said.
pub fn fuzz(bytes: &[u8]) {
    let options = [("ttyname", "/dev/tty".to_owned())];
    let Ok(mut agent) = Agent::begin(Script(bytes), &options) else { return };
    let question = Question { cache: None, prompt: "Passphrase:", about: "a key", is_new: true };
    if let Ok(answer) = agent.ask(&question) {
        assert!(answer.len() <= bytes.len());
    }
}

/// A talk in which a passphrase is given, and one in which it is not.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let given = "OK hello\nOK\nS PROGRESS\nINQUIRE PINENTRY_LAUNCHED\nD a%25b\nD c\nOK\n";
    let refused = "OK\nERR 1\n# note\nERR 83886179 Operation cancelled\n";
    vec![given.into(), refused.into()]
}
