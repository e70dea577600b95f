      *----------------------------------------------------------------
      * BRDYSEG   SEGMENT BRDAY OF BANKBRAN, 40 BYTES
      *----------------------------------------------------------------
           05  BRDY-SEG.
               10  BRDY-DAY          PIC 9(08).
               10  BRDY-DEPOSITS     PIC S9(13)V99 COMP-3.
               10  BRDY-WITHDRAWALS  PIC S9(13)V99 COMP-3.
               10  BRDY-COUNT        PIC S9(09) COMP-3.
               10  FILLER            PIC X(11).
