       IDENTIFICATION DIVISION.
       PROGRAM-ID.    TELLONL.
       AUTHOR.        TELLER SYSTEMS GROUP.
      *----------------------------------------------------------------
      * POSTS ONE TRANSACTION OF A TELLER AT HIS TERMINAL: WHAT TELLER
      * DOES FOR A DAY'S FILE, FOR EACH MESSAGE OF TRANSACTION TELL.
      *
      * THE SAME TRANSACTION SENT AGAIN IS FOUND BY ITS REFERENCE AND
      * ANSWERED AS POSTED BEFORE: A TERMINAL THAT DID NOT HEAR THE
      * ANSWER MAY ASK AGAIN.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY CUSTSSA.
           COPY BRANSSA.
           COPY HISTSSA.
       01  SSA-POSTING-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'POSTING (POSTKEY = '.
           05  SSA-POSTING-KEY       PIC X(17).
           05  FILLER                PIC X(01)  VALUE ')'.
      * CUSTOMER AND ACCOUNT COME TOGETHER, BY ONE PATH CALL.
       01  PATH-AREA.
           COPY CUSTSEG.
           COPY ACCTSEG.
       01  POSTING-AREA.
           COPY POSTSEG.
       01  BRANCH-AREA.
           COPY BRANSEG.
       01  BRDAY-AREA.
           COPY BRDYSEG.
       01  HISTACCT-AREA.
           COPY HACCSEG.
       01  HISTENT-AREA.
           COPY HENTSEG.
       01  TERMINAL-INPUT.
           COPY TELLIN.
       01  TERMINAL-OUTPUT.
           COPY TELLOUT.
       01  SWITCHES.
           05  REFUSAL                   PIC X(20).
               88  ACCEPTED                         VALUE SPACES.
           05  DONE-SWITCH               PIC X(01).
               88  DONE-BEFORE                      VALUE 'Y'.
       01  WORK-AREA.
           05  SIGNED-AMOUNT             PIC S9(11)V99 COMP-3.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==CUS==.
           COPY DBPCBM REPLACING ==:P:== BY ==BRA==.
           COPY DBPCBM REPLACING ==:P:== BY ==HIS==.

       PROCEDURE DIVISION USING IO-PCB CUS-PCB BRA-PCB HIS-PCB.

       0000-MAIN.
           MOVE 'TELLONL' TO ERR-PROGRAM.
           PERFORM 1000-NEXT-MESSAGE.
           PERFORM 2000-TRANSACTION UNTIL NOT IO-OK.
           GOBACK.

      * THE MESSAGE BEFORE IS COMMITTED BY THIS CALL.
       1000-NEXT-MESSAGE.
           MOVE SPACES TO TERMINAL-INPUT.
           CALL 'CBLTDLI' USING DLI-GU IO-PCB TERMINAL-INPUT.
           IF NOT IO-OK AND NOT IO-NO-MESSAGE
               MOVE DLI-GU TO ERR-CALL
               MOVE '1000-NEXT-MESSAGE' TO ERR-PARAGRAPH
               GO TO 9000-IO-ERROR
           END-IF.

       2000-TRANSACTION.
           MOVE SPACES TO REFUSAL.
           MOVE 'N' TO DONE-SWITCH.
           PERFORM 2050-CHECK-INPUT.
           IF ACCEPTED PERFORM 2100-FIND-ACCOUNT.
           IF ACCEPTED PERFORM 2150-SENT-BEFORE.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2200-FIND-BRANCH
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2300-CHECK-LIMIT
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2400-POST
               PERFORM 2500-BRANCH-TOTALS
               PERFORM 2600-HISTORY
           END-IF.
           PERFORM 3000-ANSWER.
           PERFORM 1000-NEXT-MESSAGE.

       2050-CHECK-INPUT.
           IF TELL-REF NOT NUMERIC OR TELL-DATE NOT NUMERIC
                   OR TELL-TIME NOT NUMERIC OR TELL-AMOUNT NOT NUMERIC
               MOVE 'NOT NUMERIC' TO REFUSAL
           ELSE
               IF NOT TELL-IS-DEPOSIT AND NOT TELL-IS-WITHDRAWAL
                   MOVE 'UNKNOWN KIND' TO REFUSAL
               END-IF
           END-IF.

       2100-FIND-ACCOUNT.
           MOVE 'D' TO SSA-CUSTOMER-CODE.
           MOVE TELL-CUSTOMER TO SSA-CUSTOMER-KEY.
           MOVE TELL-ACCOUNT TO SSA-ACCOUNT-KEY.
           CALL 'CBLTDLI' USING DLI-GHU CUS-PCB PATH-AREA
                                SSA-CUSTOMER-EQ SSA-ACCOUNT-EQ.
           IF CUS-NOT-FOUND
               MOVE 'NO SUCH ACCOUNT' TO REFUSAL
           ELSE
               IF NOT CUS-OK
                   MOVE DLI-GHU TO ERR-CALL
                   MOVE '2100-FIND-ACCOUNT' TO ERR-PARAGRAPH
                   MOVE CUS-PCB TO ERR-PCB
                   GO TO 9100-DB-ERROR
               END-IF
               IF CUST-BLOCKED
                   MOVE 'CUSTOMER IS BLOCKED' TO REFUSAL
               END-IF
           END-IF.

      * A POSTING WITH THAT DATE AND REFERENCE IS THIS ONE.
       2150-SENT-BEFORE.
           MOVE TELL-DATE TO POST-DATE.
           MOVE TELL-REF TO POST-REF.
           MOVE POST-KEY TO SSA-POSTING-KEY.
           MOVE '-' TO SSA-CUSTOMER-CODE.
           CALL 'CBLTDLI' USING DLI-GU CUS-PCB POST-SEG
                                SSA-CUSTOMER-EQ SSA-ACCOUNT-EQ
                                SSA-POSTING-EQ.
           IF CUS-OK
               MOVE 'Y' TO DONE-SWITCH
           ELSE
               IF NOT CUS-NOT-FOUND
                   MOVE DLI-GU TO ERR-CALL
                   MOVE '2150-SENT-BEFORE' TO ERR-PARAGRAPH
                   MOVE CUS-PCB TO ERR-PCB
                   GO TO 9100-DB-ERROR
               END-IF
      * THE ACCOUNT IS HELD AGAIN: A GET HAS LET IT GO.
               PERFORM 2100-FIND-ACCOUNT
           END-IF.

       2200-FIND-BRANCH.
           MOVE TELL-BRANCH TO SSA-BRANCH-KEY.
           CALL 'CBLTDLI' USING DLI-GHU BRA-PCB BRAN-SEG SSA-BRANCH-EQ.
           IF BRA-NOT-FOUND
               MOVE 'NO SUCH BRANCH' TO REFUSAL
           ELSE
               IF NOT BRA-OK
                   MOVE DLI-GHU TO ERR-CALL
                   MOVE '2200-FIND-BRANCH' TO ERR-PARAGRAPH
                   MOVE BRA-PCB TO ERR-PCB
                   GO TO 9100-DB-ERROR
               END-IF
           END-IF.

       2300-CHECK-LIMIT.
           IF TELL-IS-WITHDRAWAL
               COMPUTE SIGNED-AMOUNT = 0 - TELL-AMOUNT
               IF ACCT-BALANCE + SIGNED-AMOUNT < 0 - ACCT-LIMIT
                   MOVE 'OVER THE LIMIT' TO REFUSAL
               END-IF
           ELSE
               MOVE TELL-AMOUNT TO SIGNED-AMOUNT
           END-IF.

       2400-POST.
           ADD SIGNED-AMOUNT TO ACCT-BALANCE.
           ADD 1 TO ACCT-POSTINGS.
           MOVE TELL-DATE TO ACCT-LAST-DATE.
           CALL 'CBLTDLI' USING DLI-REPL CUS-PCB PATH-AREA
                                SSA-CUSTOMER-KEEP SSA-ACCOUNT.
           IF NOT CUS-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2400-POST' TO ERR-PARAGRAPH
               MOVE CUS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE SPACES TO POST-SEG.
           MOVE TELL-DATE TO POST-DATE.
           MOVE TELL-REF TO POST-REF.
           MOVE TELL-KIND TO POST-KIND.
           MOVE SIGNED-AMOUNT TO POST-AMOUNT.
           SET POST-BY-TELLER TO TRUE.
           MOVE TELL-TELLER TO POST-TELLER.
           MOVE TELL-TEXT TO POST-TEXT.
           MOVE '-' TO SSA-CUSTOMER-CODE.
           CALL 'CBLTDLI' USING DLI-ISRT CUS-PCB POST-SEG
                                SSA-CUSTOMER-EQ SSA-ACCOUNT-EQ
                                SSA-POSTING.
           IF NOT CUS-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2400-POST' TO ERR-PARAGRAPH
               MOVE CUS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2500-BRANCH-TOTALS.
           IF TELL-IS-DEPOSIT
               ADD TELL-AMOUNT TO BRAN-DEPOSITS
           ELSE
               ADD TELL-AMOUNT TO BRAN-WITHDRAWALS
           END-IF.
           ADD 1 TO BRAN-COUNT.
           CALL 'CBLTDLI' USING DLI-REPL BRA-PCB BRAN-SEG.
           IF NOT BRA-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2500-BRANCH-TOTALS' TO ERR-PARAGRAPH
               MOVE BRA-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE TELL-DATE TO SSA-BRDAY-KEY.
           CALL 'CBLTDLI' USING DLI-GHU BRA-PCB BRDY-SEG
                                SSA-BRANCH-EQ SSA-BRDAY-EQ.
           EVALUATE TRUE
               WHEN BRA-OK
                   PERFORM 2510-COUNT-DAY
                   MOVE DLI-REPL TO ERR-CALL
                   CALL 'CBLTDLI' USING DLI-REPL BRA-PCB BRDY-SEG
               WHEN BRA-NOT-FOUND
                   MOVE SPACES TO BRDY-SEG
                   MOVE TELL-DATE TO BRDY-DAY
                   MOVE 0 TO BRDY-DEPOSITS BRDY-WITHDRAWALS BRDY-COUNT
                   PERFORM 2510-COUNT-DAY
                   MOVE DLI-ISRT TO ERR-CALL
                   CALL 'CBLTDLI' USING DLI-ISRT BRA-PCB BRDY-SEG
                                        SSA-BRANCH-EQ SSA-BRDAY
               WHEN OTHER
                   MOVE DLI-GHU TO ERR-CALL
           END-EVALUATE.
           IF NOT BRA-OK
               MOVE '2500-BRANCH-TOTALS' TO ERR-PARAGRAPH
               MOVE BRA-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2510-COUNT-DAY.
           IF TELL-IS-DEPOSIT
               ADD TELL-AMOUNT TO BRDY-DEPOSITS
           ELSE
               ADD TELL-AMOUNT TO BRDY-WITHDRAWALS
           END-IF.
           ADD 1 TO BRDY-COUNT.

       2600-HISTORY.
           MOVE SPACES TO HENT-SEG.
           MOVE TELL-DATE TO HENT-DATE.
           MOVE TELL-REF TO HENT-REF.
           MOVE TELL-TIME TO HENT-TIME.
           SET HENT-BY-TELLER TO TRUE.
           MOVE TELL-BRANCH TO HENT-BRANCH.
           MOVE TELL-TELLER TO HENT-TELLER.
           MOVE SIGNED-AMOUNT TO HENT-AMOUNT.
           MOVE ACCT-BALANCE TO HENT-BALANCE.
           MOVE TELL-TEXT TO HENT-TEXT.
           MOVE TELL-ACCOUNT TO SSA-HISTACCT-KEY.
           CALL 'CBLTDLI' USING DLI-ISRT HIS-PCB HENT-SEG
                                SSA-HISTACCT-EQ SSA-HISTENT.
           IF HIS-NOT-FOUND
               PERFORM 2610-FIRST-OF-ACCOUNT
           END-IF.
           IF NOT HIS-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2600-HISTORY' TO ERR-PARAGRAPH
               MOVE HIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2610-FIRST-OF-ACCOUNT.
           MOVE SPACES TO HACC-SEG.
           MOVE TELL-ACCOUNT TO HACC-ACCOUNT.
           MOVE TELL-DATE TO HACC-SINCE.
           MOVE TELL-BRANCH TO HACC-BRANCH.
           CALL 'CBLTDLI' USING DLI-ISRT HIS-PCB HACC-SEG SSA-HISTACCT.
           IF HIS-OK
               CALL 'CBLTDLI' USING DLI-ISRT HIS-PCB HENT-SEG
                                    SSA-HISTACCT-EQ SSA-HISTENT
           END-IF.

       3000-ANSWER.
           MOVE SPACES TO TERMINAL-OUTPUT.
           MOVE LENGTH OF TERMINAL-OUTPUT TO TOUT-LL.
           MOVE LOW-VALUES TO TOUT-ZZ.
           MOVE TELL-REF TO TOUT-REF.
           EVALUATE TRUE
               WHEN NOT ACCEPTED
                   MOVE 'REFUSED' TO TOUT-RESULT
                   MOVE REFUSAL TO TOUT-REASON
               WHEN DONE-BEFORE
                   MOVE 'POSTED' TO TOUT-RESULT
                   MOVE 'BEFORE' TO TOUT-REASON
                   MOVE ACCT-BALANCE TO TOUT-BALANCE
               WHEN OTHER
                   MOVE 'POSTED' TO TOUT-RESULT
                   MOVE ACCT-BALANCE TO TOUT-BALANCE
           END-EVALUATE.
           CALL 'CBLTDLI' USING DLI-ISRT IO-PCB TERMINAL-OUTPUT.
           IF NOT IO-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3000-ANSWER' TO ERR-PARAGRAPH
               GO TO 9000-IO-ERROR
           END-IF.

       9000-IO-ERROR.
           MOVE SPACES TO ERR-PCB.
           MOVE 'I/O PCB' TO ERR-DBD-NAME.
           MOVE IO-STATUS TO ERR-STATUS.
           PERFORM 9100-DB-ERROR.

      * WHAT WAS DONE FOR THIS MESSAGE IS TAKEN BACK.
       9100-DB-ERROR.
           MOVE TERMINAL-INPUT (5:35) TO ERR-KEY.
           PERFORM 9900-DLI-ERROR.
           CALL 'CBLTDLI' USING DLI-ROLL IO-PCB.
           GOBACK.

           COPY DLERRP.
