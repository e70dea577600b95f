       IDENTIFICATION DIVISION.
       PROGRAM-ID. LEDGER.
       ENVIRONMENT DIVISION.
       INPUT-OUTPUT SECTION.
       FILE-CONTROL.
           SELECT K-FILE ASSIGN TO ACCOUNT ORGANIZATION INDEXED
               ACCESS DYNAMIC RECORD KEY K-KEY
               ALTERNATE RECORD KEY K-NAME WITH DUPLICATES
               FILE STATUS IS FS.
           SELECT R-FILE ASSIGN TO SLOTS ORGANIZATION RELATIVE
               FILE STATUS IS FS.
           SELECT L-FILE ASSIGN TO LISTING ORGANIZATION LINE SEQUENTIAL
               FILE STATUS IS FS.
           SELECT P-FILE ASSIGN TO PAGES ORGANIZATION LINE SEQUENTIAL
               FILE STATUS IS FS.
           SELECT S-FILE ASSIGN TO SORTWK.
       DATA DIVISION.
       FILE SECTION.
       FD K-FILE.
       01 K-REC.
           05 K-KEY PIC X(4).
           05 K-NAME PIC X(4).
           05 K-TEXT PIC X(12).
       FD R-FILE.
       01 R-REC PIC X(10).
       FD L-FILE.
       01 L-REC PIC X(20).
       FD P-FILE LINAGE IS 5 LINES WITH FOOTING AT 4.
       01 P-REC PIC X(20).
       SD S-FILE.
       01 S-REC.
           05 S-KEY PIC X(4).
           05 S-NAME PIC X(16).
       WORKING-STORAGE SECTION.
       01 FS PIC XX.
       01 CARD.
           05 VERB PIC X.
           05 FILLER PIC X.
           05 DATUM.
              10 DATUM-KEY PIC X(4).
              10 DATUM-NAME PIC X(4).
       01 CUSTOMER.
           05 C-KEY PIC X(4).
           05 FILLER PIC X(16) VALUE SPACES.
       01 SSA PIC X(9) VALUE 'CUSTOMER '.
       01 F-ISRT PIC X(4) VALUE 'ISRT'.
       01 F-CHKP PIC X(4) VALUE 'CHKP'.
       01 F-ROLB PIC X(4) VALUE 'ROLB'.
       01 F-ROLL PIC X(4) VALUE 'ROLL'.
       01 CHKP-ID PIC X(8) VALUE 'LEDG0001'.
       01 AREA-OUT PIC X(20).
       LINKAGE SECTION.
       01 IO-PCB.
           05 FILLER PIC X(10).
           05 IO-STATUS PIC XX.
       01 ALT-PCB PIC X(12).
       01 DB-PCB.
           05 FILLER PIC X(10).
           05 DB-STATUS PIC XX.
       PROCEDURE DIVISION USING IO-PCB ALT-PCB DB-PCB.
           PERFORM UNTIL VERB = 'E'
              ACCEPT CARD FROM SYSIN
              EVALUATE VERB
              WHEN 'O' OPEN I-O K-FILE DISPLAY 'OPEN ' FS
              WHEN 'N' OPEN OUTPUT K-FILE DISPLAY 'NEW ' FS
                 CLOSE K-FILE
              WHEN 'W' PERFORM PUT-BOTH
              WHEN 'R' MOVE DATUM-NAME TO K-NAME
                 READ K-FILE KEY IS K-NAME
                 DISPLAY 'READ ' FS ' ' K-REC(1:8)
              WHEN 'X' READ K-FILE NEXT
                 DISPLAY 'NEXT ' FS ' ' K-REC(1:8)
              WHEN 'C' CALL 'CBLTDLI' USING F-CHKP IO-PCB CHKP-ID
                 DISPLAY 'CHKP <' IO-STATUS '>'
              WHEN 'B' CALL 'CBLTDLI' USING F-ROLB IO-PCB
                 DISPLAY 'ROLB <' IO-STATUS '>'
              WHEN 'A' CALL 'CBLTDLI' USING F-ROLL
              WHEN 'L' PERFORM LIST-ALL
              WHEN 'Q' CLOSE K-FILE DISPLAY 'CLOSE ' FS
              WHEN 'S' PERFORM SORT-ALL
              WHEN 'M' PERFORM MACHINE
              END-EVALUATE
           END-PERFORM.
           GOBACK.
       PUT-BOTH.
           MOVE DATUM-KEY TO K-KEY C-KEY.
           MOVE DATUM-NAME TO K-NAME. MOVE 'text' TO K-TEXT.
           WRITE K-REC.
           CALL 'CBLTDLI' USING F-ISRT DB-PCB CUSTOMER SSA.
           DISPLAY 'WRITE ' FS ' ISRT <' DB-STATUS '>'.
       LIST-ALL.
           MOVE LOW-VALUES TO K-KEY.
           START K-FILE KEY NOT LESS K-KEY.
           PERFORM UNTIL FS NOT = '00'
              READ K-FILE NEXT
              IF FS = '00' DISPLAY 'HAS ' K-REC(1:8) END-IF
           END-PERFORM.
       SORT-ALL.
           SORT S-FILE ON DESCENDING KEY S-KEY
              USING K-FILE GIVING L-FILE.
           OPEN INPUT L-FILE.
           PERFORM UNTIL FS NOT = '00'
              READ L-FILE
              IF FS = '00' DISPLAY 'SORTED ' L-REC(1:8) END-IF
           END-PERFORM.
           CLOSE L-FILE.
       MACHINE.
           OPEN OUTPUT R-FILE.
           MOVE 'one' TO R-REC. WRITE R-REC.
           MOVE 'two' TO R-REC. WRITE R-REC.
           CLOSE R-FILE.
           OPEN I-O R-FILE. READ R-FILE. READ R-FILE.
           DISPLAY 'SLOT ' FS ' ' R-REC.
           DELETE R-FILE. DISPLAY 'DELETE ' FS.
           CLOSE R-FILE.
           OPEN OUTPUT P-FILE.
           MOVE 'LINE' TO P-REC.
           PERFORM 6 TIMES
              WRITE P-REC AT END-OF-PAGE DISPLAY 'FOOT'
              END-WRITE
           END-PERFORM.
           CLOSE P-FILE.
           DELETE FILE P-FILE. DISPLAY 'GONE ' FS.
           OPEN INPUT P-FILE. DISPLAY 'GONE ' FS.
           MOVE 'left open' TO L-REC.
           OPEN OUTPUT L-FILE. WRITE L-REC.
