      *----------------------------------------------------------------
      * LINESEG   SEGMENT LINE OF WHSORDER, 40 BYTES
      *----------------------------------------------------------------
           05  LINE-SEG.
               10  LINE-NO            PIC 9(02).
               10  LINE-ITEM          PIC X(08).
               10  LINE-QTY           PIC S9(05) COMP-3.
               10  LINE-PRICE         PIC S9(09)V99 COMP-3.
               10  FILLER             PIC X(21).
