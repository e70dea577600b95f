      * A JOURNAL RECORD: 40 BYTES.
           05  JRNL-NUMBER           PIC 9(08).
           05  JRNL-ACCOUNT          PIC X(08).
           05  JRNL-BRANCH           PIC X(04).
           05  JRNL-AMOUNT           PIC S9(11)V99 COMP-3.
           05  JRNL-BALANCE          PIC S9(11)V99 COMP-3.
           05  FILLER                PIC X(06).
