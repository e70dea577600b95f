      *----------------------------------------------------------------
      * BURMSGP   MESSAGES OF A TRANSACTION OF THE BUREAU: THE NEXT ONE,
      *           THE ANSWER WITH A FIGURE, WHAT IS TAKEN BACK
      *           COPY BURMSGP REPLACING ==:FIGURE:== BY ==ITEM==.
      *----------------------------------------------------------------
      * THE MESSAGE BEFORE IS COMMITTED BY THIS CALL.
       1000-NEXT-MESSAGE.
           MOVE SPACES TO TERMINAL-INPUT.
           CALL 'CBLTDLI' USING DLI-GU IO-PCB TERMINAL-INPUT.
           IF NOT IO-OK AND NOT IO-NO-MESSAGE
               MOVE DLI-GU TO ERR-CALL
               MOVE '1000-NEXT-MESSAGE' TO ERR-PARAGRAPH
               GO TO 9000-IO-ERROR
           END-IF.

       3000-ANSWER.
           MOVE SPACES TO TERMINAL-OUTPUT.
           MOVE LENGTH OF TERMINAL-OUTPUT TO TOUT-LL.
           MOVE LOW-VALUES TO TOUT-ZZ.
           MOVE IN-REF TO TOUT-REF.
           EVALUATE TRUE
               WHEN NOT ACCEPTED
                   MOVE 'REFUSED' TO TOUT-RESULT
                   MOVE REFUSAL TO TOUT-REASON
               WHEN DONE-BEFORE
                   MOVE 'POSTED' TO TOUT-RESULT
                   MOVE 'BEFORE' TO TOUT-REASON
               WHEN OTHER
                   MOVE 'POSTED' TO TOUT-RESULT
                   MOVE :FIGURE: TO TOUT-BALANCE
           END-EVALUATE.
           CALL 'CBLTDLI' USING DLI-ISRT IO-PCB TERMINAL-OUTPUT.
           IF NOT IO-OK
               MOVE DLI-ISRT TO ERR-CALL
               MOVE '3000-ANSWER' TO ERR-PARAGRAPH
               GO TO 9000-IO-ERROR
           END-IF.

       9000-IO-ERROR.
           MOVE SPACES TO ERR-PCB.
           MOVE 'I/O PCB' TO ERR-DBD-NAME.
           MOVE IO-STATUS TO ERR-STATUS.
           PERFORM 9100-DB-ERROR.

      * WHAT WAS DONE FOR THIS MESSAGE IS TAKEN BACK.
       9100-DB-ERROR.
           MOVE TERMINAL-INPUT (5:35) TO ERR-KEY.
           PERFORM 9900-DLI-ERROR.
           CALL 'CBLTDLI' USING DLI-ROLL IO-PCB.
           GOBACK.
