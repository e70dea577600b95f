      *----------------------------------------------------------------
      * HACCSEG   SEGMENT HISTACCT OF BANKHIST, 40 BYTES
      *----------------------------------------------------------------
           05  HACC-SEG.
               10  HACC-ACCOUNT      PIC X(10).
               10  HACC-SINCE        PIC 9(08).
               10  HACC-BRANCH       PIC X(04).
               10  FILLER            PIC X(18).
