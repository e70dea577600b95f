      *----------------------------------------------------------------
      * TELLIN    INPUT OF TRANSACTION TELL, ALL CHARACTERS
      *----------------------------------------------------------------
           05  TELL-LL               PIC S9(04) COMP.
           05  TELL-ZZ               PIC X(02).
           05  TELL-CODE             PIC X(08).
           05  TELL-REF              PIC 9(09).
           05  TELL-DATE             PIC 9(08).
           05  TELL-TIME             PIC 9(06).
           05  TELL-BRANCH           PIC X(04).
           05  TELL-TELLER           PIC X(06).
           05  TELL-ACCOUNT.
               10  TELL-CUSTOMER     PIC X(08).
               10  FILLER            PIC X(02).
           05  TELL-KIND             PIC X(01).
               88  TELL-IS-DEPOSIT              VALUE 'D'.
               88  TELL-IS-WITHDRAWAL           VALUE 'W'.
           05  TELL-AMOUNT           PIC 9(09)V99.
           05  TELL-TEXT             PIC X(24).
