//! Commands of the queue manager: as operators type them, and as programs send them.

use mqsc::command::Command;
use mqsc::pcf::wire::{Order, read, write};
use mqsc::{Answer, Frame, session};

/// Every text is answered, and what is said of it can be shown; a command message that is read is
/// the same when it was written again.
///
/// # Panics
/// If it is not.
pub fn fuzz(bytes: &[u8]) {
    let frame = Frame { banner: "Holdfast".into(), manager: "QM1".into(), echo: false };
    let mut output = Vec::new();
    let summary = session::run(&frame, bytes, &mut output, |text| match Command::parse(text) {
        Ok(_) => Answer::default(),
        Err(error) => {
            let reply = error.reply(text);
            assert!(reply.to_string().starts_with("AMQ"));
            Answer { replies: vec![reply], syntax_error: true, failed: false }
        }
    });
    let summary = summary.expect("memory can be written to");
    assert!(summary.syntax_errors <= summary.read);
    for order in [Order::Little, Order::Big] {
        if let Ok(message) = read(bytes, order) {
            let written = write(&message, order);
            assert_eq!(read(&written, order).as_ref(), Ok(&message));
        }
    }
}

/// A script, and a command message with a string.
#[must_use]
pub fn seeds() -> Vec<Vec<u8>> {
    let script = "* queues\nDEFINE QLOCAL(A) +\n  DESCR('it''s') REPLACE\nDIS QL(*) \
                  WHERE(CURDEPTH GT 0);PING QMGR\nALTER CHL(C) CHLTYPE(SDR) CONNAME(H(1414))\n\
                  END\n";
    let mut message = Vec::new();
    for number in [1, 36, 1, 13, 1, 1, 0, 0, 1, 4, 24, 2016, 1208, 4] {
        message.extend_from_slice(&i32::to_le_bytes(number));
    }
    message.extend_from_slice(b"SYS*");
    vec![script.as_bytes().to_vec(), message]
}
