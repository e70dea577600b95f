      * Counts how often it was called since the program began.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. TELLSUB.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  CALLS                PIC 9(4) VALUE 100.
       LINKAGE SECTION.
       01  COUNTER              PIC 9(4).
       PROCEDURE DIVISION USING COUNTER.
           ADD 1 TO CALLS.
           MOVE CALLS TO COUNTER.
           GOBACK.
