      *----------------------------------------------------------------
      * TELLOUT   ANSWER OF TRANSACTION TELL, ALL CHARACTERS
      *----------------------------------------------------------------
           05  TOUT-LL               PIC S9(04) COMP.
           05  TOUT-ZZ               PIC X(02).
           05  TOUT-REF              PIC 9(09).
           05  FILLER                PIC X(01).
           05  TOUT-RESULT           PIC X(08).
           05  TOUT-REASON           PIC X(20).
           05  TOUT-BALANCE          PIC -(13)9.99.
