       IDENTIFICATION DIVISION.
       PROGRAM-ID. CUTS.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT A-FILE ASSIGN TO AFILE FILE STATUS IS FS.
           SELECT V-FILE ASSIGN TO VFILE FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD A-FILE.
       01 A-REC PIC X(10).
       FD V-FILE RECORD VARYING FROM 2 TO 20 DEPENDING ON LEN.
       01 V-REC PIC X(20).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 LEN PIC 9(4).
       PROCEDURE DIVISION.
           OPEN INPUT A-FILE.
           PERFORM UNTIL FS > '09'
               READ A-FILE
               DISPLAY FS ' ' A-REC '<'
           END-PERFORM.
           CLOSE A-FILE.
           OPEN INPUT V-FILE.
           MOVE SPACES TO V-REC.
           PERFORM UNTIL FS > '09'
               MOVE 0 TO LEN
               READ V-FILE
               DISPLAY FS ' ' LEN ' ' V-REC '<'
           END-PERFORM.
           CLOSE V-FILE.
           STOP RUN.
