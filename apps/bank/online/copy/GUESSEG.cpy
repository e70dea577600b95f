      *----------------------------------------------------------------
      * GUESSEG   SEGMENT GUEST OF HOTGUEST, 60 BYTES
      *----------------------------------------------------------------
           05  GUES-SEG.
               10  GUES-NO            PIC X(08).
               10  GUES-NAME          PIC X(24).
               10  GUES-STAYS         PIC S9(07) COMP-3.
               10  GUES-SPENT         PIC S9(11)V99 COMP-3.
               10  FILLER             PIC X(17).
