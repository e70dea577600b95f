      *----------------------------------------------------------------
      * REQSEG    SEGMENT REQUEST OF INVSTOCK, 32 BYTES
      *----------------------------------------------------------------
           05  REQ-SEG.
               10  REQ-REF            PIC 9(09).
               10  REQ-DATE           PIC 9(08).
               10  REQ-QTY            PIC S9(07) COMP-3.
               10  FILLER             PIC X(11).
