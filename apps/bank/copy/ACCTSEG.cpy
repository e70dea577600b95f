      *----------------------------------------------------------------
      * ACCTSEG   SEGMENT ACCOUNT OF BANKCUST, 80 BYTES
      *           THE NUMBER IS THE CUSTOMER'S WITH TWO MORE DIGITS
      *----------------------------------------------------------------
           05  ACCT-SEG.
               10  ACCT-NO.
                   15  ACCT-CUSTOMER PIC X(08).
                   15  ACCT-SUFFIX   PIC X(02).
               10  ACCT-KIND         PIC X(02).
                   88  ACCT-CURRENT             VALUE 'CA'.
                   88  ACCT-SAVINGS             VALUE 'SA'.
                   88  ACCT-DEPOSIT             VALUE 'DP'.
               10  ACCT-CURRENCY     PIC X(03).
               10  ACCT-BRANCH       PIC X(04).
               10  ACCT-OPENED       PIC 9(08).
               10  ACCT-BALANCE      PIC S9(13)V99 COMP-3.
               10  ACCT-LIMIT        PIC S9(09)V99 COMP-3.
               10  ACCT-RATE         PIC S9(03)V99 COMP-3.
               10  ACCT-ACCRUED      PIC S9(11)V99 COMP-3.
               10  ACCT-ACCRUED-ON   PIC 9(08).
               10  ACCT-POSTINGS     PIC S9(07) COMP-3.
               10  ACCT-LAST-DATE    PIC 9(08).
               10  FILLER            PIC X(09).
