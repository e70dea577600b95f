//! Passphrases from GnuPG's agent, which asks for them in a window or on a terminal of its own and
//! may remember them: the protocol Assuan, as far as that needs it.
//!
//! ```text
//! | we send                                       | it answers                              |
//! |-----------------------------------------------|-----------------------------------------|
//! | (nothing yet)                                 | OK ...                                  |
//! | OPTION name=value                             | OK, or ERR, which does not matter       |
//! | GET_PASSPHRASE --data [--repeat=1] --         | D parts of the passphrase, then OK;     |
//! |   CACHE-ID ERROR PROMPT DESCRIPTION           | ERR number text                         |
//! | CLEAR_PASSPHRASE CACHE-ID                     | OK                                      |
//! ```
//!
//! 1. A line has at most `LINE_MAX` bytes, an answer at most `LINES_MAX` lines, a passphrase at
//!    most `SECRET_MAX` bytes: nothing that it sends can take memory or time without bound.
//! 2. What it sends is wiped; lines are read byte by byte into memory of fixed size, so no copy is
//!    left in a buffer.
//! 3. A question of its own (INQUIRE) is answered with nothing; lines of status mean nothing here.

use std::io::{self, Read, Write};

use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// A line of the protocol, without its end.
const LINE_MAX: usize = 1000;
const LINES_MAX: usize = 1000;
const SECRET_MAX: usize = 64 << 10;

/// A talk with an agent.
pub struct Agent<S> {
    stream: S,
}

/// What it is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// Under what it remembers the answer; without, it does not.
    pub cache: Option<&'a str>,
    /// What stands before the field.
    pub prompt: &'a str,
    /// What stands above it.
    pub about: &'a str,
    /// Whether it is new, so that it is asked for twice.
    pub is_new: bool,
}

impl<S: Read + Write> Agent<S> {
    /// Begins to talk; `options` tell it of the terminal and the screen.
    ///
    /// # Errors
    /// If no process is there that speaks like an agent.
    pub fn begin(stream: S, options: &[(&str, String)]) -> Result<Agent<S>> {
        let mut agent = Agent { stream };
        agent.answer()?;
        for (name, value) in options {
            // One that it does not know changes nothing for us.
            if !value.contains(['\n', '\r']) {
                let _unknown = agent.say(&format!("OPTION {name}={value}"))?;
            }
        }
        Ok(agent)
    }

    /// Asks for a passphrase.
    ///
    /// # Errors
    /// If the person declines, or the agent cannot ask.
    pub fn ask(&mut self, question: &Question<'_>) -> Result<Zeroizing<Vec<u8>>> {
        let cache = question.cache.map_or_else(|| "X".to_owned(), escaped);
        let repeat = if question.is_new { "--repeat=1 " } else { "" };
        let (prompt, about) = (escaped(question.prompt), escaped(question.about));
        let line = format!("GET_PASSPHRASE --data {repeat}-- {cache} X {prompt} {about}");
        self.say(&line)?.map_err(|error_text| {
            let what = format!("the agent gives no passphrase: {error_text}");
            Error::Usage(what)
        })
    }

    /// Makes it forget what it remembers under this name.
    ///
    /// # Errors
    /// If it does not answer.
    pub fn forget(&mut self, cache: &str) -> Result<()> {
        let _unknown = self.say(&format!("CLEAR_PASSPHRASE {}", escaped(cache)))?;
        Ok(())
    }

    /// Says a line and hears the answer: its data, or what it refuses with.
    fn say(&mut self, line: &str) -> Result<std::result::Result<Zeroizing<Vec<u8>>, String>> {
        if line.len() > LINE_MAX {
            return Err(Error::Usage("a text for the agent is too long".to_owned()));
        }
        let sent = self.stream.write_all(format!("{line}\n").as_bytes());
        sent.and_then(|()| self.stream.flush()).map_err(talking)?;
        self.hear()
    }

    fn answer(&mut self) -> Result<()> {
        let strange =
            |error_text| Error::NotOpenPgp(format!("the agent refuses to talk: {error_text}"));
        self.hear()?.map(drop).map_err(strange)
    }

    fn hear(&mut self) -> Result<std::result::Result<Zeroizing<Vec<u8>>, String>> {
        // Room for all of it at once, so that growing leaves no copy behind.
        let mut data = Zeroizing::new(Vec::with_capacity(SECRET_MAX + LINE_MAX));
        let mut line = Zeroizing::new([0; LINE_MAX]);
        for _ in 0..LINES_MAX {
            let length = self.line(&mut line)?;
            let (word, rest) = split(&line[..length]);
            match word {
                b"OK" => return Ok(Ok(data)),
                b"ERR" => return Ok(Err(refusal(rest))),
                b"D" => {
                    unescape(rest, &mut data);
                    if data.len() > SECRET_MAX {
                        return Err(strange("a passphrase without end"));
                    }
                }
                b"INQUIRE" => self.stream.write_all(b"END\n").map_err(talking)?,
                b"S" | b"" => {}
                word if word.starts_with(b"#") => {}
                _ => return Err(strange("a line that is not of its protocol")),
            }
        }
        Err(strange("lines without end"))
    }

    /// Reads a line into this memory; gives its length (2).
    fn line(&mut self, line: &mut [u8; LINE_MAX]) -> Result<usize> {
        let mut byte = Zeroizing::new([0]);
        for at in 0..=LINE_MAX {
            self.stream.read_exact(&mut *byte).map_err(talking)?;
            match (byte[0], line.get_mut(at)) {
                (b'\n', _) => return Ok(at),
                (byte, Some(slot)) => *slot = byte,
                (_, None) => break,
            }
        }
        Err(strange("a line without end"))
    }
}

fn talking(source: io::Error) -> Error {
    Error::Io { what: "talking to the agent".to_owned(), source }
}

fn strange(what: &str) -> Error {
    Error::NotOpenPgp(format!("the agent sends {what}"))
}

fn split(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(|byte| *byte == b' ').unwrap_or(line.len());
    (&line[..end], line.get(end + 1..).unwrap_or_default())
}

/// What an error says, without its number.
fn refusal(rest: &[u8]) -> String {
    let (_number, text) = split(rest);
    let text = String::from_utf8_lossy(text);
    text.chars().filter(|letter| !letter.is_control()).collect()
}

/// A word of a command: blanks are plus signs.
fn escaped(text: &str) -> String {
    let mut word = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => word.push('+'),
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' => word.push(byte.into()),
            other => word += &format!("%{other:02X}"),
        }
    }
    if word.is_empty() { "X".to_owned() } else { word }
}

/// Data: percent signs stand before two digits.
fn unescape(text: &[u8], to: &mut Vec<u8>) {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let pair = behind.first_chunk::<2>().and_then(|pair| {
            let (high, low) = (digit(pair[0])?, digit(pair[1])?);
            Some(high << 4 | low)
        });
        match (first, pair) {
            (b'%', Some(byte)) => {
                to.push(byte);
                rest = &behind[2..];
            }
            _ => {
                to.push(*first);
                rest = behind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An agent that says what it was told to say.
    struct Script {
        lines: &'static [u8],
        received: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            self.lines.read(out)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.received.extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const QUESTION: Question<'_> = Question {
        cache: Some("holdfast-AB12"),
        prompt: "Passphrase:",
        about: "The key of Ada <ada@example.org>",
        is_new: false,
    };

    fn asked(lines: &'static [u8]) -> (Result<Zeroizing<Vec<u8>>>, String) {
        let script = Script { lines, received: Vec::new() };
        let options = [("ttyname", "/dev/tty".to_owned())];
        let mut agent = Agent::begin(script, &options).unwrap();
        let answer = agent.ask(&QUESTION);
        (answer, String::from_utf8(agent.stream.received).unwrap())
    }

    #[test]
    fn a_passphrase_comes_in_parts_between_lines_that_mean_nothing() {
        let (answer, received) = asked(
            b"OK Pleased to meet you\nERR 1 unknown option\n\
              S PROGRESS x\n# note\nINQUIRE PINENTRY_LAUNCHED 1\nD 100%25 of\nD  it%0A\nOK\n",
        );
        assert_eq!(&answer.unwrap()[..], b"100% of it\n");
        let asks = "OPTION ttyname=/dev/tty\n\
                    GET_PASSPHRASE --data -- holdfast-AB12 X Passphrase%3A \
                    The+key+of+Ada+%3Cada%40example.org%3E\nEND\n";
        assert_eq!(received, asks);
    }

    #[test]
    fn a_person_who_declines_is_told_as_the_agent_tells_it() {
        let (answer, _) = asked(b"OK\nOK\nERR 83886179 Operation cancelled <Pinentry>\n");
        let error_text = answer.unwrap_err().to_string();
        assert_eq!(error_text, "the agent gives no passphrase: Operation cancelled <Pinentry>");
    }

    #[test]
    fn what_is_no_agent_is_an_error_and_never_waited_for_without_end() {
        for lines in [&b"OK\nOK\nhello\n"[..], b"OK\nOK\n", b"OK\nOK\nD half"] {
            assert!(asked(lines).0.is_err());
        }
        let script = Script { lines: &[b'x'; 5000], received: Vec::new() };
        assert!(Agent::begin(script, &[]).is_err());
    }
}
