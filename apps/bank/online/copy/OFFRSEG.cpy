      *----------------------------------------------------------------
      * OFFRSEG   SEGMENT OFFER OF INVSUPP, 32 BYTES
      *----------------------------------------------------------------
           05  OFFR-SEG.
               10  OFFR-ITEM          PIC X(08).
               10  OFFR-PRICE         PIC S9(07)V99 COMP-3.
               10  FILLER             PIC X(19).
