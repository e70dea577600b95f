//! What terminals are told, and moments as they are written.
//!
//! Invariants:
//! 1. All of it is local time, as the machine has it.

use otma::{Name, Segments};
use schedule::Moment;

/// `*yyddd/hhmmss*`
pub(crate) fn stamp(moment: Moment) -> String {
    let ((year, day), (hour, minute, second)) = (moment.day(), moment.clock());
    format!("*{:02}{day:03}/{hour:02}{minute:02}{second:02}*", year % 100)
}

/// `hh:mm:ss`
pub(crate) fn time(moment: Moment) -> String {
    let (hour, minute, second) = moment.clock();
    format!("{hour:02}:{minute:02}:{second:02}")
}

/// A text as a message of one segment for each line.
pub(crate) fn message(lines: &[String]) -> Segments {
    let mut segments = Segments::new();
    for line in lines {
        let end = line.len().min(30_000);
        // Cut before a character's second byte a line would be no text; these are ASCII.
        let _ = segments.push([0; 2], &line.as_bytes()[..end]);
    }
    segments
}

/// A destination that is none.
pub(crate) fn no_destination(name: Name) -> String {
    format!("DFS064 DESTINATION CAN NOT BE FOUND OR CREATED, DEST={name}")
}

/// A transaction that is stopped.
pub(crate) fn stopped(name: Name) -> String {
    format!("DFS065 TRAN/LTERM STOPPED, TRAN={name}")
}

/// A user who may not use a transaction.
pub(crate) fn not_authorized(name: Name) -> String {
    format!("DFS1292E SECURITY VIOLATION, TRAN={name}")
}

/// A user who may not have what waits on a tpipe, or be a terminal of its name.
pub(crate) fn tpipe_not_authorized(name: Name) -> String {
    format!("DFS1292E SECURITY VIOLATION, TPIPE={name}")
}

/// A user who may not issue a command.
pub(crate) fn command_not_authorized(verb: &str) -> String {
    format!("DFS1292E SECURITY VIOLATION, COMMAND={verb}")
}

/// No region takes a Fast Path transaction's inputs.
pub(crate) fn no_region(name: Name) -> String {
    format!("DFS2529 NO FAST PATH REGION FOR ROUTING CODE {name}")
}

/// A program that sent no reply.
pub(crate) const NO_REPLY: &str = "DFS2082 RESPONSE MODE TRANSACTION TERMINATED WITHOUT REPLY";

/// A program's end in the middle of a message.
pub(crate) fn program_failed(transaction: Name, abend: &str, text: &[u8]) -> String {
    let shown: String = text
        .iter()
        .take(78)
        .map(|byte| if byte.is_ascii_graphic() { char::from(*byte) } else { ' ' })
        .collect();
    let (system, user) = match abend.strip_prefix('U') {
        Some(user) => ("000", user),
        None => (abend.trim_start_matches('S'), "0000"),
    };
    format!(
        "DFS555I TRAN {transaction} ABEND S{system:0>3},U{user:0>4} ; MSG IN PROCESS: {}",
        shown.trim_end()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_operators_know_them() {
        // 2026-11-24 22:26:46.123456 UTC, seen an hour further east.
        let moment = Moment::new(1_795_559_206_123_456, 3_600);
        assert_eq!(stamp(moment), "*26328/232646*");
        assert_eq!(time(moment), "23:26:46");
        let mut io = region::IoFeedback::default();
        moment.show(&mut io);
        assert_eq!(io.date, [0x00, 0x26, 0x32, 0x8f]);
        assert_eq!(io.time, [0x23, 0x26, 0x46, 0x1f]);
        assert_eq!(
            io.stamp,
            [0x20, 0x26, 0x32, 0x8f, 0x23, 0x26, 0x46, 0x12, 0x34, 0x56, 0x01, 0x0c]
        );
    }

    #[test]
    fn a_failure_is_told_with_its_code() {
        let name = Name(*b"PART    ");
        assert_eq!(
            program_failed(name, "S0C7", b"PART AN960C10\0"),
            "DFS555I TRAN PART ABEND S0C7,U0000 ; MSG IN PROCESS: PART AN960C10"
        );
        assert!(program_failed(name, "U0778", b"").contains("ABEND S000,U0778"));
    }
}
