      *----------------------------------------------------------------
      * HOTLSEG   SEGMENT HOTEL OF HOTHOTEL, 80 BYTES
      *----------------------------------------------------------------
           05  HOTL-SEG.
               10  HOTL-NO            PIC X(04).
               10  HOTL-NAME          PIC X(24).
               10  HOTL-CITY          PIC X(24).
               10  HOTL-ROOMS         PIC S9(05) COMP-3.
               10  FILLER             PIC X(25).
