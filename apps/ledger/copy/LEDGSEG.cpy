      * THE SEGMENTS OF LEDGER: 24 BYTES EACH.
       01  BRANCH-SEG.
           05  BRAN-NUMBER           PIC X(04).
           05  BRAN-TOTAL            PIC S9(11)V99 COMP-3.
           05  BRAN-ENTRIES          PIC S9(07) COMP-3.
           05  FILLER                PIC X(09).
       01  ENTRY-SEG.
           05  ENTR-NUMBER           PIC 9(08).
           05  ENTR-ACCOUNT          PIC X(08).
           05  ENTR-AMOUNT           PIC S9(11)V99 COMP-3.
           05  FILLER                PIC X(01).
