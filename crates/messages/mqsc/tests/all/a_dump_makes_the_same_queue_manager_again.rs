//! What a dump says, run in an empty queue manager, makes one with the same definitions.

use mqsc::Console;
use mqsc::dump::{Selection, dump};
use proptest::prelude::*;

use crate::common::{Manager, done, manager, named, session};

/// A dump without what says when it was made, and when objects were.
fn comparable(manager: &Manager, selection: &Selection) -> String {
    let text = dump(manager, selection);
    let lines = text.lines().filter(|line| !line.starts_with('*'));
    lines.collect::<Vec<_>>().join("\n")
}

fn again(manager: &Manager, selection: &Selection) -> Manager {
    let other = named("QM1");
    let text = dump(manager, selection);
    let (answer, summary) = session(&other, &text);
    assert_eq!((summary.syntax_errors, summary.failed), (0, 0), "{answer}\n{text}");
    other
}

#[test]
fn every_kind_of_object_comes_back() {
    let manager = manager();
    let console = Console::new(&manager);
    for command in [
        "ALTER QMGR DEADQ(DLQ) DESCR('It''s; all') MAXPROPL(NOLIMIT)",
        "DEF QL(Q.1) DESCR('with + at the end +') TRIGGER INITQ(I) PROCESS(P)",
        "DEF QA(A) TARGET(Q.1)",
        "DEF QR(R) RNAME(Q) RQMNAME(QM2) XMITQ(X)",
        "DEF QM(M) DEFTYPE(PERMDYN)",
        "DEF TOPIC(T) TOPICSTR('Sport/Tennis')",
        "DEF PROCESS(P) APPLICID('/bin/it') USERDATA('a b')",
        "DEF NL(N) NAMES(A,B,'c')",
        "DEF LISTENER(L) TRPTYPE(TCP) PORT(1415)",
        "DEF SERVICE(S) STARTCMD('/bin/true')",
        "DEF STGCLASS(FAST) PSID(4)",
        "DEF CHL(SND) CHLTYPE(SDR) CONNAME('h(1414),i(1415)') XMITQ(X)",
        "DEF CHL(CLI) CHLTYPE(CLNTCONN) CONNAME('h(1414)') QMNAME(QM1)",
        "DEF CHL(SVR) CHLTYPE(SVRCONN) MAXINST(3)",
        "SET CHLAUTH('SVR') TYPE(ADDRESSMAP) ADDRESS('10.*') USERSRC(MAP) MCAUSER('joe')",
        "SET AUTHREC PROFILE('Q.**') OBJTYPE(QUEUE) GROUP('staff') AUTHADD(PUT)",
        "DEF SUB('my sub') TOPICSTR('Sport/#') DEST(Q.1)",
        "DEF SUB('its own') TOPICSTR('Sport/#') DESTCLAS(MANAGED)",
    ] {
        done(&console, command);
    }
    for one_line in [false, true] {
        let selection = Selection { one_line, ..Selection::default() };
        let other = again(&manager, &selection);
        let (old, new) = (comparable(&manager, &selection), comparable(&other, &selection));
        assert_eq!(old, new);
        assert!(old.contains("DEFINE QLOCAL('Q.1')"), "{old}");
    }
}

#[test]
fn a_selection_leaves_out_the_rest() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEF QL(APP.ONE) MAXDEPTH(3)");
    done(&console, "DEF QL(OTHER)");
    let selection = Selection { name: "APP.*".into(), all: false, ..Selection::default() };
    let text = dump(&manager, &selection);
    assert!(text.contains("DEFINE QLOCAL('APP.ONE') +\n   MAXDEPTH(3) +\n"), "{text}");
    assert!(!text.contains("OTHER"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_text_and_any_number_comes_back(
        description in "[ -~]{0,64}",
        data in "[ -~]{0,64}",
        depth in 0_i64..=999_999_999,
        names in proptest::collection::vec("[A-Za-z0-9._%/]{1,48}", 1..4),
    ) {
        let manager = manager();
        let console = Console::new(&manager);
        let quoted = |text: &str| text.replace('\'', "''");
        for name in &names {
            let command = format!(
                "DEFINE QLOCAL('{name}') REPLACE DESCR('{}') TRIGDATA('{}') MAXDEPTH({depth})",
                quoted(&description),
                quoted(&data),
            );
            done(&console, &command);
        }
        let selection = Selection::default();
        let other = again(&manager, &selection);
        prop_assert_eq!(comparable(&manager, &selection), comparable(&other, &selection));
        for name in &names {
            let answer = done(&Console::new(&other), &format!("DIS QL('{name}') MAXDEPTH"));
            let expected = format!("MAXDEPTH({depth})");
            prop_assert!(answer.contains(&expected), "{}", answer);
        }
    }
}
