      *----------------------------------------------------------------
      * CUSTSEG   SEGMENT CUSTOMER OF BANKCUST, 160 BYTES
      *----------------------------------------------------------------
           05  CUST-SEG.
               10  CUST-NO           PIC X(08).
               10  CUST-SURNAME      PIC X(24).
               10  CUST-FORENAME     PIC X(20).
               10  CUST-BORN         PIC 9(08).
               10  CUST-STREET       PIC X(30).
               10  CUST-POSTCODE     PIC X(08).
               10  CUST-CITY         PIC X(24).
               10  CUST-PHONE        PIC X(16).
               10  CUST-BRANCH       PIC X(04).
               10  CUST-SINCE        PIC 9(08).
               10  CUST-STATUS       PIC X(01).
                   88  CUST-ACTIVE              VALUE 'A'.
                   88  CUST-BLOCKED             VALUE 'B'.
               10  FILLER            PIC X(09).
