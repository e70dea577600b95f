       IDENTIFICATION DIVISION.
       PROGRAM-ID.    INVTONL.
       AUTHOR.        COMPUTING BUREAU.
      *----------------------------------------------------------------
      * GOODS COME IN: FOR EACH MESSAGE OF TRANSACTION INVT THREE ITEMS
      * IN SEQUENCE ARE COUNTED INTO THEIR FIRST BINS, THE FIRST OF
      * THEM IS REQUESTED ANEW, AND ITS OLDEST REQUEST IS SETTLED: 24
      * CALLS.
      *
      * A MOVEMENT WITH THE SAME DATE AND REFERENCE IS THIS ONE, SENT
      * BEFORE. ITEMS ARE HELD IN ASCENDING SEQUENCE, SO THAT TWO OF
      * THESE TRANSACTIONS NEVER WAIT IN A CIRCLE.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY INVSSA.
       01  ITEM-AREA.
           COPY ITEMSEG.
       01  BIN-AREA.
           COPY BINSEG.
       01  MOVEMENT-AREA.
           COPY MVMTSEG.
       01  REQUEST-AREA.
           COPY REQSEG.
       01  SUPPLIER-AREA.
           COPY SUPPSEG.
       01  OFFER-AREA.
           COPY OFFRSEG.
       01  TERMINAL-INPUT.
           COPY INVTIN.
       01  TERMINAL-OUTPUT.
           COPY TELLOUT.
       01  SWITCHES.
           05  REFUSAL                   PIC X(20).
               88  ACCEPTED                         VALUE SPACES.
           05  DONE-SWITCH               PIC X(01).
               88  DONE-BEFORE                      VALUE 'Y'.
       01  WORK-AREA.
           05  NEXT-ITEM                 PIC 9(08).
           05  BEST-PRICE                PIC S9(07)V99 COMP-3.
           05  ON-HAND                   PIC S9(09) COMP-3.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==STK==.
           COPY DBPCBM REPLACING ==:P:== BY ==SUP==.

       PROCEDURE DIVISION USING IO-PCB STK-PCB SUP-PCB.

       0000-MAIN.
           MOVE 'INVTONL' TO ERR-PROGRAM.
           PERFORM 1000-NEXT-MESSAGE.
           PERFORM 2000-TRANSACTION UNTIL NOT IO-OK.
           GOBACK.

       2000-TRANSACTION.
           MOVE SPACES TO REFUSAL.
           MOVE 'N' TO DONE-SWITCH.
           MOVE 0 TO ON-HAND.
           PERFORM 2050-CHECK-INPUT.
           IF ACCEPTED PERFORM 2100-SENT-BEFORE.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2200-OFFERS
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               MOVE IN-ITEM TO NEXT-ITEM
               PERFORM 2300-COUNT-IN 3 TIMES
               PERFORM 2400-MOVEMENT
               PERFORM 2500-REQUEST
               PERFORM 2600-NEXT-BINS
           END-IF.
           PERFORM 3000-ANSWER.
           PERFORM 1000-NEXT-MESSAGE.

       2050-CHECK-INPUT.
           IF IN-REF NOT NUMERIC OR IN-DATE NOT NUMERIC
                   OR IN-ITEM NOT NUMERIC OR IN-QTY NOT NUMERIC
               MOVE 'NOT NUMERIC' TO REFUSAL
           END-IF.

       2100-SENT-BEFORE.
           MOVE SPACES TO MVMT-SEG.
           MOVE IN-DATE TO MVMT-DATE.
           MOVE IN-REF TO MVMT-REF.
           MOVE MVMT-KEY TO SSA-MVMT-KEY.
           MOVE IN-ITEM TO SSA-ITEM-KEY.
           CALL 'CBLTDLI' USING DLI-GU STK-PCB MVMT-SEG
                                SSA-ITEM-EQ SSA-MVMT-EQ.
           IF STK-OK
               MOVE 'Y' TO DONE-SWITCH
           END-IF.
           IF NOT STK-OK AND NOT STK-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2100-SENT-BEFORE' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * WHAT THE SUPPLIER ASKS FOR.
       2200-OFFERS.
           MOVE IN-SUPPLIER TO SSA-SUPPLIER-KEY.
           MOVE 0 TO BEST-PRICE.
           CALL 'CBLTDLI' USING DLI-GU SUP-PCB SUPP-SEG
                                SSA-SUPPLIER-EQ.
           IF SUP-NOT-FOUND
               MOVE 'NO SUCH SUPPLIER' TO REFUSAL
           END-IF.
           IF NOT SUP-OK AND NOT SUP-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2200-OFFERS' TO ERR-PARAGRAPH
               MOVE SUP-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           IF ACCEPTED
               PERFORM 2210-OFFER 4 TIMES
           END-IF.

       2210-OFFER.
           CALL 'CBLTDLI' USING DLI-GNP SUP-PCB OFFR-SEG
                                SSA-OFFER.
           IF SUP-OK
               IF BEST-PRICE = 0 OR OFFR-PRICE < BEST-PRICE
                   MOVE OFFR-PRICE TO BEST-PRICE
               END-IF
           END-IF.
           IF NOT SUP-OK AND NOT SUP-NOT-FOUND
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2210-OFFER' TO ERR-PARAGRAPH
               MOVE SUP-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2300-COUNT-IN.
           MOVE NEXT-ITEM TO SSA-ITEM-KEY.
           ADD 1 TO NEXT-ITEM.
           CALL 'CBLTDLI' USING DLI-GHU STK-PCB ITEM-SEG
                                SSA-ITEM-EQ
           IF NOT STK-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2300-COUNT-IN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           ADD IN-QTY TO ITEM-ON-HAND.
           ADD 1 TO ITEM-MOVES.
           MOVE IN-DATE TO ITEM-LAST.
           ADD ITEM-ON-HAND TO ON-HAND.
           CALL 'CBLTDLI' USING DLI-REPL STK-PCB ITEM-SEG
           IF NOT STK-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2300-COUNT-IN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE '01' TO SSA-BIN-KEY.
           CALL 'CBLTDLI' USING DLI-GHU STK-PCB BIN-SEG
                                SSA-ITEM-EQ SSA-BIN-EQ
           IF NOT STK-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2300-COUNT-IN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           ADD IN-QTY TO BIN-QTY.
           CALL 'CBLTDLI' USING DLI-REPL STK-PCB BIN-SEG
           IF NOT STK-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2300-COUNT-IN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2400-MOVEMENT.
           MOVE IN-ITEM TO SSA-ITEM-KEY.
           MOVE SPACES TO MVMT-SEG.
           MOVE IN-DATE TO MVMT-DATE.
           MOVE IN-REF TO MVMT-REF.
           MOVE IN-QTY TO MVMT-QTY.
           MOVE 'INVT' TO MVMT-ORIGIN.
           CALL 'CBLTDLI' USING DLI-ISRT STK-PCB MVMT-SEG
                                SSA-ITEM-EQ SSA-MVMT
           IF NOT STK-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2400-MOVEMENT' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * THE OLDEST REQUEST IS THE FIRST IN ITS SEQUENCE.
       2500-REQUEST.
           MOVE SPACES TO REQ-SEG.
           MOVE IN-REF TO REQ-REF.
           MOVE IN-DATE TO REQ-DATE.
           MOVE IN-QTY TO REQ-QTY.
           CALL 'CBLTDLI' USING DLI-ISRT STK-PCB REQ-SEG
                                SSA-ITEM-EQ SSA-REQUEST
           IF NOT STK-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2500-REQUEST' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-GHU STK-PCB REQ-SEG
                                SSA-ITEM-EQ SSA-REQUEST
           IF NOT STK-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2500-REQUEST' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-DLET STK-PCB REQ-SEG
           IF NOT STK-OK
               MOVE DLI-DLET TO ERR-CALL
               MOVE '2500-REQUEST' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * WHERE THE ITEM BEHIND THEM LIES.
       2600-NEXT-BINS.
           MOVE NEXT-ITEM TO SSA-ITEM-KEY.
           CALL 'CBLTDLI' USING DLI-GU STK-PCB ITEM-SEG
                                SSA-ITEM-EQ.
           IF NOT STK-OK AND NOT STK-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2600-NEXT-BINS' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           IF STK-OK
               PERFORM 2610-NEXT-BIN
           END-IF.

       2610-NEXT-BIN.
           CALL 'CBLTDLI' USING DLI-GNP STK-PCB BIN-SEG
                                SSA-BIN.
           IF NOT STK-OK AND NOT STK-NOT-FOUND
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2610-NEXT-BIN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

           COPY BURMSGP REPLACING ==:FIGURE:== BY ==ON-HAND==.
           COPY DLERRP.
