      *----------------------------------------------------------------
      * MVMTSEG   SEGMENT MOVEMENT OF INVSTOCK, 48 BYTES
      *----------------------------------------------------------------
           05  MVMT-SEG.
               10  MVMT-KEY.
                   15  MVMT-DATE          PIC 9(08).
                   15  MVMT-REF           PIC 9(09).
               10  MVMT-QTY           PIC S9(07) COMP-3.
               10  MVMT-ORIGIN        PIC X(04).
               10  FILLER             PIC X(23).
