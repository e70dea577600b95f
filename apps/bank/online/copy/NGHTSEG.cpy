      *----------------------------------------------------------------
      * NGHTSEG   SEGMENT NIGHT OF HOTHOTEL, 20 BYTES
      *----------------------------------------------------------------
           05  NGHT-SEG.
               10  NGHT-DAY           PIC X(03).
               10  NGHT-FREE          PIC S9(07) COMP-3.
               10  NGHT-TAKEN         PIC S9(07) COMP-3.
               10  FILLER             PIC X(09).
