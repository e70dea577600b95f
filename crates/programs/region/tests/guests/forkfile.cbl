       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPFORK.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT SEQ-F ASSIGN TO SEQF FILE STATUS IS SEQ-S.
           SELECT KEY-F ASSIGN TO KEYF ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY KEY-K FILE STATUS IS KEY-S.
       DATA DIVISION.
       FILE SECTION.
       FD  SEQ-F RECORDING MODE F.
       01  SEQ-R                   PIC X(8).
       FD  KEY-F.
       01  KEY-R.
           05  KEY-K               PIC X(8).
       WORKING-STORAGE SECTION.
       01  SEQ-S                   PIC XX.
       01  KEY-S                   PIC XX.
       01  COPY-ID                 PIC S9(9) COMP-5.
       01  COPY-END                PIC S9(9) COMP-5.
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(12).
       PROCEDURE DIVISION USING IO-PCB.
           OPEN OUTPUT SEQ-F KEY-F.
           DISPLAY 'OPEN ' SEQ-S '/' KEY-S.
           MOVE 'FIRST' TO SEQ-R KEY-R.
           WRITE SEQ-R.
           WRITE KEY-R.
      *    One copy writes, one only goes.
           CALL 'CBL_GC_FORK' RETURNING COPY-ID.
           IF COPY-ID = 0
               MOVE 'COPIED' TO SEQ-R KEY-R
               WRITE SEQ-R
               DISPLAY 'A COPY WROTE ' SEQ-S
               WRITE KEY-R
               CLOSE SEQ-F KEY-F
               STOP RUN
           END-IF.
           CALL 'CBL_GC_WAITPID' USING COPY-ID RETURNING COPY-END.
           DISPLAY 'COPY ' COPY-END.
           CALL 'CBL_GC_FORK' RETURNING COPY-ID.
           IF COPY-ID = 0
               CLOSE SEQ-F KEY-F
               STOP RUN
           END-IF.
           CALL 'CBL_GC_WAITPID' USING COPY-ID RETURNING COPY-END.
           MOVE 'SECOND' TO SEQ-R KEY-R.
           WRITE SEQ-R.
           WRITE KEY-R.
           CLOSE SEQ-F KEY-F.
           DISPLAY 'CLOSE ' SEQ-S '/' KEY-S.
           GOBACK.
