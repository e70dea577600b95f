      *----------------------------------------------------------------
      * SUPPSEG   SEGMENT SUPPLIER OF INVSUPP, 60 BYTES
      *----------------------------------------------------------------
           05  SUPP-SEG.
               10  SUPP-NO            PIC X(04).
               10  SUPP-NAME          PIC X(24).
               10  SUPP-CITY          PIC X(24).
               10  FILLER             PIC X(08).
