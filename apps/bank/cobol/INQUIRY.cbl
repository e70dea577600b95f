       IDENTIFICATION DIVISION.
       PROGRAM-ID.    INQUIRY.
       AUTHOR.        CUSTOMER DESK GROUP.
      *----------------------------------------------------------------
      * FINDS CUSTOMERS BY NAME AND SHOWS THEM WITH THEIR ACCOUNTS.
      *
      * THE PCB PROCESSES BANKCUST IN THE SEQUENCE OF ITS INDEX BY NAME
      * SO THE CUSTOMERS COME IN ALPHABETICAL ORDER.
      *
      * SYSIN: A SURNAME ON EACH CARD; AN ASTERISK BEHIND ITS FIRST
      * LETTERS ASKS FOR ALL THAT BEGIN SO. A BLANK CARD ENDS THEM.
      * RETURN CODE 4 IF ONE OF THE NAMES IS NOT THERE.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       CONFIGURATION SECTION.
       SPECIAL-NAMES.
           SYSIN IS CARD-READER.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY CUSTSSA.
      * ALL NAMES FROM THE LOWEST TO THE HIGHEST THAT FIT THE CARD.
       01  SSA-NAMES.
           05  FILLER                    PIC X(19)
                                         VALUE 'CUSTOMER(XNAME   >='.
           05  LOW-NAME.
               10  LOW-SURNAME           PIC X(24).
               10  LOW-FORENAME          PIC X(20)  VALUE LOW-VALUES.
           05  FILLER                    PIC X(11)  VALUE '&XNAME   <='.
           05  HIGH-NAME.
               10  HIGH-SURNAME          PIC X(24).
               10  HIGH-FORENAME         PIC X(20)  VALUE HIGH-VALUES.
           05  FILLER                    PIC X(01)  VALUE ')'.
       01  CUSTOMER-AREA.
           COPY CUSTSEG.
       01  ACCOUNT-AREA.
           COPY ACCTSEG.

       01  NAME-CARD.
           05  CARD-NAME                 PIC X(24).
           05  FILLER                    PIC X(56).
       01  CUSTOMER-LINE.
           05  FILLER                    PIC X(09)  VALUE 'INQUIRY'.
           05  CL-NUMBER                 PIC X(10).
           05  CL-SURNAME                PIC X(24).
           05  CL-FORENAME               PIC X(20).
           05  CL-CITY                   PIC X(24).
       01  ACCOUNT-LINE.
           05  FILLER                    PIC X(09)  VALUE 'INQUIRY'.
           05  FILLER                    PIC X(02)  VALUE SPACES.
           05  AL-NUMBER                 PIC X(12).
           05  AL-KIND                   PIC X(04).
           05  AL-BALANCE                PIC Z(12)9.99-.
           05  FILLER                    PIC X(01)  VALUE SPACE.
           05  AL-CURRENCY               PIC X(03).
       77  WORST-CODE                    PIC S9(04) COMP VALUE 0.
       77  FOUND-COUNT                   PIC S9(07) COMP-3.
       77  EDITED-COUNT                  PIC ZZZ,ZZZ,ZZ9.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==CUS==.

       PROCEDURE DIVISION.
           ENTRY 'DLITCBL' USING IO-PCB CUS-PCB.

       0000-MAIN.
           MOVE 'INQUIRY' TO ERR-PROGRAM.
           PERFORM 1000-READ-CARD.
           PERFORM 2000-NAME UNTIL NAME-CARD = SPACES.
      * EVERY CALL SETS THE RETURN CODE, SO THIS COMES LAST.
           MOVE WORST-CODE TO RETURN-CODE.
           GOBACK.

       1000-READ-CARD.
           MOVE SPACES TO NAME-CARD.
           ACCEPT NAME-CARD FROM CARD-READER.

       2000-NAME.
           MOVE CARD-NAME TO LOW-SURNAME HIGH-SURNAME.
           INSPECT LOW-SURNAME REPLACING
                   CHARACTERS BY LOW-VALUES AFTER INITIAL '*'
                   ALL '*' BY LOW-VALUES.
           INSPECT HIGH-SURNAME REPLACING
                   CHARACTERS BY HIGH-VALUES AFTER INITIAL '*'
                   ALL '*' BY HIGH-VALUES.
           MOVE 0 TO FOUND-COUNT.
           CALL 'CBLTDLI' USING DLI-GU CUS-PCB CUST-SEG SSA-NAMES.
           PERFORM 2100-CUSTOMER UNTIL CUS-NOT-FOUND OR CUS-AT-END.
           MOVE FOUND-COUNT TO EDITED-COUNT.
           DISPLAY 'INQUIRY  FOUND ' CARD-NAME EDITED-COUNT.
           IF FOUND-COUNT = 0 MOVE 4 TO WORST-CODE.
           PERFORM 1000-READ-CARD.

       2100-CUSTOMER.
           IF NOT CUS-OK
               MOVE DLI-GN TO ERR-CALL
               MOVE '2100-CUSTOMER' TO ERR-PARAGRAPH
               GO TO 9100-DB-ERROR
           END-IF.
           ADD 1 TO FOUND-COUNT.
           MOVE CUST-NO TO CL-NUMBER.
           MOVE CUST-SURNAME TO CL-SURNAME.
           MOVE CUST-FORENAME TO CL-FORENAME.
           MOVE CUST-CITY TO CL-CITY.
           DISPLAY CUSTOMER-LINE.
           CALL 'CBLTDLI' USING DLI-GNP CUS-PCB ACCT-SEG SSA-ACCOUNT.
           PERFORM 2200-ACCOUNT UNTIL CUS-NOT-FOUND.
           CALL 'CBLTDLI' USING DLI-GN CUS-PCB CUST-SEG SSA-NAMES.

       2200-ACCOUNT.
           IF NOT CUS-OK
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2200-ACCOUNT' TO ERR-PARAGRAPH
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE ACCT-NO TO AL-NUMBER.
           MOVE ACCT-KIND TO AL-KIND.
           MOVE ACCT-BALANCE TO AL-BALANCE.
           MOVE ACCT-CURRENCY TO AL-CURRENCY.
           DISPLAY ACCOUNT-LINE.
           CALL 'CBLTDLI' USING DLI-GNP CUS-PCB ACCT-SEG SSA-ACCOUNT.

       9100-DB-ERROR.
           MOVE CARD-NAME TO ERR-KEY.
           MOVE CUS-PCB TO ERR-PCB.
           PERFORM 9900-DLI-ERROR.
           GOBACK.

           COPY DLERRP.
