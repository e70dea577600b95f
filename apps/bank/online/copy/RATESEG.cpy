      *----------------------------------------------------------------
      * RATESEG   SEGMENT RATE OF HOTHOTEL, 20 BYTES
      *----------------------------------------------------------------
           05  RATE-SEG.
               10  RATE-KIND          PIC X(02).
               10  RATE-PRICE         PIC S9(07)V99 COMP-3.
               10  FILLER             PIC X(13).
