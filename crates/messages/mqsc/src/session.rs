//! A session of commands: the frame that `runmqsc` puts around what it is given.
//!
//! 1. Each line is echoed; the one that begins a command behind the command's number, others
//!    behind blanks. Numbers have six columns.
//! 2. A command's answers follow the line that ends it.
//! 3. `END`, `EXIT` and `QUIT` end the session and are not counted; so does the end of the input.
//! 4. The last three lines say how many commands were read, how many had a syntax error, how many
//!    valid ones could not be processed.
//! 5. Exit code 0 if every command was processed, 10 if one was not, 20 if none could be because
//!    the session could not begin.

use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use crate::lexis::{COMMAND_BYTES_MAX, Gatherer};
use crate::reply::{MessageId, Reply};

/// The exit code where every command was processed.
pub const EXIT_DONE: u8 = 0;
/// The exit code where a command was not processed.
pub const EXIT_FAILED: u8 = 10;
/// The exit code where the session could not begin.
pub const EXIT_NOT_RUN: u8 = 20;

/// What a command came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// What it answers.
    pub replies: Vec<Reply>,
    /// Whether it was no command in the first place.
    pub syntax_error: bool,
    /// Whether it was one, and was not processed.
    pub failed: bool,
}

/// How a session is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The first line: which program it is.
    pub banner: String,
    /// The queue manager.
    pub manager: String,
    /// Whether lines are echoed.
    pub echo: bool,
}

/// How a session went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Commands that were read.
    pub read: u64,
    /// Those that were none.
    pub syntax_errors: u64,
    /// Valid ones that were not processed.
    pub failed: u64,
}

impl Summary {
    /// The exit code of the session.
    pub fn exit_code(&self) -> u8 {
        match self.syntax_errors + self.failed {
            0 => EXIT_DONE,
            _ => EXIT_FAILED,
        }
    }

    fn count(&mut self, answer: &Answer) {
        self.read += 1;
        self.syntax_errors += u64::from(answer.syntax_error);
        self.failed += u64::from(answer.failed);
    }

    /// The last three lines.
    pub fn lines(&self) -> [String; 3] {
        let read = match self.read {
            0 => "No MQSC commands read.".to_owned(),
            1 => "One MQSC command read.".to_owned(),
            many => format!("{many} MQSC commands read."),
        };
        let wrong = match self.syntax_errors {
            0 => "No commands have a syntax error.".to_owned(),
            1 => "One command has a syntax error.".to_owned(),
            many => format!("{many} commands have a syntax error."),
        };
        let failed = match self.failed {
            0 => "All valid MQSC commands were processed.".to_owned(),
            1 => "One valid MQSC command could not be processed.".to_owned(),
            many => format!("{many} valid MQSC commands could not be processed."),
        };
        [read, wrong, failed]
    }
}

/// Runs a session: reads `input` to its end, or to `END`, and writes the frame to `output`.
///
/// # Errors
/// If reading or writing fails.
pub fn run(
    frame: &Frame,
    mut input: impl BufRead,
    mut output: impl Write,
    mut execute: impl FnMut(&str) -> Answer,
) -> io::Result<Summary> {
    writeln!(output, "{}", frame.banner)?;
    writeln!(output, "Starting MQSC for queue manager {}.\n\n", frame.manager)?;
    let mut summary = Summary::default();
    let (mut gatherer, mut number, mut ended) = (Gatherer::default(), 0_u64, false);
    while let (false, Some(line)) = (ended, next_line(&mut input)?) {
        let gathered = gatherer.line(&line);
        number += u64::from(gathered.begins);
        if frame.echo {
            match gathered.begins {
                true => writeln!(output, "{number:6} : {line}")?,
                false => writeln!(output, "       : {line}")?,
            }
        }
        let extra = gathered.commands.len().saturating_sub(1);
        number += u64::try_from(extra).unwrap_or(0);
        for command in gathered.commands {
            ended = command.as_deref().is_ok_and(is_end);
            if ended {
                break;
            }
            answer(command, &mut execute, &mut output, &mut summary)?;
        }
        output.flush()?;
    }
    let left = gatherer.finish().filter(|command| !command.as_deref().is_ok_and(is_end));
    if let (false, Some(command)) = (ended, left) {
        answer(command, &mut execute, &mut output, &mut summary)?;
    }
    for line in summary.lines() {
        writeln!(output, "{line}")?;
    }
    output.flush()?;
    Ok(summary)
}

fn answer(
    command: Result<String, crate::error::SyntaxError>,
    execute: &mut impl FnMut(&str) -> Answer,
    output: &mut impl Write,
    summary: &mut Summary,
) -> io::Result<()> {
    let answer = match command {
        Ok(command) => execute(&command),
        Err(error) => Answer { replies: vec![error.reply("")], syntax_error: true, failed: false },
    };
    summary.count(&answer);
    answer.replies.iter().try_for_each(|reply| write!(output, "{reply}"))
}

fn is_end(command: &str) -> bool {
    ["END", "EXIT", "QUIT"].iter().any(|word| command.trim().eq_ignore_ascii_case(word))
}

/// A line without its end; bytes that are no UTF-8 are replaced, and a line that is longer than a
/// command may be is cut, so that a file without lines does not fill the memory.
fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let most = COMMAND_BYTES_MAX + 2;
    let (mut line, mut any) = (Vec::new(), false);
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            break;
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let take = end.unwrap_or(buffer.len());
        let room = most.saturating_sub(line.len()).min(take);
        line.extend_from_slice(&buffer[..room]);
        let used = end.map_or(take, |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    let text = String::from_utf8_lossy(&line);
    Ok(any.then(|| text.trim_end_matches('\r').to_owned()))
}

/// What a session says that cannot begin.
pub fn not_run(frame: &Frame, reason: &str) -> String {
    let reply =
        Reply::new(MessageId::error(8146), format!("Queue manager not available. {reason}"));
    let mut text = format!("{}\n", frame.banner);
    text.push_str(&reply.to_string());
    for line in Summary::default().lines() {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(input: &str) -> (String, Summary) {
        let frame = Frame { banner: "Holdfast".into(), manager: "QM1".into(), echo: true };
        let mut output = Vec::new();
        let summary = run(&frame, input.as_bytes(), &mut output, |command| match command {
            "BAD" => Answer {
                replies: vec![Reply::new(MessageId::error(8405), "Syntax.")],
                syntax_error: true,
                failed: false,
            },
            "FAIL" => Answer {
                replies: vec![Reply::new(MessageId::error(8147), "Not found.")],
                syntax_error: false,
                failed: true,
            },
            _ => Answer {
                replies: vec![Reply::new(MessageId::done(8415), "Done.")],
                syntax_error: false,
                failed: false,
            },
        });
        let summary = summary.expect("memory can be written to");
        (String::from_utf8(output).expect("it is text"), summary)
    }

    #[test]
    fn the_frame_is_what_scripts_are_used_to() {
        let (text, summary) =
            ran("* a comment\nPING QMGR\nDEF QL(A) +\n  REPLACE\nEND\nPING QMGR\n");
        assert_eq!(
            text,
            "Holdfast\nStarting MQSC for queue manager QM1.\n\n\n       : * a comment\n     1 : \
             PING QMGR\nAMQ8415I: Done.\n     2 : DEF QL(A) +\n       :   REPLACE\nAMQ8415I: \
             Done.\n     3 : END\n2 MQSC commands read.\nNo commands have a syntax error.\nAll \
             valid MQSC commands were processed.\n"
        );
        assert_eq!(summary.exit_code(), EXIT_DONE);
    }

    #[test]
    fn failures_are_counted_apart_from_syntax_errors() {
        let (text, summary) = ran("BAD\nFAIL\nFAIL");
        assert_eq!(summary, Summary { read: 3, syntax_errors: 1, failed: 2 });
        assert!(text.contains("One command has a syntax error.\n2 valid MQSC commands could not"));
        assert_eq!(summary.exit_code(), EXIT_FAILED);
        let (text, summary) = ran("FAIL");
        assert!(text.contains("One MQSC command read."));
        assert!(text.contains("One valid MQSC command could not be processed."));
        assert_eq!(summary.failed, 1);
    }

    #[test]
    fn an_input_without_commands_is_done() {
        let (text, summary) = ran("");
        assert!(text.contains("No MQSC commands read."));
        assert_eq!(summary.exit_code(), EXIT_DONE);
    }
}
