      * A message program: does what each message says, and answers.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. TELLER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  FUNCTIONS.
           05  FN-GU            PIC X(4) VALUE 'GU  '.
           05  FN-GN            PIC X(4) VALUE 'GN  '.
           05  FN-ISRT          PIC X(4) VALUE 'ISRT'.
           05  FN-CHNG          PIC X(4) VALUE 'CHNG'.
           05  FN-PURG          PIC X(4) VALUE 'PURG'.
           05  FN-ROLB          PIC X(4) VALUE 'ROLB'.
           05  FN-ROLL          PIC X(4) VALUE 'ROLL'.
       01  MOD-NAME             PIC X(8) VALUE 'TELLOUT'.
       01  WHITHER              PIC X(8) VALUE 'BACKEND'.
       01  SEEN                 PIC 9(4) VALUE 0.
       01  ROLLED               PIC X VALUE 'N'.
       01  IN-MESSAGE.
           05  IN-LL            PIC S9(4) COMP.
           05  IN-ZZ            PIC S9(4) COMP.
           05  IN-TEXT          PIC X(60).
       01  OUT-MESSAGE.
           05  OUT-LL           PIC S9(4) COMP VALUE 24.
           05  OUT-ZZ           PIC S9(4) COMP VALUE 0.
           05  OUT-TEXT.
               10  OUT-WHAT     PIC X(8).
               10  OUT-SEEN     PIC 9(4).
               10  OUT-USER     PIC X(8).
       01  CUSTOMER.
           05  CUSTNO           PIC X(4).
           05  FILLER           PIC X(16) VALUE SPACES.
       01  CUSTOMER-SSA         PIC X(9) VALUE 'CUSTOMER '.
       LINKAGE SECTION.
       01  IO-PCB.
           05  IO-TERMINAL      PIC X(8).
           05  FILLER           PIC X(2).
           05  IO-STATUS        PIC X(2).
           05  FILLER           PIC X(20).
           05  IO-USER          PIC X(8).
           05  FILLER           PIC X(24).
       01  PRINTER-PCB.
           05  FILLER           PIC X(12).
       01  OTHER-PCB.
           05  OTHER-NAME       PIC X(8).
           05  FILLER           PIC X(2).
           05  OTHER-STATUS     PIC X(2).
       01  DB-PCB.
           05  FILLER           PIC X(10).
           05  DB-STATUS        PIC X(2).
       01  NOWHERE              PIC X(8).
       PROCEDURE DIVISION USING IO-PCB PRINTER-PCB OTHER-PCB DB-PCB.
       MAIN.
           MOVE SPACES TO IN-TEXT.
           CALL 'CBLTDLI' USING FN-GU IO-PCB IN-MESSAGE.
           PERFORM ONE-MESSAGE UNTIL IO-STATUS NOT = SPACES.
           GOBACK.
       ONE-MESSAGE.
           ADD 1 TO SEEN.
           EVALUATE IN-TEXT(1:4)
             WHEN 'STOP'
               PERFORM ANSWER
               STOP RUN
             WHEN 'S0C4'
               PERFORM ANSWER
               PERFORM STORE-CUSTOMER
               SET ADDRESS OF NOWHERE TO NULL
               MOVE SPACES TO NOWHERE
             WHEN 'LOOP'
               PERFORM STORE-CUSTOMER
               PERFORM UNTIL ROLLED = 'X'
                 CONTINUE
               END-PERFORM
             WHEN 'ROLL'
               PERFORM STORE-CUSTOMER
               CALL 'CBLTDLI' USING FN-ROLL
             WHEN 'ROLB'
               IF ROLLED = 'N'
                 MOVE 'Y' TO ROLLED
                 PERFORM STORE-CUSTOMER
                 PERFORM ANSWER
                 CALL 'CBLTDLI' USING FN-ROLB IO-PCB IN-MESSAGE
                 MOVE 'AGAIN' TO IN-TEXT(5:5)
               END-IF
               PERFORM ANSWER
             WHEN 'MANY'
               PERFORM SEGMENTS
             WHEN 'SEND'
               CALL 'CBLTDLI' USING FN-CHNG OTHER-PCB WHITHER
               MOVE 'SENT' TO OUT-WHAT
               MOVE SEEN TO OUT-SEEN
               MOVE OTHER-NAME TO OUT-USER
               CALL 'CBLTDLI' USING FN-ISRT OTHER-PCB OUT-MESSAGE
                                    MOD-NAME
               CALL 'CBLTDLI' USING FN-PURG OTHER-PCB
               PERFORM ANSWER
             WHEN 'SUBS'
               CALL 'TELLSUB' USING SEEN
               PERFORM ANSWER
             WHEN OTHER
               PERFORM ANSWER
           END-EVALUATE.
           MOVE SPACES TO IN-TEXT.
           CALL 'CBLTDLI' USING FN-GU IO-PCB IN-MESSAGE.
       SEGMENTS.
           PERFORM ANSWER.
           MOVE SPACES TO IN-TEXT.
           CALL 'CBLTDLI' USING FN-GN IO-PCB IN-MESSAGE.
           PERFORM UNTIL IO-STATUS NOT = SPACES
             MOVE IN-TEXT(1:8) TO OUT-WHAT
             CALL 'CBLTDLI' USING FN-ISRT IO-PCB OUT-MESSAGE
             MOVE SPACES TO IN-TEXT
             CALL 'CBLTDLI' USING FN-GN IO-PCB IN-MESSAGE
           END-PERFORM.
       ANSWER.
           MOVE IN-TEXT(1:8) TO OUT-WHAT.
           MOVE SEEN TO OUT-SEEN.
           MOVE IO-USER TO OUT-USER.
           CALL 'CBLTDLI' USING FN-ISRT IO-PCB OUT-MESSAGE MOD-NAME.
       STORE-CUSTOMER.
           MOVE '9999' TO CUSTNO.
           CALL 'CBLTDLI' USING FN-ISRT DB-PCB CUSTOMER CUSTOMER-SSA.
