      *----------------------------------------------------------------
      * EXTRREC   RECORD OF BANKEXTR, 120 BYTES: A LINE OF A STATEMENT
      *----------------------------------------------------------------
           05  EXTR-RECORD.
               10  EXTR-TYPE         PIC X(01).
                   88  EXTR-CUSTOMER            VALUE 'C'.
                   88  EXTR-ACCOUNT             VALUE 'A'.
                   88  EXTR-POSTING             VALUE 'P'.
                   88  EXTR-BALANCE             VALUE 'B'.
               10  EXTR-NUMBER       PIC X(10).
               10  FILLER            PIC X(01).
               10  EXTR-TEXT         PIC X(80).
               10  FILLER            PIC X(01).
               10  EXTR-AMOUNT       PIC -(12)9.99.
               10  FILLER            PIC X(11).
