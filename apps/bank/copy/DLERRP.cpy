      *----------------------------------------------------------------
      * DLERRP    SAY WHICH CALL FAILED, WHERE, AND WITH WHAT STATUS
      *           FILL ERROR-AREA BEFORE THE PERFORM
      *----------------------------------------------------------------
       9900-DLI-ERROR.
           DISPLAY ERR-PROGRAM ' *** DL/I CALL FAILED ***'.
           DISPLAY ERR-PROGRAM ' PARAGRAPH  ' ERR-PARAGRAPH.
           DISPLAY ERR-PROGRAM ' CALL       ' ERR-CALL
                   '  STATUS ' ERR-STATUS.
           DISPLAY ERR-PROGRAM ' DATA BASE  ' ERR-DBD-NAME
                   '  SEGMENT ' ERR-SEGMENT '  LEVEL ' ERR-LEVEL.
           IF ERR-KEY NOT = SPACES
               DISPLAY ERR-PROGRAM ' WORKING ON ' ERR-KEY
           END-IF.
           IF ERR-SEGMENT > SPACES
               AND ERR-KFB-LEN > 0
               AND ERR-KFB-LEN NOT > LENGTH OF ERR-KFB
               DISPLAY ERR-PROGRAM ' KEY        '
                       ERR-KFB (1:ERR-KFB-LEN)
           END-IF.
           MOVE 16 TO RETURN-CODE.
