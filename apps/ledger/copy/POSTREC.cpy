      * A POSTING AS IT COMES: A LINE OF 40 BYTES.
           05  POST-NUMBER           PIC 9(08).
           05  POST-ACCOUNT          PIC X(08).
           05  POST-BRANCH           PIC X(04).
           05  POST-SIGN             PIC X(01).
           05  POST-AMOUNT           PIC 9(09)V99.
           05  FILLER                PIC X(08).
