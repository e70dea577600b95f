       IDENTIFICATION DIVISION.
       PROGRAM-ID.    WHSEONL.
       AUTHOR.        COMPUTING BUREAU.
      *----------------------------------------------------------------
      * AN ORDER OF FOUR LINES: FOR EACH MESSAGE OF TRANSACTION WHSE
      * FOUR ITEMS IN SEQUENCE LEAVE THE STOCK, THE ORDER IS WRITTEN
      * AND READ BACK, AND THE DISTRICT'S OLDEST TASK GIVES WAY TO A
      * NEW ONE: 24 CALLS.
      *
      * AN ORDER WITH THE SAME DATE AND REFERENCE IS THIS ONE, SENT
      * BEFORE.
      *----------------------------------------------------------------
       ENVIRONMENT DIVISION.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY DLERRW.
           COPY INVSSA.
           COPY WHSSSA.
       01  DISTRICT-AREA.
           COPY DISTSEG.
       01  TASK-AREA.
           COPY TASKSEG.
       01  ITEM-AREA.
           COPY ITEMSEG.
       01  ORDER-AREA.
           COPY ORDRSEG.
       01  LINE-AREA.
           COPY LINESEG.
       01  LINES-OF-ORDER.
           05  ORDERED                   OCCURS 4 TIMES.
               10  ORDERED-ITEM          PIC X(08).
               10  ORDERED-PRICE         PIC S9(09)V99 COMP-3.
       01  TERMINAL-INPUT.
           COPY WHSEIN.
       01  TERMINAL-OUTPUT.
           COPY TELLOUT.
       01  SWITCHES.
           05  REFUSAL                   PIC X(20).
               88  ACCEPTED                         VALUE SPACES.
           05  DONE-SWITCH               PIC X(01).
               88  DONE-BEFORE                      VALUE 'Y'.
       01  WORK-AREA.
           05  NEXT-ITEM                 PIC 9(08).
           05  LINE-AT                   PIC S9(04) COMP-5.
           05  TOTAL                     PIC S9(11)V99 COMP-3.

       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==DIS==.
           COPY DBPCBM REPLACING ==:P:== BY ==STK==.
           COPY DBPCBM REPLACING ==:P:== BY ==ORD==.

       PROCEDURE DIVISION USING IO-PCB DIS-PCB STK-PCB ORD-PCB.

       0000-MAIN.
           MOVE 'WHSEONL' TO ERR-PROGRAM.
           PERFORM 1000-NEXT-MESSAGE.
           PERFORM 2000-TRANSACTION UNTIL NOT IO-OK.
           GOBACK.

       2000-TRANSACTION.
           MOVE SPACES TO REFUSAL.
           MOVE 'N' TO DONE-SWITCH.
           MOVE 0 TO TOTAL.
           PERFORM 2050-CHECK-INPUT.
           IF ACCEPTED PERFORM 2100-SENT-BEFORE.
           IF ACCEPTED AND NOT DONE-BEFORE
               PERFORM 2200-DISTRICT
           END-IF.
           IF ACCEPTED AND NOT DONE-BEFORE
               MOVE IN-ITEM TO NEXT-ITEM
               PERFORM 2300-TAKE-ITEM
                   VARYING LINE-AT FROM 1 BY 1 UNTIL LINE-AT > 4
               PERFORM 2310-COUNT-ORDER
               PERFORM 2400-ORDER
               PERFORM 2500-LINE
                   VARYING LINE-AT FROM 1 BY 1 UNTIL LINE-AT > 4
               PERFORM 2600-TASK
               PERFORM 2700-READ-BACK
           END-IF.
           PERFORM 3000-ANSWER.
           PERFORM 1000-NEXT-MESSAGE.

       2050-CHECK-INPUT.
           IF IN-REF NOT NUMERIC OR IN-DATE NOT NUMERIC
                   OR IN-ITEM NOT NUMERIC OR IN-QTY NOT NUMERIC
               MOVE 'NOT NUMERIC' TO REFUSAL
           END-IF.

       2100-SENT-BEFORE.
           MOVE IN-DISTRICT TO ORDR-DISTRICT.
           MOVE IN-DATE TO ORDR-DATE.
           MOVE IN-REF TO ORDR-REF.
           MOVE ORDR-KEY TO SSA-ORDER-KEY.
           CALL 'CBLTDLI' USING DLI-GU ORD-PCB ORDR-SEG
                                SSA-ORDER-EQ.
           IF ORD-OK
               MOVE 'Y' TO DONE-SWITCH
           END-IF.
           IF NOT ORD-OK AND NOT ORD-NOT-FOUND
               MOVE DLI-GU TO ERR-CALL
               MOVE '2100-SENT-BEFORE' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2200-DISTRICT.
           MOVE IN-DISTRICT TO SSA-DISTRICT-KEY.
           CALL 'CBLTDLI' USING DLI-GHU DIS-PCB DIST-SEG
                                SSA-DISTRICT-EQ.
           IF DIS-NOT-FOUND
               MOVE 'NO SUCH DISTRICT' TO REFUSAL
           END-IF.
           IF NOT DIS-OK AND NOT DIS-NOT-FOUND
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2200-DISTRICT' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2310-COUNT-ORDER.
           ADD 1 TO DIST-ORDERS.
           ADD TOTAL TO DIST-TURNOVER.
           CALL 'CBLTDLI' USING DLI-REPL DIS-PCB DIST-SEG
           IF NOT DIS-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2310-COUNT-ORDER' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2300-TAKE-ITEM.
           MOVE NEXT-ITEM TO SSA-ITEM-KEY.
           ADD 1 TO NEXT-ITEM.
           CALL 'CBLTDLI' USING DLI-GHU STK-PCB ITEM-SEG
                                SSA-ITEM-EQ
           IF NOT STK-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2300-TAKE-ITEM' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           SUBTRACT IN-QTY FROM ITEM-ON-HAND.
           ADD IN-QTY TO ITEM-ORDERED.
           MOVE IN-DATE TO ITEM-LAST.
           MOVE ITEM-NO TO ORDERED-ITEM (LINE-AT).
           COMPUTE ORDERED-PRICE (LINE-AT) = IN-QTY * ITEM-PRICE.
           ADD ORDERED-PRICE (LINE-AT) TO TOTAL.
           CALL 'CBLTDLI' USING DLI-REPL STK-PCB ITEM-SEG
           IF NOT STK-OK
               MOVE DLI-REPL TO ERR-CALL
               MOVE '2300-TAKE-ITEM' TO ERR-PARAGRAPH
               MOVE STK-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2400-ORDER.
           MOVE SPACES TO ORDR-SEG.
           MOVE SSA-ORDER-KEY TO ORDR-KEY.
           MOVE 4 TO ORDR-LINES.
           MOVE TOTAL TO ORDR-TOTAL.
           CALL 'CBLTDLI' USING DLI-ISRT ORD-PCB ORDR-SEG
                                SSA-ORDER
           IF NOT ORD-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2400-ORDER' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2500-LINE.
           MOVE SPACES TO LINE-SEG.
           MOVE LINE-AT TO LINE-NO.
           MOVE ORDERED-ITEM (LINE-AT) TO LINE-ITEM.
           MOVE IN-QTY TO LINE-QTY.
           MOVE ORDERED-PRICE (LINE-AT) TO LINE-PRICE.
           CALL 'CBLTDLI' USING DLI-ISRT ORD-PCB LINE-SEG
                                SSA-ORDER-EQ SSA-LINE
           IF NOT ORD-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2500-LINE' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

      * THE OLDEST TASK IS THE FIRST IN ITS SEQUENCE.
       2600-TASK.
           MOVE SPACES TO TASK-SEG.
           MOVE IN-REF TO TASK-REF.
           MOVE 4 TO TASK-LINES.
           CALL 'CBLTDLI' USING DLI-ISRT DIS-PCB TASK-SEG
                                SSA-DISTRICT-EQ SSA-TASK
           IF NOT DIS-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '2600-TASK' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-GHU DIS-PCB TASK-SEG
                                SSA-DISTRICT-EQ SSA-TASK
           IF NOT DIS-OK
               MOVE DLI-GHU TO ERR-CALL
               MOVE '2600-TASK' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           CALL 'CBLTDLI' USING DLI-DLET DIS-PCB TASK-SEG
           IF NOT DIS-OK
               MOVE DLI-DLET TO ERR-CALL
               MOVE '2600-TASK' TO ERR-PARAGRAPH
               MOVE DIS-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

       2700-READ-BACK.
           CALL 'CBLTDLI' USING DLI-GU ORD-PCB ORDR-SEG
                                SSA-ORDER-EQ
           IF NOT ORD-OK
               MOVE DLI-GU TO ERR-CALL
               MOVE '2700-READ-BACK' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.
           PERFORM 2710-LINE-BACK 4 TIMES.

       2710-LINE-BACK.
           CALL 'CBLTDLI' USING DLI-GNP ORD-PCB LINE-SEG
                                SSA-LINE
           IF NOT ORD-OK
               MOVE DLI-GNP TO ERR-CALL
               MOVE '2710-LINE-BACK' TO ERR-PARAGRAPH
               MOVE ORD-PCB TO ERR-PCB
               GO TO 9100-DB-ERROR
           END-IF.

           COPY BURMSGP REPLACING ==:FIGURE:== BY ==TOTAL==.
           COPY DLERRP.
