       IDENTIFICATION DIVISION.
       PROGRAM-ID.    HOTLONL.
       AUTHOR.        COMPUTING BUREAU.
      *----------------------------------------------------------------
      * A ROOM FOR FOUR NIGHTS: FOR EACH MESSAGE OF TRANSACTION HOTL
      * THE NIGHTS ARE TAKEN, THE GUEST HAS ANOTHER STAY, HIS OLDEST
      * WISH GIVES WAY TO A NEW ONE, AND THE NEXT HOTEL IS LOOKED AT:
      * 24 CALLS.
      *
      * A STAY WITH THE SAME DATE AND REFERENCE IS THIS ONE, SENT
      * BEFORE. HOTELS OVERBOOK: A NIGHT IS NEVER FULL.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY HOTSSA.
       01  HOTEL-AREA.
           COPY HOTLSEG.
       01  RATE-AREA.
           COPY RATESEG.
       01  NIGHT-AREA.
           COPY NGHTSEG.
       01  GUEST-AREA.
           COPY GUESSEG.
       01  STAY-AREA.
           COPY STAYSEG.
       01  WISH-AREA.
           COPY WISHSEG.
       01  TERMINAL-INPUT.
           COPY HOTLIN.
       01  TERMINAL-OUTPUT.
           COPY TELLOUT.
       01  SWITCHES.
           05  REFUSAL                   PIC X(20).
               88  ACCEPTED                         VALUE SPACES.
           05  DONE-SWITCH               PIC X(01).
               88  DONE-BEFORE                      VALUE 'Y'.
       01  WORK-AREA.
           05  NEXT-DAY                  PIC 9(03).
           05  NEXT-HOTEL                PIC 9(04).
           05  PRICE                     PIC S9(09)V99 COMP-3.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==HOT==.
           COPY DBPCBM REPLACING ==:P:== BY ==GUE==.

       PROCEDURE DIVISION USING IO-PCB HOT-PCB GUE-PCB.

       0000-MAIN.
           MOVE 'HOTLONL' TO ERR-PROGRAM.
           PERFORM 1000-NEXT-MESSAGE.
           PERFORM 2000-TRANSACTION UNTIL NOT IO-OK.
           GOBACK.

       2000-TRANSACTION.
           MOVE SPACES TO REFUSAL.
           MOVE 'N' TO DONE-SWITCH.
           MOVE 0 TO PRICE.
           PERFORM 2050-CHECK-INPUT.
           IF ACCEPTED PERFORM 2100-SENT-BEFORE.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2200-RATES
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2300-GUEST
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               MOVE IN-DAY TO NEXT-DAY
               PERFORM 2400-NIGHT 4 TIMES
               PERFORM 2500-STAY
               PERFORM 2600-WISH
               PERFORM 2700-NEXT-HOTEL
           END-IF.
           PERFORM 3000-ANSWER.
           PERFORM 1000-NEXT-MESSAGE.

       2050-CHECK-INPUT.
           IF IN-REF NOT NUMERIC OR IN-DATE NOT NUMERIC
                   OR IN-HOTEL NOT NUMERIC OR IN-DAY NOT NUMERIC
               MOVE 'NOT NUMERIC' TO REFUSAL
           END-IF.

       2100-SENT-BEFORE.
           MOVE IN-DATE TO STAY-DATE.
           MOVE IN-REF TO STAY-REF.
           MOVE STAY-KEY TO SSA-STAY-KEY.
           MOVE IN-GUEST TO SSA-GUEST-KEY.
           CALL 'CBLTDLI' USING DLI-GU GUE-PCB STAY-SEG
                                SSA-GUEST-EQ SSA-STAY-EQ.
           IF GUE-OK
               MOVE 'Y' TO DONE-SWITCH
           END-IF.
           IF NOT GUE-OK AND NOT GUE-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2100-SENT-BEFORE' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * THE PRICE OF A NIGHT IS THAT OF THE DEARER KIND.
       2200-RATES.
           MOVE IN-HOTEL TO SSA-HOTEL-KEY.
           CALL 'CBLTDLI' USING DLI-GU HOT-PCB HOTL-SEG
                                SSA-HOTEL-EQ.
           IF HOT-NOT-FOUND
               MOVE 'NO SUCH HOTEL' TO REFUSAL
           END-IF.
           IF NOT HOT-OK AND NOT HOT-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2200-RATES' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           IF ACCEPTED
               PERFORM 2210-RATE 2 TIMES
           END-IF.

       2210-RATE.
           CALL 'CBLTDLI' USING DLI-GNP HOT-PCB RATE-SEG
                                SSA-RATE.
           IF HOT-OK
               IF RATE-PRICE > PRICE
                   MOVE RATE-PRICE TO PRICE
               END-IF
           END-IF.
           IF NOT HOT-OK AND NOT HOT-NOT-FOUND
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2210-RATE' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2300-GUEST.
           CALL 'CBLTDLI' USING DLI-GHU GUE-PCB GUES-SEG
                                SSA-GUEST-EQ.
           IF GUE-NOT-FOUND
               MOVE 'NO SUCH GUEST' TO REFUSAL
           END-IF.
           IF NOT GUE-OK AND NOT GUE-NOT-FOUND
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2300-GUEST' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           IF ACCEPTED
               ADD 1 TO GUES-STAYS
               COMPUTE GUES-SPENT = GUES-SPENT + 4 * PRICE
               PERFORM 2310-REPLACE-GUEST
           END-IF.

       2310-REPLACE-GUEST.
           CALL 'CBLTDLI' USING DLI-REPL GUE-PCB GUES-SEG
           IF NOT GUE-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2310-REPLACE-GUEST' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2400-NIGHT.
           MOVE NEXT-DAY TO SSA-NIGHT-KEY.
           ADD 1 TO NEXT-DAY.
           CALL 'CBLTDLI' USING DLI-GHU HOT-PCB NGHT-SEG
                                SSA-HOTEL-EQ SSA-NIGHT-EQ
           IF NOT HOT-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2400-NIGHT' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           SUBTRACT 1 FROM NGHT-FREE.
           ADD 1 TO NGHT-TAKEN.
           CALL 'CBLTDLI' USING DLI-REPL HOT-PCB NGHT-SEG
           IF NOT HOT-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2400-NIGHT' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2500-STAY.
           MOVE SPACES TO STAY-SEG.
           MOVE IN-DATE TO STAY-DATE.
           MOVE IN-REF TO STAY-REF.
           MOVE IN-HOTEL TO STAY-HOTEL.
           MOVE IN-DAY TO STAY-DAY.
           MOVE 4 TO STAY-NIGHTS.
           COMPUTE STAY-PRICE = 4 * PRICE.
           CALL 'CBLTDLI' USING DLI-ISRT GUE-PCB STAY-SEG
                                SSA-GUEST-EQ SSA-STAY
           IF NOT GUE-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2500-STAY' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * THE OLDEST WISH IS THE FIRST IN ITS SEQUENCE.
       2600-WISH.
           MOVE SPACES TO WISH-SEG.
           MOVE IN-REF TO WISH-REF.
           MOVE IN-HOTEL TO WISH-HOTEL.
           CALL 'CBLTDLI' USING DLI-ISRT GUE-PCB WISH-SEG
                                SSA-GUEST-EQ SSA-WISH
           IF NOT GUE-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2600-WISH' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-GHU GUE-PCB WISH-SEG
                                SSA-GUEST-EQ SSA-WISH
           IF NOT GUE-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2600-WISH' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-DLET GUE-PCB WISH-SEG
           IF NOT GUE-OK
               MOVE DLI-DLET TO ERR-CALL
               MOVE '2600-WISH' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * WHAT THE NEXT HOTEL HAS FREE.
       2700-NEXT-HOTEL.
           ADD 1 TO IN-HOTEL GIVING NEXT-HOTEL.
           MOVE NEXT-HOTEL TO SSA-HOTEL-KEY.
           CALL 'CBLTDLI' USING DLI-GU HOT-PCB HOTL-SEG
                                SSA-HOTEL-EQ.
           IF NOT HOT-OK AND NOT HOT-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2700-NEXT-HOTEL' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           IF HOT-OK
               PERFORM 2710-NEXT-NIGHT 5 TIMES
           END-IF.

       2710-NEXT-NIGHT.
           CALL 'CBLTDLI' USING DLI-GNP HOT-PCB NGHT-SEG
                                SSA-NIGHT.
           IF NOT HOT-OK AND NOT HOT-NOT-FOUND
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2710-NEXT-NIGHT' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

           COPY BURMSGP REPLACING ==:FIGURE:== BY ==PRICE==.
           COPY DLERRP.
