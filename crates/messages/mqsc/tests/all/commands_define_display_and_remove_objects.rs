//! What is defined is there, is changed by what changes it, and is gone when it is deleted.

use mqsc::Console;

use crate::common::{done, manager, refused, session};

#[test]
fn a_queue_is_defined_altered_and_deleted() {
    let manager = manager();
    let console = Console::new(&manager);
    let answer = done(&console, "DEFINE QLOCAL(APP.IN) DESCR('Orders') MAXDEPTH(7) NOSHARE");
    assert!(answer.starts_with("AMQ8006I: "), "{answer}");
    let answer = done(&console, "DISPLAY QLOCAL(APP.IN) MAXDEPTH DESCR SHARE");
    assert_eq!(
        answer,
        "AMQ8409I: Display Queue details.\n   QUEUE(APP.IN)                           \
         TYPE(QLOCAL)\n   DESCR(Orders)                           MAXDEPTH(7)\n   NOSHARE\n"
    );
    assert!(done(&console, "ALTER QL(APP.IN) MAXDEPTH(8)").starts_with("AMQ8008I: "));
    let answer = done(&console, "DIS Q(APP.IN) MAXDEPTH DESCR");
    assert!(answer.contains("MAXDEPTH(8)") && answer.contains("DESCR(Orders)"), "{answer}");
    assert!(done(&console, "DELETE QLOCAL(APP.IN)").starts_with("AMQ8007I: "));
    assert!(refused(&console, "DISPLAY QLOCAL(APP.IN)").starts_with("AMQ8147E: "));
}

#[test]
fn an_object_that_is_there_is_replaced_only_on_request() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE QLOCAL(Q) DESCR('old') MAXDEPTH(7)");
    assert!(refused(&console, "DEFINE QLOCAL(Q)").starts_with("AMQ8150E: "));
    assert!(refused(&console, "DEFINE QLOCAL(Q) NOREPLACE").starts_with("AMQ8150E: "));
    // What a definition does not say, it does not keep.
    done(&console, "DEFINE QLOCAL(Q) MAXDEPTH(9) REPLACE");
    let answer = done(&console, "DISPLAY QLOCAL(Q) MAXDEPTH DESCR");
    assert!(answer.contains("MAXDEPTH(9)") && answer.contains("DESCR( )"), "{answer}");
    // A queue does not become one of another kind.
    assert!(refused(&console, "DEFINE QALIAS(Q) TARGET(X) REPLACE").starts_with("AMQ8150E: "));
}

#[test]
fn a_definition_begins_with_the_object_that_like_names() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "DEFINE QLOCAL(PATTERN) DESCR('as this') MAXDEPTH(77) DEFPSIST(YES)");
    done(&console, "DEFINE QLOCAL(COPY) LIKE(PATTERN) MAXDEPTH(78)");
    let answer = done(&console, "DISPLAY QLOCAL(COPY) ALL");
    for part in ["DESCR(as this)", "MAXDEPTH(78)", "DEFPSIST(YES)", "CURDEPTH(0)"] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(refused(&console, "DEFINE QLOCAL(X) LIKE(NOWHERE)").starts_with("AMQ8147E: "));
}

#[test]
fn every_kind_of_object_is_kept_with_its_attributes() {
    let manager = manager();
    let console = Console::new(&manager);
    for (definition, display, part) in [
        ("DEF QA(A) TARGQ(APP.IN)", "DIS QA(A) TARGET", "TARGET(APP.IN)"),
        ("DEF QR(R) RNAME(Q) RQMNAME(QM2) XMITQ(X)", "DIS QR(R) RQMNAME", "RQMNAME(QM2)"),
        ("DEF QM(M) DEFTYPE(PERMDYN)", "DIS QM(M) DEFTYPE", "DEFTYPE(PERMDYN)"),
        ("DEF TOPIC(T) TOPICSTR('a/b')", "DIS TOPIC(T) TOPICSTR", "TOPICSTR(a/b)"),
        ("DEF PROCESS(P) APPLICID('run me')", "DIS PROCESS(P)", "APPLICID(run me)"),
        ("DEF NL(N) NAMES(A,B)", "DIS NL(N) NAMES", "NAMES(A,B)"),
        ("DEF LISTENER(L) TRPTYPE(TCP) PORT(1415)", "DIS LISTENER(L)", "PORT(1415)"),
        ("DEF SERVICE(S) STARTCMD('/bin/true')", "DIS SERVICE(S)", "STARTCMD(/bin/true)"),
        ("DEF STGCLASS(FAST) PSID(4)", "DIS STGCLASS(FAST)", "PSID(4)"),
        (
            "DEF AUTHINFO(AI) AUTHTYPE(IDPWOS) CHCKCLNT(REQUIRED)",
            "DIS AUTHINFO(AI)",
            "CHCKCLNT(REQUIRED)",
        ),
        (
            "DEF CHL(TO.QM2) CHLTYPE(SDR) CONNAME('h(1414)') XMITQ(X)",
            "DIS CHL(TO.QM2)",
            "CONNAME(h(1414))",
        ),
        (
            "SET CHLAUTH('A.*') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(NOACCESS)",
            "DIS CHLAUTH('A.*')",
            "USERSRC(NOACCESS)",
        ),
        (
            "SET AUTHREC PROFILE('APP.**') OBJTYPE(QUEUE) PRINCIPAL('joe') AUTHADD(PUT,GET)",
            "DIS AUTHREC PROFILE('APP.**')",
            "AUTHLIST(GET,PUT)",
        ),
    ] {
        done(&console, definition);
        let answer = done(&console, display);
        assert!(answer.contains(part), "{display}: {answer}");
    }
    let answer = done(&console, "DISPLAY CHANNEL(TO.QM2)");
    assert!(answer.contains("CHLTYPE(SDR)") && !answer.contains("MAXINSTC"), "{answer}");
}

#[test]
fn channels_have_the_attributes_of_their_type() {
    let manager = manager();
    let console = Console::new(&manager);
    let answer = refused(&console, "DEFINE CHANNEL(C) CHLTYPE(SVRCONN) XMITQ(X)");
    assert!(answer.contains("XMITQ is no keyword of DEFINE CHANNEL CHLTYPE(SVRCONN)"), "{answer}");
    assert!(refused(&console, "DEFINE CHANNEL(C)").contains("needs CHLTYPE"));
    let answer = refused(&console, "DEFINE CHANNEL(C) CHLTYPE(SDR) XMITQ(X)");
    assert!(answer.contains("needs CONNAME"), "{answer}");
    done(&console, "DEFINE CHANNEL(C) CHLTYPE(SVRCONN)");
    let answer = refused(&console, "ALTER CHANNEL(C) CHLTYPE(RCVR)");
    assert!(answer.contains("CHLTYPE is SVRCONN"), "{answer}");
    done(&console, "ALTER CHANNEL(C) CHLTYPE(SVRCONN) MAXINST(5)");
    let answer = refused(&console, "START CHANNEL(C)");
    assert!(answer.contains("is of type SVRCONN"), "{answer}");
    assert!(refused(&console, "DISPLAY CHSTATUS(*)").starts_with("AMQ8420I: "));
}

#[test]
fn a_command_that_is_wrong_in_its_last_word_does_nothing() {
    let manager = manager();
    let console = Console::new(&manager);
    let answer = refused(&console, "DEFINE QLOCAL(Q) MAXDEPTH(5) NOSUCH(1)");
    assert!(
        answer.starts_with("AMQ8405I: ") && answer.contains("NOSUCH is no keyword"),
        "{answer}"
    );
    assert!(answer.ends_with("DEFINE QLOCAL(Q) MAXDEPTH(5) NOSUCH\n"), "{answer}");
    refused(&console, "DISPLAY QLOCAL(Q)");
    done(&console, "DEFINE QLOCAL(Q) MAXDEPTH(5)");
    refused(&console, "ALTER QLOCAL(Q) MAXDEPTH(6) MAXMSGL(ABC)");
    assert!(done(&console, "DIS QL(Q) MAXDEPTH").contains("MAXDEPTH(5)"));
    for read_only in ["CURDEPTH(1)", "CRDATE('x')", "ALTTIME('x')"] {
        refused(&console, &format!("ALTER QLOCAL(Q) {read_only}"));
    }
}

#[test]
fn the_queue_manager_is_altered_and_pinged() {
    let manager = manager();
    let console = Console::new(&manager);
    done(&console, "ALTER QMGR DEADQ(DLQ) MAXUMSGS(99)");
    let answer = done(&console, "DISPLAY QMGR DEADQ MAXUMSGS");
    assert!(answer.starts_with("AMQ8408I: Display Queue Manager details.\n   QMNAME(QM1) "));
    assert!(answer.contains("DEADQ(DLQ)") && answer.contains("MAXUMSGS(99)"), "{answer}");
    assert!(done(&console, "PING QMGR").starts_with("AMQ8415I: "));
    assert!(done(&console, "DISPLAY QMSTATUS").contains("STATUS(RUNNING)"));
}

#[test]
fn what_there_is_no_function_for_is_refused() {
    let manager = manager();
    let console = Console::new(&manager);
    for command in [
        "DISPLAY USAGE PSID(*)",
        "SET LOG MAXARCH(4)",
        "ARCHIVE LOG",
        "DISPLAY LOG",
        "RECOVER BSDS",
        "DISPLAY SMDS(*)",
        "STOP QMGR",
    ] {
        let answer = refused(&console, command);
        assert!(answer.contains("is not provided"), "{command}: {answer}");
    }
}

#[test]
fn a_session_counts_what_it_did() {
    let manager = manager();
    let script = "DEFINE QLOCAL(A) +\n  MAXDEPTH(5)\n* comment\nDEFINE QLOCAL(A)\nFOO\nEND\n";
    let (text, summary) = session(&manager, script);
    assert!(text.contains("     1 : DEFINE QLOCAL(A) +\n       :   MAXDEPTH(5)\nAMQ8006I: "));
    assert_eq!((summary.read, summary.syntax_errors, summary.failed), (3, 1, 1));
    assert!(text.ends_with(
        "3 MQSC commands read.\nOne command has a syntax error.\nOne valid MQSC command could not \
         be processed.\n"
    ));
}
