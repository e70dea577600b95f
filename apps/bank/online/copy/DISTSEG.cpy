      *----------------------------------------------------------------
      * DISTSEG   SEGMENT DISTRICT OF WHSDIST, 60 BYTES
      *----------------------------------------------------------------
           05  DIST-SEG.
               10  DIST-NO            PIC X(04).
               10  DIST-NAME          PIC X(24).
               10  DIST-ORDERS        PIC S9(09) COMP-3.
               10  DIST-TURNOVER      PIC S9(13)V99 COMP-3.
               10  FILLER             PIC X(19).
