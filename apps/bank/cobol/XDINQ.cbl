       CBL APOST,XOPTS(DLI)
       IDENTIFICATION DIVISION.
       PROGRAM-ID.    XDINQ.
       AUTHOR.        CUSTOMER DESK GROUP.
      *----------------------------------------------------------------
      * SHOWS CUSTOMERS BY NUMBER, WITH THEIR ACCOUNTS, THE LAST
      * POSTING OF EACH AND THE BRANCH THAT KEEPS THEM.
      *
      * COMMAND LEVEL: NO PCB IS PASSED, EACH COMMAND NAMES ITS OWN BY
      * NUMBER. 1 IS THE I/O PCB. 2 WALKS THROUGH THE ACCOUNTS WHILE 3
      * LOOKS UP THEIR POSTINGS, EACH WITH A PLACE OF ITS OWN. 4 IS THE
      * BRANCH.
      *
      * SYSIN: A CUSTOMER NUMBER ON EACH CARD; A BLANK CARD ENDS THEM.
      * RETURN CODE 4 IF ONE OF THEM IS NOT THERE.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       CONFIGURATION SECTION.
       SPECIAL-NAMES.
           SYSIN IS CARD-READER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  CUSTOMER-AREA.
           COPY CUSTSEG.
       01  ACCOUNT-AREA.
           COPY ACCTSEG.
       01  POSTING-AREA.
           COPY POSTSEG.
       01  BRANCH-AREA.
           COPY BRANSEG.
      * THE PATH CALL BRINGS THE ACCOUNT ONCE MORE.
       01  PATH-ACCOUNT                  PIC X(80).
       01  PATH-KEYS.
           05  PATH-CUSTOMER-KEY         PIC X(08).
           05  PATH-ACCOUNT-KEY          PIC X(10).
           05  PATH-POSTING-KEY          PIC X(17).

       01  NUMBER-CARD.
           05  CARD-CUSTOMER             PIC X(08).
           05  FILLER                    PIC X(72).
       01  CUSTOMER-LINE.
           05  FILLER                    PIC X(09)  VALUE 'XDINQ'.
           05  CL-NUMBER                 PIC X(10).
           05  CL-SURNAME                PIC X(24).
           05  CL-FORENAME               PIC X(20).
           05  CL-BRANCH                 PIC X(24).
       01  ACCOUNT-LINE.
           05  FILLER                    PIC X(09)  VALUE 'XDINQ'.
           05  FILLER                    PIC X(02)  VALUE SPACES.
           05  AL-NUMBER                 PIC X(12).
           05  AL-BALANCE                PIC Z(12)9.99-.
           05  FILLER                    PIC X(07)  VALUE '  LAST '.
           05  AL-LAST                   PIC X(17).
           05  AL-AMOUNT                 PIC Z(10)9.99-.
       77  WORST-CODE                    PIC S9(04) COMP VALUE 0.
       77  ACCOUNT-COUNT                 PIC S9(07) COMP-3.
       77  EDITED-COUNT                  PIC ZZZ,ZZZ,ZZ9.

       PROCEDURE DIVISION.

       0000-MAIN.
           PERFORM 1000-READ-CARD.
           PERFORM 2000-CUSTOMER UNTIL NUMBER-CARD = SPACES.
      * EVERY COMMAND SETS THE RETURN CODE, SO THIS COMES LAST.
           MOVE WORST-CODE TO RETURN-CODE.
           GOBACK.

       1000-READ-CARD.
           MOVE SPACES TO NUMBER-CARD.
           ACCEPT NUMBER-CARD FROM CARD-READER.

       2000-CUSTOMER.
           EXEC DLI GU USING PCB(2)
                SEGMENT(CUSTOMER) INTO(CUST-SEG)
                WHERE(CUSTNO=CARD-CUSTOMER)
           END-EXEC.
           EVALUATE DIBSTAT
               WHEN '  '
                   PERFORM 2100-SHOW-CUSTOMER
               WHEN 'GE'
                   DISPLAY 'XDINQ    NO CUSTOMER ' CARD-CUSTOMER
                   MOVE 4 TO WORST-CODE
               WHEN OTHER
                   GO TO 9000-DLI-ERROR
           END-EVALUATE.
           PERFORM 1000-READ-CARD.

       2100-SHOW-CUSTOMER.
           MOVE SPACES TO BRAN-SEG.
           EXEC DLI GU USING PCB(4)
                SEGMENT(BRANCH) INTO(BRAN-SEG) SEGLENGTH(100)
                WHERE(BRANCHNO=CUST-BRANCH) FIELDLENGTH(4)
           END-EXEC.
           IF DIBSTAT NOT = SPACES AND NOT = 'GE'
               GO TO 9000-DLI-ERROR
           END-IF.
           MOVE CUST-NO TO CL-NUMBER.
           MOVE CUST-SURNAME TO CL-SURNAME.
           MOVE CUST-FORENAME TO CL-FORENAME.
           MOVE BRAN-NAME TO CL-BRANCH.
           DISPLAY CUSTOMER-LINE.
           MOVE 0 TO ACCOUNT-COUNT.
           PERFORM 3000-NEXT-ACCOUNT.
           PERFORM 2200-SHOW-ACCOUNT UNTIL DIBSTAT = 'GE'.
           MOVE ACCOUNT-COUNT TO EDITED-COUNT.
           DISPLAY 'XDINQ    ACCOUNTS OF ' CUST-NO EDITED-COUNT.

       2200-SHOW-ACCOUNT.
           ADD 1 TO ACCOUNT-COUNT.
           MOVE ACCT-NO TO AL-NUMBER.
           MOVE ACCT-BALANCE TO AL-BALANCE.
           EXEC DLI GU USING PCB(3) KEYFEEDBACK(PATH-KEYS)
                SEGMENT(CUSTOMER) WHERE(CUSTNO=CUST-NO)
                SEGMENT(ACCOUNT) INTO(PATH-ACCOUNT)
                     WHERE(ACCTNO=ACCT-NO)
                LAST SEGMENT(POSTING) INTO(POST-SEG)
           END-EXEC.
           EVALUATE DIBSTAT
               WHEN '  '
                   MOVE PATH-POSTING-KEY TO AL-LAST
                   MOVE POST-AMOUNT TO AL-AMOUNT
               WHEN 'GE'
                   MOVE 'NONE' TO AL-LAST
                   MOVE 0 TO AL-AMOUNT
               WHEN OTHER
                   GO TO 9000-DLI-ERROR
           END-EVALUATE.
           DISPLAY ACCOUNT-LINE.
           PERFORM 3000-NEXT-ACCOUNT.

       3000-NEXT-ACCOUNT.
           EXEC DLI GNP USING PCB(2)
                SEGMENT(ACCOUNT) INTO(ACCT-SEG)
           END-EXEC.
           IF DIBSTAT NOT = SPACES AND NOT = 'GE'
               GO TO 9000-DLI-ERROR
           END-IF.

       9000-DLI-ERROR.
           DISPLAY 'XDINQ    *** DL/I COMMAND FAILED ***  STATUS '
                   DIBSTAT '  SEGMENT ' DIBSEGM '  LEVEL ' DIBSEGLV.
           DISPLAY 'XDINQ    WORKING ON ' CARD-CUSTOMER.
           MOVE 16 TO RETURN-CODE.
           GOBACK.
