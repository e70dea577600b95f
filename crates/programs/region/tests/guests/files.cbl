       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPFILE.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT IN-FILE ASSIGN TO UT-S-ORDERS.
           SELECT OUT-FILE ASSIGN TO BILLS.
       DATA DIVISION.
       FILE SECTION.
       FD  IN-FILE RECORDING MODE F.
       01  IN-RECORD               PIC X(12).
       FD  OUT-FILE.
       01  OUT-RECORD              PIC X(20).
       WORKING-STORAGE SECTION.
       01  ANSWER                  PIC X(10).
       01  DONE                    PIC X VALUE 'N'.
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL'.
           ACCEPT ANSWER.
           DISPLAY 'FIRST ' ANSWER.
           ACCEPT ANSWER FROM SYSIN.
           DISPLAY 'SECOND ' ANSWER.
           OPEN INPUT IN-FILE OUTPUT OUT-FILE.
           PERFORM UNTIL DONE = 'Y'
               READ IN-FILE AT END MOVE 'Y' TO DONE
               NOT AT END
                   DISPLAY '<' IN-RECORD '>'
                   MOVE IN-RECORD TO OUT-RECORD
                   MOVE 'BILL' TO OUT-RECORD (14:4)
                   WRITE OUT-RECORD
               END-READ
           END-PERFORM.
           CLOSE IN-FILE OUT-FILE.
           STOP RUN.
