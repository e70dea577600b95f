       IDENTIFICATION DIVISION.
       PROGRAM-ID.    VERIFY.
       AUTHOR.        INTERNAL AUDIT.
      *----------------------------------------------------------------
      * PROVES THAT THE TELLER RUN LOST NOTHING AND DID NOTHING TWICE.
      *
      *   1. EVERY TRANSACTION OF TRANIN IS EITHER POSTED BELOW AN
      *      ACCOUNT, ONCE, OR IN REJIN, ONCE.
      *   2. EVERY POSTED ONE IS IN THE HISTORY, ONCE.
      *   3. THE POSTINGS OF EACH ACCOUNT ADD UP TO ITS BALANCE AND ARE
      *      AS MANY AS IT SAYS.
      *   4. THE DAYS OF EACH BRANCH ADD UP TO ITS TOTALS, AND THOSE OF
      *      ALL BRANCHES TO ALL THAT WAS POSTED.
      *
      * RETURN CODE 0 IF ALL OF THIS HOLDS, 8 IF NOT, 16 IF IT COULD
      * NOT BE FOUND OUT. IT CHANGES NOTHING.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
       01  SEGMENT-AREA                  PIC X(160).
       01  ACCOUNT-AREA.
           COPY ACCTSEG.
       01  POSTING-AREA.
           COPY POSTSEG.
       01  BRANCH-AREA.
           COPY BRANSEG.
       01  BRDAY-AREA.
           COPY BRDYSEG.
       01  HISTENT-AREA.
           COPY HENTSEG.
       01  TRANSACTION-AREA.
           COPY TRANREC.
       01  REJECT-AREA.
           COPY REJREC.

      * ONE MARK FOR EACH REFERENCE NUMBER, FROM THAT OF THE FIRST
      * TRANSACTION ON:  BLANK  NO SUCH TRANSACTION
      *                  I      IN TRANIN     R  REFUSED
      *                  P      POSTED        H  AND IN THE HISTORY
       01  MARK-TABLE.
           05  MARK                      PIC X(01)
                                         OCCURS 1000000 TIMES.
       77  MARK-MAX                      PIC S9(09) COMP VALUE 1000000.
       77  MARK-NO                       PIC S9(09) COMP.
       77  FIRST-REF                     PIC 9(09)  VALUE 0.
       77  LAST-NO                       PIC S9(09) COMP VALUE 0.
       77  SOUGHT-REF                    PIC 9(09).
       77  FOUND-MARK                    PIC X(01).

       01  COUNTERS.
           05  TRAN-COUNT                PIC S9(09) COMP-3 VALUE 0.
           05  POST-COUNT                PIC S9(09) COMP-3 VALUE 0.
           05  REJ-COUNT                 PIC S9(09) COMP-3 VALUE 0.
           05  HIST-COUNT                PIC S9(09) COMP-3 VALUE 0.
           05  CUST-COUNT                PIC S9(09) COMP-3 VALUE 0.
           05  ACCT-COUNT                PIC S9(09) COMP-3 VALUE 0.
           05  ALL-POST-COUNT            PIC S9(09) COMP-3 VALUE 0.
           05  ALL-HIST-COUNT            PIC S9(09) COMP-3 VALUE 0.
           05  BRAN-COUNTED              PIC S9(09) COMP-3 VALUE 0.
           05  ERROR-COUNT               PIC S9(09) COMP-3 VALUE 0.
       01  SUMS.
           05  DEPOSIT-SUM               PIC S9(15)V99 COMP-3 VALUE 0.
           05  WITHDRAWAL-SUM            PIC S9(15)V99 COMP-3 VALUE 0.
           05  BALANCE-SUM               PIC S9(15)V99 COMP-3 VALUE 0.
           05  HISTORY-SUM               PIC S9(15)V99 COMP-3 VALUE 0.
           05  BRANCH-DEPOSITS           PIC S9(15)V99 COMP-3 VALUE 0.
           05  BRANCH-WITHDRAWALS        PIC S9(15)V99 COMP-3 VALUE 0.
           05  BRANCH-POSTINGS           PIC S9(09) COMP-3 VALUE 0.
       01  ONE-ACCOUNT.
           05  OPEN-ACCOUNT              PIC X(01)  VALUE 'N'.
               88  ACCOUNT-IS-OPEN                  VALUE 'Y'.
           05  ACCOUNT-SUM               PIC S9(15)V99 COMP-3.
           05  ACCOUNT-COUNT             PIC S9(09) COMP-3.
       01  ONE-BRANCH.
           05  OPEN-BRANCH               PIC X(01)  VALUE 'N'.
               88  BRANCH-IS-OPEN                   VALUE 'Y'.
           05  DAYS-DEPOSITS             PIC S9(15)V99 COMP-3.
           05  DAYS-WITHDRAWALS          PIC S9(15)V99 COMP-3.
           05  DAYS-COUNT                PIC S9(09) COMP-3.
       77  COMPLAINT                     PIC X(40).
       77  ERRORS-SHOWN                  PIC S9(09) COMP-3 VALUE 20.
       77  EDITED-COUNT                  PIC ZZZ,ZZZ,ZZ9.
       77  EDITED-AMOUNT                 PIC Z(14)9.99-.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==CUS==.
           COPY DBPCBM REPLACING ==:P:== BY ==BRA==.
           COPY DBPCBM REPLACING ==:P:== BY ==HIS==.
           COPY GSPCBM REPLACING ==:P:== BY ==TRN==.
           COPY GSPCBM REPLACING ==:P:== BY ==REJ==.

       PROCEDURE DIVISION USING IO-PCB CUS-PCB BRA-PCB HIS-PCB
                                TRN-PCB REJ-PCB.

       0000-MAIN.
           MOVE 'VERIFY' TO ERR-PROGRAM.
           MOVE 0 TO RETURN-CODE.
           MOVE SPACES TO MARK-TABLE.
           PERFORM 1100-READ-TRANSACTION.
           PERFORM 1000-TRANSACTION UNTIL TRN-AT-END.
           PERFORM 2100-READ-REFUSAL.
           PERFORM 2000-REFUSAL UNTIL REJ-AT-END.
           PERFORM 3900-NEXT-OF-CUSTOMERS.
           PERFORM 3000-CUSTOMER-SEGMENT UNTIL CUS-AT-END.
           IF ACCOUNT-IS-OPEN PERFORM 3200-CLOSE-ACCOUNT.
           PERFORM 4900-NEXT-OF-HISTORY.
           PERFORM 4000-HISTORY-SEGMENT UNTIL HIS-AT-END.
           PERFORM 5900-NEXT-OF-BRANCHES.
           PERFORM 5000-BRANCH-SEGMENT UNTIL BRA-AT-END.
           IF BRANCH-IS-OPEN PERFORM 5200-CLOSE-BRANCH.
           PERFORM 6000-LEFT-OVER
               VARYING MARK-NO FROM 1 BY 1 UNTIL MARK-NO > LAST-NO.
           PERFORM 7000-COMPARE-SUMS.
           PERFORM 8000-REPORT.
           GOBACK.

       1000-TRANSACTION.
           IF TRAN-COUNT = 0 MOVE TRAN-REF TO FIRST-REF.
           ADD 1 TO TRAN-COUNT.
           MOVE TRAN-REF TO SOUGHT-REF.
           PERFORM 9000-LOOK-UP.
           IF MARK-NO = 0
               DISPLAY 'VERIFY   THE TABLE HAS NO ROOM FOR ' TRAN-REF
               MOVE 16 TO RETURN-CODE
               GOBACK
           END-IF.
           IF FOUND-MARK = SPACE
               MOVE 'I' TO MARK (MARK-NO)
               IF MARK-NO > LAST-NO MOVE MARK-NO TO LAST-NO END-IF
           ELSE
               MOVE 'IS TWICE IN TRANIN' TO COMPLAINT
               PERFORM 9100-COMPLAIN
           END-IF.
           PERFORM 1100-READ-TRANSACTION.

       1100-READ-TRANSACTION.
           CALL 'CBLTDLI' USING DLI-GN TRN-PCB TRAN-RECORD.
           IF NOT TRN-OK AND NOT TRN-AT-END
               MOVE '1100-READ-TRANSACTION' TO ERR-PARAGRAPH
               MOVE TRN-PCB TO ERR-PCB
               GO TO 9200-DB-ERROR
           END-IF.

       2000-REFUSAL.
           ADD 1 TO REJ-COUNT.
           MOVE REJ-REF TO SOUGHT-REF.
           PERFORM 9000-LOOK-UP.
           IF FOUND-MARK = 'I'
               MOVE 'R' TO MARK (MARK-NO)
           ELSE
               MOVE 'IS REFUSED TWICE, OR UNKNOWN' TO COMPLAINT
               PERFORM 9100-COMPLAIN
           END-IF.
           PERFORM 2100-READ-REFUSAL.

       2100-READ-REFUSAL.
           CALL 'CBLTDLI' USING DLI-GN REJ-PCB REJ-RECORD.
           IF NOT REJ-OK AND NOT REJ-AT-END
               MOVE '2100-READ-REFUSAL' TO ERR-PARAGRAPH
               MOVE REJ-PCB TO ERR-PCB
               GO TO 9200-DB-ERROR
           END-IF.

       3000-CUSTOMER-SEGMENT.
           EVALUATE CUS-SEGMENT
               WHEN 'CUSTOMER'
                   ADD 1 TO CUST-COUNT
               WHEN 'ACCOUNT'
                   IF ACCOUNT-IS-OPEN PERFORM 3200-CLOSE-ACCOUNT
                   END-IF
                   MOVE SEGMENT-AREA TO ACCT-SEG
                   ADD 1 TO ACCT-COUNT
                   MOVE 'Y' TO OPEN-ACCOUNT
                   MOVE 0 TO ACCOUNT-SUM ACCOUNT-COUNT
               WHEN 'POSTING'
                   MOVE SEGMENT-AREA TO POST-SEG
                   ADD 1 TO ALL-POST-COUNT ACCOUNT-COUNT
                   ADD POST-AMOUNT TO ACCOUNT-SUM
                   IF POST-BY-TELLER PERFORM 3100-POSTING END-IF
           END-EVALUATE.
           PERFORM 3900-NEXT-OF-CUSTOMERS.

       3100-POSTING.
           ADD 1 TO POST-COUNT.
           IF POST-IS-DEPOSIT
               ADD POST-AMOUNT TO DEPOSIT-SUM
           ELSE
               SUBTRACT POST-AMOUNT FROM WITHDRAWAL-SUM
           END-IF.
           MOVE POST-REF TO SOUGHT-REF.
           PERFORM 9000-LOOK-UP.
           IF FOUND-MARK = 'I'
               MOVE 'P' TO MARK (MARK-NO)
           ELSE
               MOVE 'IS POSTED TWICE, OR REFUSED, OR UNKNOWN'
                    TO COMPLAINT
               PERFORM 9100-COMPLAIN
           END-IF.

       3200-CLOSE-ACCOUNT.
           ADD ACCT-BALANCE TO BALANCE-SUM.
           IF ACCOUNT-SUM NOT = ACCT-BALANCE
               OR ACCOUNT-COUNT NOT = ACCT-POSTINGS
               DISPLAY 'VERIFY   ACCOUNT ' ACCT-NO
                       ' IS NOT THE SUM OF ITS POSTINGS'
               ADD 1 TO ERROR-COUNT
           END-IF.

       3900-NEXT-OF-CUSTOMERS.
           CALL 'CBLTDLI' USING DLI-GN CUS-PCB SEGMENT-AREA.
           IF NOT CUS-MOVED-ON AND NOT CUS-AT-END
               MOVE '3900-NEXT-OF-CUSTOMERS' TO ERR-PARAGRAPH
               MOVE CUS-PCB TO ERR-PCB
               GO TO 9200-DB-ERROR
           END-IF.

       4000-HISTORY-SEGMENT.
           IF HIS-SEGMENT = 'HISTENT'
               ADD 1 TO ALL-HIST-COUNT
               MOVE SEGMENT-AREA TO HENT-SEG
               IF HENT-BY-TELLER PERFORM 4100-TELLER-ENTRY END-IF
           END-IF.
           PERFORM 4900-NEXT-OF-HISTORY.

       4100-TELLER-ENTRY.
           ADD 1 TO HIST-COUNT.
           ADD HENT-AMOUNT TO HISTORY-SUM.
           MOVE HENT-REF TO SOUGHT-REF.
           PERFORM 9000-LOOK-UP.
           IF FOUND-MARK = 'P'
               MOVE 'H' TO MARK (MARK-NO)
           ELSE
               MOVE 'IS IN THE HISTORY TWICE, OR NOT POSTED'
                    TO COMPLAINT
               PERFORM 9100-COMPLAIN
           END-IF.

       4900-NEXT-OF-HISTORY.
           CALL 'CBLTDLI' USING DLI-GN HIS-PCB SEGMENT-AREA.
           IF NOT HIS-MOVED-ON AND NOT HIS-AT-END
               MOVE '4900-NEXT-OF-HISTORY' TO ERR-PARAGRAPH
               MOVE HIS-PCB TO ERR-PCB
               GO TO 9200-DB-ERROR
           END-IF.

       5000-BRANCH-SEGMENT.
           IF BRA-SEGMENT = 'BRANCH'
               IF BRANCH-IS-OPEN PERFORM 5200-CLOSE-BRANCH END-IF
               MOVE SEGMENT-AREA TO BRAN-SEG
               ADD 1 TO BRAN-COUNTED
               MOVE 'Y' TO OPEN-BRANCH
               MOVE 0 TO DAYS-DEPOSITS DAYS-WITHDRAWALS DAYS-COUNT
           ELSE
               MOVE SEGMENT-AREA TO BRDY-SEG
               ADD BRDY-DEPOSITS TO DAYS-DEPOSITS
               ADD BRDY-WITHDRAWALS TO DAYS-WITHDRAWALS
               ADD BRDY-COUNT TO DAYS-COUNT
           END-IF.
           PERFORM 5900-NEXT-OF-BRANCHES.

       5200-CLOSE-BRANCH.
           ADD BRAN-DEPOSITS TO BRANCH-DEPOSITS.
           ADD BRAN-WITHDRAWALS TO BRANCH-WITHDRAWALS.
           ADD BRAN-COUNT TO BRANCH-POSTINGS.
           IF DAYS-DEPOSITS NOT = BRAN-DEPOSITS
               OR DAYS-WITHDRAWALS NOT = BRAN-WITHDRAWALS
               OR DAYS-COUNT NOT = BRAN-COUNT
               DISPLAY 'VERIFY   BRANCH ' BRAN-NO
                       ' IS NOT THE SUM OF ITS DAYS'
               ADD 1 TO ERROR-COUNT
           END-IF.

       5900-NEXT-OF-BRANCHES.
           CALL 'CBLTDLI' USING DLI-GN BRA-PCB SEGMENT-AREA.
           IF NOT BRA-MOVED-ON AND NOT BRA-AT-END
               MOVE '5900-NEXT-OF-BRANCHES' TO ERR-PARAGRAPH
               MOVE BRA-PCB TO ERR-PCB
               GO TO 9200-DB-ERROR
           END-IF.

       6000-LEFT-OVER.
           IF MARK (MARK-NO) = 'I' OR 'P'
               COMPUTE SOUGHT-REF = FIRST-REF + MARK-NO - 1
               IF MARK (MARK-NO) = 'I'
                   MOVE 'IS NEITHER POSTED NOR REFUSED' TO COMPLAINT
               ELSE
                   MOVE 'IS NOT IN THE HISTORY' TO COMPLAINT
               END-IF
               PERFORM 9100-COMPLAIN
           END-IF.

       7000-COMPARE-SUMS.
           IF POST-COUNT + REJ-COUNT NOT = TRAN-COUNT
               DISPLAY 'VERIFY   POSTED AND REFUSED ARE NOT ALL'
               ADD 1 TO ERROR-COUNT
           END-IF.
           IF HIST-COUNT NOT = POST-COUNT
               OR HISTORY-SUM NOT = DEPOSIT-SUM - WITHDRAWAL-SUM
               DISPLAY 'VERIFY   THE HISTORY HAS OTHER TOTALS'
               ADD 1 TO ERROR-COUNT
           END-IF.
           IF BRANCH-DEPOSITS NOT = DEPOSIT-SUM
               OR BRANCH-WITHDRAWALS NOT = WITHDRAWAL-SUM
               OR BRANCH-POSTINGS NOT = POST-COUNT
               DISPLAY 'VERIFY   THE BRANCHES HAVE OTHER TOTALS'
               ADD 1 TO ERROR-COUNT
           END-IF.

       8000-REPORT.
           MOVE BRAN-COUNTED TO EDITED-COUNT.
           DISPLAY 'VERIFY   BRANCHES               ' EDITED-COUNT.
           MOVE CUST-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   CUSTOMERS              ' EDITED-COUNT.
           MOVE ACCT-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   ACCOUNTS               ' EDITED-COUNT.
           MOVE ALL-POST-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   POSTINGS               ' EDITED-COUNT.
           MOVE ALL-HIST-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   HISTORY ENTRIES        ' EDITED-COUNT.
           MOVE TRAN-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   TRANSACTIONS           ' EDITED-COUNT.
           MOVE POST-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   POSTED                 ' EDITED-COUNT.
           MOVE REJ-COUNT TO EDITED-COUNT.
           DISPLAY 'VERIFY   REFUSED                ' EDITED-COUNT.
           MOVE DEPOSIT-SUM TO EDITED-AMOUNT.
           DISPLAY 'VERIFY   DEPOSITS        ' EDITED-AMOUNT.
           MOVE WITHDRAWAL-SUM TO EDITED-AMOUNT.
           DISPLAY 'VERIFY   WITHDRAWALS     ' EDITED-AMOUNT.
           MOVE BALANCE-SUM TO EDITED-AMOUNT.
           DISPLAY 'VERIFY   BALANCES        ' EDITED-AMOUNT.
           IF ERROR-COUNT = 0
               DISPLAY 'VERIFY   EVERYTHING IS THERE EXACTLY ONCE'
           ELSE
               MOVE ERROR-COUNT TO EDITED-COUNT
               DISPLAY 'VERIFY   *** ERRORS ***         ' EDITED-COUNT
               MOVE 8 TO RETURN-CODE
           END-IF.

      * MARK-NO IS 0, AND FOUND-MARK BLANK, FOR A REFERENCE NUMBER THAT
      * CANNOT BE ONE OF TRANIN.
       9000-LOOK-UP.
           MOVE 0 TO MARK-NO.
           MOVE SPACE TO FOUND-MARK.
           IF SOUGHT-REF NOT < FIRST-REF
               COMPUTE MARK-NO = SOUGHT-REF - FIRST-REF + 1
               IF MARK-NO > MARK-MAX
                   MOVE 0 TO MARK-NO
               ELSE
                   MOVE MARK (MARK-NO) TO FOUND-MARK
               END-IF
           END-IF.

       9100-COMPLAIN.
           ADD 1 TO ERROR-COUNT.
           IF ERROR-COUNT NOT > ERRORS-SHOWN
               DISPLAY 'VERIFY   ' SOUGHT-REF ' ' COMPLAINT
           END-IF.

       9200-DB-ERROR.
           MOVE DLI-GN TO ERR-CALL.
           PERFORM 9900-DLI-ERROR.
           GOBACK.

           COPY DLERRP.
