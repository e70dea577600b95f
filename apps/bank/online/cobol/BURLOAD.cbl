       IDENTIFICATION DIVISION.
       PROGRAM-ID.    BURLOAD.
       AUTHOR.        COMPUTING BUREAU.
      *----------------------------------------------------------------
      * INITIAL LOAD OF THE BUREAU'S DATA BASES. THERE IS NO INPUT BUT
      * A CARD THAT SAYS HOW MUCH OF EVERYTHING THERE IS TO BE:
      *
      * ITEMS=010000 SUPPLIERS=0500 HOTELS=0500 GUESTS=010000 DISTRICTS=
      *
      * AND, BEHIND THE LAST, FOUR DIGITS. THE DATA BASES MUST BE EMPTY.
      * REQUESTS, WISHES AND TASKS HAVE NO REFERENCE: BLANKS ARE FIRST.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY INVSSA.
           COPY HOTSSA.
           COPY WHSSSA.
       01  CONTROL-CARD.
           05  FILLER                    PIC X(06).
           05  ITEMS                     PIC 9(06).
           05  FILLER                    PIC X(11).
           05  SUPPLIERS                 PIC 9(04).
           05  FILLER                    PIC X(08).
           05  HOTELS                    PIC 9(04).
           05  FILLER                    PIC X(08).
           05  GUESTS                    PIC 9(06).
           05  FILLER                    PIC X(11).
           05  DISTRICTS                 PIC 9(04).
           05  FILLER                    PIC X(12).
       01  SEGMENT-AREAS.
           COPY ITEMSEG.
           COPY BINSEG.
           COPY SUPPSEG.
           COPY OFFRSEG.
           COPY HOTLSEG.
           COPY RATESEG.
           COPY NGHTSEG.
           COPY GUESSEG.
           COPY WISHSEG.
           COPY DISTSEG.
           COPY TASKSEG.
           COPY REQSEG.
           COPY ORDRSEG.
           COPY LINESEG.
       01  COUNTERS.
           05  ROOT-AT                   PIC 9(08).
           05  PART-AT                   PIC 9(03).
           05  NUMBER-4                  PIC 9(04).
           05  NUMBER-2                  PIC 9(02).
           05  SEGMENTS                  PIC S9(09) COMP-3 VALUE 0.
       01  EDITED-COUNT                  PIC ZZZ,ZZZ,ZZ9.

       LINKAGE SECTION.
           COPY DBPCBM REPLACING ==:P:== BY ==STK==.
           COPY DBPCBM REPLACING ==:P:== BY ==SUP==.
           COPY DBPCBM REPLACING ==:P:== BY ==HOT==.
           COPY DBPCBM REPLACING ==:P:== BY ==GUE==.
           COPY DBPCBM REPLACING ==:P:== BY ==DIS==.
           COPY DBPCBM REPLACING ==:P:== BY ==ORD==.

       PROCEDURE DIVISION USING STK-PCB SUP-PCB HOT-PCB GUE-PCB
                                DIS-PCB ORD-PCB.

       0000-MAIN.
           MOVE 'BURLOAD' TO ERR-PROGRAM.
           ACCEPT CONTROL-CARD.
           IF ITEMS NOT NUMERIC OR SUPPLIERS NOT NUMERIC
                   OR HOTELS NOT NUMERIC OR GUESTS NOT NUMERIC
                   OR DISTRICTS NOT NUMERIC
               DISPLAY 'BURLOAD *** BAD CARD *** ' CONTROL-CARD
               MOVE 16 TO RETURN-CODE
               GOBACK
           END-IF.
           PERFORM 1000-ITEM
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > ITEMS.
           PERFORM 2000-SUPPLIER
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > SUPPLIERS.
           PERFORM 3000-HOTEL
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > HOTELS.
           PERFORM 4000-GUEST
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > GUESTS.
           PERFORM 5000-DISTRICT
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > DISTRICTS.
           PERFORM 6000-ORDER
               VARYING ROOT-AT FROM 1 BY 1 UNTIL ROOT-AT > DISTRICTS.
           MOVE SEGMENTS TO EDITED-COUNT.
           DISPLAY 'BURLOAD SEGMENTS LOADED         ' EDITED-COUNT.
           MOVE 0 TO RETURN-CODE.
           GOBACK.

      * AN ITEM WITH THREE BINS AND ONE REQUEST.
       1000-ITEM.
           MOVE SPACES TO ITEM-SEG.
           MOVE ROOT-AT TO ITEM-NO.
           STRING 'ITEM NUMBER ' ROOT-AT DELIMITED BY SIZE
               INTO ITEM-NAME.
           COMPUTE ITEM-PRICE = 1 + ROOT-AT / 100.
           MOVE 1000000 TO ITEM-ON-HAND.
           MOVE 0 TO ITEM-ORDERED ITEM-MOVES.
           MOVE 19960331 TO ITEM-LAST.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT STK-PCB ITEM-SEG
                                SSA-ITEM
           IF NOT STK-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '1000-ITEM' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           PERFORM 1100-BIN
               VARYING PART-AT FROM 1 BY 1 UNTIL PART-AT > 3.
           MOVE SPACES TO REQ-SEG.
           MOVE 19960331 TO REQ-DATE.
           MOVE 0 TO REQ-QTY.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT STK-PCB REQ-SEG
                                SSA-REQUEST
           IF NOT STK-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '1000-ITEM' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       1100-BIN.
           MOVE SPACES TO BIN-SEG.
           MOVE PART-AT TO NUMBER-2.
           MOVE NUMBER-2 TO BIN-NO.
           MOVE 333333 TO BIN-QTY.
           STRING 'AISLE ' PART-AT DELIMITED BY SIZE INTO BIN-PLACE.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT STK-PCB BIN-SEG
                                SSA-BIN
           IF NOT STK-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '1100-BIN' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * A SUPPLIER WITH SIX OFFERS.
       2000-SUPPLIER.
           MOVE SPACES TO SUPP-SEG.
           MOVE ROOT-AT TO NUMBER-4.
           MOVE NUMBER-4 TO SUPP-NO.
           STRING 'SUPPLIER ' NUMBER-4 DELIMITED BY SIZE
               INTO SUPP-NAME.
           MOVE 'ROTTERDAM' TO SUPP-CITY.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT SUP-PCB SUPP-SEG
                                SSA-SUPPLIER
           IF NOT SUP-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2000-SUPPLIER' TO ERR-PARAGRAPH
               MOVE SUP-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           PERFORM 2100-OFFER
               VARYING PART-AT FROM 1 BY 1 UNTIL PART-AT > 6.

       2100-OFFER.
           MOVE SPACES TO OFFR-SEG.
           MOVE '00000000' TO OFFR-ITEM.
           MOVE PART-AT TO OFFR-ITEM (6:3).
           COMPUTE OFFR-PRICE = 10 + ROOT-AT / 100 - PART-AT.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT SUP-PCB OFFR-SEG
                                SSA-OFFER
           IF NOT SUP-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2100-OFFER' TO ERR-PARAGRAPH
               MOVE SUP-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * A HOTEL WITH TWO RATES AND 120 NIGHTS.
       3000-HOTEL.
           MOVE SPACES TO HOTL-SEG.
           MOVE ROOT-AT TO NUMBER-4.
           MOVE NUMBER-4 TO HOTL-NO.
           STRING 'HOTEL ' NUMBER-4 DELIMITED BY SIZE INTO HOTL-NAME.
           MOVE 'WHITBY' TO HOTL-CITY.
           MOVE 250 TO HOTL-ROOMS.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT HOT-PCB HOTL-SEG
                                SSA-HOTEL
           IF NOT HOT-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3000-HOTEL' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE SPACES TO RATE-SEG.
           MOVE 'DB' TO RATE-KIND.
           COMPUTE RATE-PRICE = 80 + ROOT-AT / 100.
           ADD 2 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT HOT-PCB RATE-SEG
                                SSA-RATE
           IF NOT HOT-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3000-HOTEL' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE 'SG' TO RATE-KIND.
           SUBTRACT 20 FROM RATE-PRICE.
           CALL 'CBLTDLI' USING DLI-ISRT HOT-PCB RATE-SEG
                                SSA-RATE
           IF NOT HOT-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3000-HOTEL' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           PERFORM 3100-NIGHT
               VARYING PART-AT FROM 1 BY 1 UNTIL PART-AT > 120.

       3100-NIGHT.
           MOVE SPACES TO NGHT-SEG.
           MOVE PART-AT TO NGHT-DAY.
           MOVE 250 TO NGHT-FREE.
           MOVE 0 TO NGHT-TAKEN.
           ADD 1 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT HOT-PCB NGHT-SEG
                                SSA-NIGHT
           IF NOT HOT-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3100-NIGHT' TO ERR-PARAGRAPH
               MOVE HOT-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * A GUEST WITH A WISH.
       4000-GUEST.
           MOVE SPACES TO GUES-SEG.
           MOVE ROOT-AT TO GUES-NO.
           STRING 'GUEST ' ROOT-AT DELIMITED BY SIZE INTO GUES-NAME.
           MOVE 0 TO GUES-STAYS GUES-SPENT.
           ADD 2 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT GUE-PCB GUES-SEG
                                SSA-GUEST
           IF NOT GUE-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '4000-GUEST' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE SPACES TO WISH-SEG.
           MOVE '0001' TO WISH-HOTEL.
           CALL 'CBLTDLI' USING DLI-ISRT GUE-PCB WISH-SEG
                                SSA-WISH
           IF NOT GUE-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '4000-GUEST' TO ERR-PARAGRAPH
               MOVE GUE-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * A DISTRICT WITH A TASK.
       5000-DISTRICT.
           MOVE SPACES TO DIST-SEG.
           MOVE ROOT-AT TO NUMBER-4.
           MOVE NUMBER-4 TO DIST-NO.
           STRING 'DISTRICT ' NUMBER-4 DELIMITED BY SIZE
               INTO DIST-NAME.
           MOVE 0 TO DIST-ORDERS DIST-TURNOVER.
           ADD 2 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT DIS-PCB DIST-SEG
                                SSA-DISTRICT
           IF NOT DIS-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '5000-DISTRICT' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE SPACES TO TASK-SEG.
           MOVE 0 TO TASK-LINES.
           CALL 'CBLTDLI' USING DLI-ISRT DIS-PCB TASK-SEG
                                SSA-TASK
           IF NOT DIS-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '5000-DISTRICT' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * AN ORDER OF ONE LINE FOR EACH DISTRICT.
       6000-ORDER.
           MOVE SPACES TO ORDR-SEG.
           MOVE ROOT-AT TO NUMBER-4.
           MOVE NUMBER-4 TO ORDR-DISTRICT.
           MOVE 19960331 TO ORDR-DATE.
           MOVE 0 TO ORDR-REF ORDR-TOTAL.
           MOVE 1 TO ORDR-LINES.
           ADD 2 TO SEGMENTS.
           CALL 'CBLTDLI' USING DLI-ISRT ORD-PCB ORDR-SEG
                                SSA-ORDER
           IF NOT ORD-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '6000-ORDER' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           MOVE SPACES TO LINE-SEG.
           MOVE 1 TO LINE-NO.
           MOVE '00000001' TO LINE-ITEM.
           MOVE 0 TO LINE-QTY LINE-PRICE.
           CALL 'CBLTDLI' USING DLI-ISRT ORD-PCB LINE-SEG
                                SSA-LINE
           IF NOT ORD-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '6000-ORDER' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       9100-DB-ERROR.
           MOVE ROOT-AT TO ERR-KEY.
           PERFORM 9900-DLI-ERROR.
           GOBACK.

           COPY DLERRP.
