      *----------------------------------------------------------------
      * STAYSEG   SEGMENT STAY OF HOTGUEST, 48 BYTES
      *----------------------------------------------------------------
           05  STAY-SEG.
               10  STAY-KEY.
                   15  STAY-DATE          PIC 9(08).
                   15  STAY-REF           PIC 9(09).
               10  STAY-HOTEL         PIC X(04).
               10  STAY-DAY           PIC X(03).
               10  STAY-NIGHTS        PIC 9(02).
               10  STAY-PRICE         PIC S9(09)V99 COMP-3.
               10  FILLER             PIC X(16).
