      *----------------------------------------------------------------
      * CUSTSSA   SSAS FOR BANKCUST
      *           PUT ANOTHER CODE THAN '-' INTO THE -CODE FIELDS FOR
      *           A PATH CALL (D) OR TO LEAVE A LEVEL AS IT IS (N)
      *----------------------------------------------------------------
       01  SSA-CUSTOMER-EQ.
           05  FILLER                PIC X(09)  VALUE 'CUSTOMER*'.
           05  SSA-CUSTOMER-CODE     PIC X(01)  VALUE '-'.
           05  FILLER                PIC X(11)  VALUE '(CUSTNO  = '.
           05  SSA-CUSTOMER-KEY      PIC X(08).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-ACCOUNT-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'ACCOUNT (ACCTNO  = '.
           05  SSA-ACCOUNT-KEY       PIC X(10).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-CUSTOMER              PIC X(09)  VALUE 'CUSTOMER '.
       01  SSA-CUSTOMER-KEEP         PIC X(11)  VALUE 'CUSTOMER*N '.
       01  SSA-ACCOUNT               PIC X(09)  VALUE 'ACCOUNT  '.
       01  SSA-POSTING               PIC X(09)  VALUE 'POSTING  '.
