      * AN ACCOUNT: 80 BYTES.
           05  ACCT-NUMBER           PIC X(08).
           05  ACCT-CARD             PIC X(12).
           05  ACCT-OWNER            PIC X(20).
           05  ACCT-BALANCE          PIC S9(11)V99 COMP-3.
           05  ACCT-POSTINGS         PIC S9(07) COMP-3.
           05  FILLER                PIC X(29).
