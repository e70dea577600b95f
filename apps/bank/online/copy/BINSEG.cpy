      *----------------------------------------------------------------
      * BINSEG    SEGMENT BIN OF INVSTOCK, 32 BYTES
      *----------------------------------------------------------------
           05  BIN-SEG.
               10  BIN-NO             PIC X(02).
               10  BIN-QTY            PIC S9(09) COMP-3.
               10  BIN-PLACE          PIC X(12).
               10  FILLER             PIC X(13).
