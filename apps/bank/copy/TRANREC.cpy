      *----------------------------------------------------------------
      * TRANREC   RECORD OF BANKTRAN, 80 BYTES: ONE TRANSACTION
      *----------------------------------------------------------------
           05  TRAN-RECORD.
               10  TRAN-REF          PIC 9(09).
               10  TRAN-DATE         PIC 9(08).
               10  TRAN-TIME         PIC 9(06).
               10  TRAN-BRANCH       PIC X(04).
               10  TRAN-TELLER       PIC X(06).
               10  TRAN-ACCOUNT.
                   15  TRAN-CUSTOMER PIC X(08).
                   15  FILLER        PIC X(02).
               10  TRAN-KIND         PIC X(01).
                   88  TRAN-IS-DEPOSIT          VALUE 'D'.
                   88  TRAN-IS-WITHDRAWAL       VALUE 'W'.
               10  TRAN-AMOUNT       PIC S9(11)V99 COMP-3.
               10  TRAN-TEXT         PIC X(24).
               10  FILLER            PIC X(05).
