       IDENTIFICATION DIVISION.
       PROGRAM-ID. IXLONG.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT K-FILE ASSIGN TO KFILE ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY K-KEY
               ALTERNATE RECORD KEY K-ALT WITH DUPLICATES
               FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD K-FILE.
       01 K-REC.
           05 K-KEY PIC 9(8).
           05 K-ALT PIC 9(4).
           05 K-TEXT PIC X(88).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 WHAT PIC X(5).
       01 N PIC 9(8) VALUE 0.
       01 C PIC 9(8) VALUE 0.
       01 A PIC 9(8) VALUE 0.
       PROCEDURE DIVISION.
           ACCEPT WHAT.
           IF WHAT = 'WRITE'
               OPEN OUTPUT K-FILE
               PERFORM UNTIL N > 90000000
                   COMPUTE K-KEY = FUNCTION MOD(N * 7919, 99999989)
                   COMPUTE K-ALT = FUNCTION MOD(N, 1000)
                   MOVE 'text' TO K-TEXT
                   WRITE K-REC
                   ADD 1 TO N
                   IF FUNCTION MOD(N, 2000) = 0 DISPLAY N END-IF
               END-PERFORM
           END-IF.
           OPEN INPUT K-FILE. DISPLAY 'OPEN ' FS.
           MOVE '00' TO FS.
           PERFORM UNTIL FS > '09'
               READ K-FILE NEXT
               IF FS < '10' ADD 1 TO C END-IF
           END-PERFORM.
           MOVE 0 TO K-ALT. START K-FILE KEY >= K-ALT.
           IF FS = '00' PERFORM UNTIL FS > '09'
               READ K-FILE NEXT
               IF FS < '10' ADD 1 TO A END-IF
           END-PERFORM.
           IF A = C DISPLAY 'SAME ' C ELSE DISPLAY A ' ' C.
           CLOSE K-FILE. DISPLAY 'CLOSE ' FS.
           STOP RUN.
