      *----------------------------------------------------------------
      * ITEMSEG   SEGMENT ITEM OF INVSTOCK, 80 BYTES
      *----------------------------------------------------------------
           05  ITEM-SEG.
               10  ITEM-NO            PIC X(08).
               10  ITEM-NAME          PIC X(24).
               10  ITEM-PRICE         PIC S9(07)V99 COMP-3.
               10  ITEM-ON-HAND       PIC S9(09) COMP-3.
               10  ITEM-ORDERED       PIC S9(09) COMP-3.
               10  ITEM-MOVES         PIC S9(09) COMP-3.
               10  ITEM-LAST          PIC 9(08).
               10  FILLER             PIC X(20).
