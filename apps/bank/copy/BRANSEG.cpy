      *----------------------------------------------------------------
      * BRANSEG   SEGMENT BRANCH OF BANKBRAN, 100 BYTES
      *----------------------------------------------------------------
           05  BRAN-SEG.
               10  BRAN-NO           PIC X(04).
               10  BRAN-NAME         PIC X(24).
               10  BRAN-CITY         PIC X(24).
               10  BRAN-MANAGER      PIC X(24).
               10  BRAN-DEPOSITS     PIC S9(13)V99 COMP-3.
               10  BRAN-WITHDRAWALS  PIC S9(13)V99 COMP-3.
               10  BRAN-COUNT        PIC S9(09) COMP-3.
               10  FILLER            PIC X(03).
