      *----------------------------------------------------------------
      * WISHSEG   SEGMENT WISH OF HOTGUEST, 24 BYTES
      *----------------------------------------------------------------
           05  WISH-SEG.
               10  WISH-REF           PIC 9(09).
               10  WISH-HOTEL         PIC X(04).
               10  FILLER             PIC X(11).
