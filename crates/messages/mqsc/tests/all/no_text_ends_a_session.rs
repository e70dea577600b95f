//! Whatever is typed, a session goes on and says what is wrong with it.

use mqsc::pcf::answer;
use mqsc::pcf::wire::{Order, read};
use mqsc::{Console, session};
use proptest::prelude::*;

use crate::common::{manager, session as run_script};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let manager = manager();
        let console = Console::new(&manager);
        let frame = mqsc::Frame {
            banner: String::new(),
            manager: "QM1".into(),
            echo: true,
        };
        let mut output = Vec::new();
        let summary =
            session::run(&frame, &bytes[..], &mut output, |text| console.execute(text));
        let summary = summary.expect("memory takes it");
        prop_assert!(summary.syntax_errors + summary.failed <= summary.read);
    }

    #[test]
    fn any_words_of_the_language_are_answered(
        words in proptest::collection::vec(
            prop_oneof![
                "(DEFINE|ALTER|DELETE|DISPLAY|DIS|CLEAR|SET|MOVE|RESET|START|STOP|PING)",
                "(QLOCAL|QUEUE|QMGR|CHANNEL|TOPIC|SUB|CHLAUTH|AUTHREC|QSTATUS|CONN|USAGE)",
                "\\((A|B\\*|\\*|'x y'|'it''s'|1|CURDEPTH GT 1|A,B|)\\)",
                "(ALL|WHERE|TYPE|DESCR|MAXDEPTH|REPLACE|LIKE|CHLTYPE|PURGE|SHARE|PROFILE)",
                "[ -~]{0,6}",
            ],
            0..10,
        ),
    ) {
        let manager = manager();
        let (text, summary) = run_script(&manager, &words.join(" "));
        prop_assert!(text.contains("MQSC command"));
        prop_assert!(summary.read <= 20);
    }

    #[test]
    fn any_message_is_answered_once_or_more(
        bytes in proptest::collection::vec(any::<u8>(), 0..300),
        command in 0_i32..200,
        header in any::<bool>(),
    ) {
        let manager = manager();
        let mut message = Vec::new();
        if header {
            for number in [1, 36, 1, command, 1, 1, 0, 0, 2] {
                message.extend_from_slice(&i32::to_le_bytes(number));
            }
        }
        message.extend_from_slice(&bytes);
        let answers = answer(&manager, &message, Order::Little);
        let read: Vec<_> = answers.iter().map(|one| read(one, Order::Little)).collect();
        prop_assert!(read.iter().all(Result::is_ok));
        let last = read.last().and_then(|one| one.as_ref().ok());
        prop_assert!(last.is_some_and(|message| message.header.last));
    }
}
