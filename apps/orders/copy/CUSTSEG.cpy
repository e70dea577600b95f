      *----------------------------------------------------------------
      * SEGMENTS OF CUSTDB
      *----------------------------------------------------------------
       01  CUSTOMER-SEG.
           05  CUST-NUMBER           PIC X(06).
           05  CUST-ORDERS           PIC S9(07) COMP-3.
           05  CUST-TOTAL            PIC S9(11)V99 COMP-3.
           05  FILLER                PIC X(07).
       01  ORDER-SEG.
           05  ORDR-NUMBER           PIC X(08).
           05  ORDR-AMOUNT           PIC S9(09)V99 COMP-3.
           05  FILLER                PIC X(10).
