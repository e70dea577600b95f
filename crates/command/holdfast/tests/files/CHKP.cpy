      * Checks: a status (CHK), a text (SAMETXT), the sum (FINISH).
       CHK.
           ADD 1 TO T-DONE.
           IF ST NOT = T-WANT
               ADD 1 TO T-FAILED
               DISPLAY "FAIL " T-NAME " " ST " WANTED " T-WANT.
       SAMETXT.
           ADD 1 TO T-DONE.
           IF A-TXT NOT = B-TXT
               ADD 1 TO T-FAILED
               DISPLAY "FAIL " T-NAME " " A-TXT " WANTED " B-TXT.
       FINISH.
           DISPLAY "DONE " T-DONE " FAILED " T-FAILED.
           STOP RUN.
