       01  CUSTOMER-AREA.
           05  CUSTOMER-KEY        PIC X(6).
           05  CUSTOMER-NAME       PIC X(24).
