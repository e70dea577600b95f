//! A COBOL program with our copybooks and the library for COBOL.

#![allow(clippy::unwrap_used)] // a test that fails says where

use std::process::Command;

use crate::place::{Place, include, libraries, real_manager, run};

const SOURCE: &str = r#"
       IDENTIFICATION DIVISION.
       PROGRAM-ID. ORDERS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01 MQM-CONSTANTS.
           COPY CMQV.
       01 MQM-OBJECT-DESCRIPTOR.
           COPY CMQODV.
       01 MQM-MESSAGE-DESCRIPTOR.
           COPY CMQMDV.
       01 MQM-PUT-OPTIONS.
           COPY CMQPMOV.
       01 MQM-GET-OPTIONS.
           COPY CMQGMOV.
       01 QM-NAME PIC X(48) VALUE 'QM1'.
       01 HCONN PIC S9(9) COMP-5.
       01 HOBJ PIC S9(9) COMP-5.
       01 OPEN-OPTIONS PIC S9(9) COMP-5.
       01 BUFFER-LENGTH PIC S9(9) COMP-5.
       01 DATA-LENGTH PIC S9(9) COMP-5.
       01 COMP-CODE PIC S9(9) COMP-5.
       01 REASON PIC S9(9) COMP-5.
       01 ORDER-OUT PIC X(20) VALUE 'ORDER 4711'.
       01 ORDER-IN PIC X(20).
       PROCEDURE DIVISION.
           CALL 'MQCONN' USING QM-NAME HCONN COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           MOVE 'APP.Q' TO MQOD-OBJECTNAME.
           COMPUTE OPEN-OPTIONS = MQOO-OUTPUT + MQOO-INPUT-SHARED.
           CALL 'MQOPEN' USING HCONN MQOD OPEN-OPTIONS HOBJ
               COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           MOVE MQFMT-STRING TO MQMD-FORMAT.
           MOVE MQPMO-SYNCPOINT TO MQPMO-OPTIONS.
           MOVE 20 TO BUFFER-LENGTH.
           CALL 'MQPUT' USING HCONN HOBJ MQMD MQPMO BUFFER-LENGTH
               ORDER-OUT COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           CALL 'MQCMIT' USING HCONN COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           MOVE MQMI-NONE TO MQMD-MSGID.
           COMPUTE MQGMO-OPTIONS = MQGMO-SYNCPOINT + MQGMO-WAIT.
           MOVE 1000 TO MQGMO-WAITINTERVAL.
           CALL 'MQGET' USING HCONN HOBJ MQMD MQGMO BUFFER-LENGTH
               ORDER-IN DATA-LENGTH COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           DISPLAY 'GOT ' ORDER-IN DATA-LENGTH.
           CALL 'MQCMIT' USING HCONN COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           CALL 'MQGET' USING HCONN HOBJ MQMD MQGMO BUFFER-LENGTH
               ORDER-IN DATA-LENGTH COMP-CODE REASON.
           IF REASON NOT = MQRC-NO-MSG-AVAILABLE
               PERFORM MUST-BE-OK.
           CALL 'MQCLOSE' USING HCONN HOBJ MQCO-NONE
               COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           CALL 'MQDISC' USING HCONN COMP-CODE REASON.
           PERFORM MUST-BE-OK.
           STOP RUN.
       MUST-BE-OK.
           IF COMP-CODE NOT = MQCC-OK
               DISPLAY 'FAILED ' COMP-CODE ' ' REASON
               MOVE 1 TO RETURN-CODE
               STOP RUN.
"#;

#[test]
fn a_program_puts_and_gets_with_every_argument_by_reference() {
    let manager = real_manager(&["APP.Q"]);
    let place = Place::new(manager.clone());
    let (source, binary) = (place.folder.join("orders.cob"), place.folder.join("orders"));
    std::fs::write(&source, SOURCE).unwrap();
    let mut cobc = Command::new("cobc");
    cobc.args(["-x", "-std=ibm", "-fstatic-call", "-Wno-others", "-I"])
        .arg(include().join("cobol"));
    cobc.arg("-o").arg(&binary).arg(&source).arg("-L").arg(libraries()).arg("-lmqmcb_r");
    run(&mut cobc);
    let printed = run(&mut place.program(&binary));
    assert!(printed.starts_with("GOT ORDER 4711") && printed.contains("0000000020"), "{printed}");
    assert_eq!(manager.queue_status("APP.Q").unwrap().depth, 0);
}
