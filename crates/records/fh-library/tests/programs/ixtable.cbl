       IDENTIFICATION DIVISION.
       PROGRAM-ID. IXTABLE.
      * Requests for an indexed file, one a line of standard input:
      * verb, mode or relation, key of reference, record or key.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT D-FILE ASSIGN TO KFILE ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY D-KEY
               ALTERNATE RECORD KEY D-GROUP WITH DUPLICATES
               ALTERNATE RECORD KEY D-NAME
               FILE STATUS IS FS.
           SELECT S-FILE ASSIGN TO KFILE ORGANIZATION INDEXED
               ACCESS SEQUENTIAL RECORD KEY S-KEY
               ALTERNATE RECORD KEY S-GROUP WITH DUPLICATES
               ALTERNATE RECORD KEY S-NAME
               FILE STATUS IS FS.
           SELECT R-FILE ASSIGN TO KFILE ORGANIZATION INDEXED
               ACCESS RANDOM RECORD KEY R-KEY
               ALTERNATE RECORD KEY R-GROUP WITH DUPLICATES
               ALTERNATE RECORD KEY R-NAME
               FILE STATUS IS FS.
           SELECT OPTIONAL O-FILE ASSIGN TO OFILE
               ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY O-KEY FILE STATUS IS FS.
           SELECT W-FILE ASSIGN TO KFILE ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY W-KEY FILE STATUS IS FS.
       DATA DIVISION.
       FILE SECTION.
       FD D-FILE.
       01 D-REC.
           05 D-KEY.
              10 D-PART PIC X(2).
              10 D-REST PIC X(2).
           05 D-GROUP PIC X(2).
           05 D-NAME PIC X(4).
           05 D-TEXT PIC X(10).
       FD S-FILE.
       01 S-REC.
           05 S-KEY PIC X(4).
           05 S-GROUP PIC X(2).
           05 S-NAME PIC X(4).
           05 S-TEXT PIC X(10).
       FD R-FILE.
       01 R-REC.
           05 R-KEY PIC X(4).
           05 R-GROUP PIC X(2).
           05 R-NAME PIC X(4).
           05 R-TEXT PIC X(10).
       FD O-FILE.
       01 O-REC.
           05 O-KEY PIC X(4).
           05 O-TEXT PIC X(16).
       FD W-FILE.
       01 W-REC.
           05 W-KEY PIC X(5).
           05 W-TEXT PIC X(15).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 LINE-IN.
           05 L-FILE PIC X.
           05 FILLER PIC X.
           05 L-VERB PIC X(7).
           05 FILLER PIC X.
           05 L-HOW PIC X(2).
           05 FILLER PIC X.
           05 L-REF PIC X(1).
           05 FILLER PIC X.
           05 L-REC PIC X(20).
       PROCEDURE DIVISION.
       MAIN-LOOP.
           MOVE SPACES TO LINE-IN.
           ACCEPT LINE-IN.
           IF L-FILE = '.' STOP RUN.
           MOVE '--' TO FS.
           EVALUATE L-FILE
               WHEN 'D' PERFORM DYNAMIC-FILE
               WHEN 'S' PERFORM SEQUENTIAL-FILE
               WHEN 'R' PERFORM RANDOM-FILE
               WHEN 'O' PERFORM OPTIONAL-FILE
               WHEN 'W' PERFORM WRONG-FILE
           END-EVALUATE.
           GO TO MAIN-LOOP.
       DYNAMIC-FILE.
           IF L-REC NOT = SPACES MOVE L-REC TO D-REC.
           EVALUATE L-VERB ALSO L-HOW ALSO L-REF
             WHEN 'OPEN' ALSO 'IN' ALSO ANY OPEN INPUT D-FILE
             WHEN 'OPEN' ALSO 'OU' ALSO ANY OPEN OUTPUT D-FILE
             WHEN 'OPEN' ALSO 'IO' ALSO ANY OPEN I-O D-FILE
             WHEN 'CLOSE' ALSO ANY ALSO ANY CLOSE D-FILE
             WHEN 'WRITE' ALSO ANY ALSO ANY WRITE D-REC
             WHEN 'REWRITE' ALSO ANY ALSO ANY REWRITE D-REC
             WHEN 'DELETE' ALSO ANY ALSO ANY DELETE D-FILE
             WHEN 'READ' ALSO 'NX' ALSO ANY
                 READ D-FILE NEXT
             WHEN 'READ' ALSO 'PR' ALSO ANY
                 READ D-FILE PREVIOUS
             WHEN 'READ' ALSO ANY ALSO '0'
                 READ D-FILE KEY IS D-KEY
             WHEN 'READ' ALSO ANY ALSO '1'
                 READ D-FILE KEY IS D-GROUP
             WHEN 'READ' ALSO ANY ALSO '2'
                 READ D-FILE KEY IS D-NAME
             WHEN 'START' ALSO 'EQ' ALSO '0'
                 START D-FILE KEY = D-KEY
             WHEN 'START' ALSO 'GT' ALSO '0'
                 START D-FILE KEY > D-KEY
             WHEN 'START' ALSO 'GE' ALSO '0'
                 START D-FILE KEY >= D-KEY
             WHEN 'START' ALSO 'LT' ALSO '0'
                 START D-FILE KEY < D-KEY
             WHEN 'START' ALSO 'LE' ALSO '0'
                 START D-FILE KEY <= D-KEY
             WHEN 'START' ALSO 'EQ' ALSO '1'
                 START D-FILE KEY = D-GROUP
             WHEN 'START' ALSO 'GT' ALSO '1'
                 START D-FILE KEY > D-GROUP
             WHEN 'START' ALSO 'GE' ALSO '1'
                 START D-FILE KEY >= D-GROUP
             WHEN 'START' ALSO 'LT' ALSO '1'
                 START D-FILE KEY < D-GROUP
             WHEN 'START' ALSO 'LE' ALSO '1'
                 START D-FILE KEY <= D-GROUP
             WHEN 'START' ALSO 'EQ' ALSO '2'
                 START D-FILE KEY = D-NAME
             WHEN 'START' ALSO 'EQ' ALSO 'P'
                 START D-FILE KEY = D-PART
             WHEN 'START' ALSO 'GT' ALSO 'P'
                 START D-FILE KEY > D-PART
             WHEN 'START' ALSO 'LE' ALSO 'P'
                 START D-FILE KEY <= D-PART
           END-EVALUATE.
           IF L-VERB = 'READ' AND FS < '10' DISPLAY FS ' ' D-REC
           ELSE DISPLAY FS.
       SEQUENTIAL-FILE.
           IF L-REC NOT = SPACES MOVE L-REC TO S-REC.
           EVALUATE L-VERB ALSO L-HOW
             WHEN 'OPEN' ALSO 'IN' OPEN INPUT S-FILE
             WHEN 'OPEN' ALSO 'OU' OPEN OUTPUT S-FILE
             WHEN 'OPEN' ALSO 'IO' OPEN I-O S-FILE
             WHEN 'OPEN' ALSO 'EX' OPEN EXTEND S-FILE
             WHEN 'CLOSE' ALSO 'LK' CLOSE S-FILE WITH LOCK
             WHEN 'CLOSE' ALSO ANY CLOSE S-FILE
             WHEN 'WRITE' ALSO ANY WRITE S-REC
             WHEN 'REWRITE' ALSO ANY REWRITE S-REC
             WHEN 'DELETE' ALSO ANY DELETE S-FILE
             WHEN 'READ' ALSO ANY READ S-FILE
             WHEN 'START' ALSO 'GE' START S-FILE KEY >= S-KEY
             WHEN 'START' ALSO 'EQ' START S-FILE KEY = S-GROUP
           END-EVALUATE.
           IF L-VERB = 'READ' AND FS < '10' DISPLAY FS ' ' S-REC
           ELSE DISPLAY FS.
       RANDOM-FILE.
           IF L-REC NOT = SPACES MOVE L-REC TO R-REC.
           EVALUATE L-VERB ALSO L-HOW ALSO L-REF
             WHEN 'OPEN' ALSO 'IN' ALSO ANY OPEN INPUT R-FILE
             WHEN 'OPEN' ALSO 'OU' ALSO ANY OPEN OUTPUT R-FILE
             WHEN 'OPEN' ALSO 'IO' ALSO ANY OPEN I-O R-FILE
             WHEN 'CLOSE' ALSO ANY ALSO ANY CLOSE R-FILE
             WHEN 'WRITE' ALSO ANY ALSO ANY WRITE R-REC
             WHEN 'REWRITE' ALSO ANY ALSO ANY REWRITE R-REC
             WHEN 'DELETE' ALSO ANY ALSO ANY DELETE R-FILE
             WHEN 'READ' ALSO ANY ALSO '1'
                 READ R-FILE KEY IS R-GROUP
             WHEN 'READ' ALSO ANY ALSO ANY READ R-FILE
           END-EVALUATE.
           IF L-VERB = 'READ' AND FS < '10' DISPLAY FS ' ' R-REC
           ELSE DISPLAY FS.
       OPTIONAL-FILE.
           IF L-REC NOT = SPACES MOVE L-REC TO O-REC.
           EVALUATE L-VERB ALSO L-HOW
             WHEN 'OPEN' ALSO 'IN' OPEN INPUT O-FILE
             WHEN 'OPEN' ALSO 'IO' OPEN I-O O-FILE
             WHEN 'CLOSE' ALSO ANY CLOSE O-FILE
             WHEN 'WRITE' ALSO ANY WRITE O-REC
             WHEN 'READ' ALSO 'NX' READ O-FILE NEXT
             WHEN 'READ' ALSO ANY READ O-FILE
             WHEN 'START' ALSO ANY START O-FILE KEY >= O-KEY
           END-EVALUATE.
           IF L-VERB = 'READ' AND FS < '10' DISPLAY FS ' ' O-REC
           ELSE DISPLAY FS.
       WRONG-FILE.
           EVALUATE L-HOW
             WHEN 'IN' OPEN INPUT W-FILE
             WHEN 'IO' OPEN I-O W-FILE
           END-EVALUATE.
           DISPLAY FS.
