      *----------------------------------------------------------------
      * POSTSEG   SEGMENT POSTING OF BANKCUST, 56 BYTES
      *           A WITHDRAWAL HAS A NEGATIVE AMOUNT
      *----------------------------------------------------------------
           05  POST-SEG.
               10  POST-KEY.
                   15  POST-DATE     PIC 9(08).
                   15  POST-REF      PIC 9(09).
               10  POST-KIND         PIC X(01).
                   88  POST-IS-DEPOSIT          VALUE 'D'.
                   88  POST-IS-WITHDRAWAL       VALUE 'W'.
               10  POST-AMOUNT       PIC S9(11)V99 COMP-3.
               10  POST-ORIGIN       PIC X(01).
                   88  POST-LOADED              VALUE 'L'.
                   88  POST-BY-TELLER           VALUE 'T'.
               10  POST-TELLER       PIC X(06).
               10  POST-TEXT         PIC X(24).
