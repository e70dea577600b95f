      *----------------------------------------------------------------
      * MESSAGES: AN ORDER, AND ITS CONFIRMATION
      *----------------------------------------------------------------
       01  ORDER-MESSAGE.
           05  OMSG-NUMBER           PIC X(08).
           05  OMSG-CUSTOMER         PIC X(06).
           05  OMSG-AMOUNT           PIC 9(07)V99.
       01  CONFIRMATION.
           05  CONF-NUMBER           PIC X(08).
           05  CONF-CUSTOMER         PIC X(06).
           05  CONF-ORDERS           PIC 9(07).
