      *----------------------------------------------------------------
      * BRANSSA   SSAS FOR BANKBRAN
      *----------------------------------------------------------------
       01  SSA-BRANCH-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'BRANCH  (BRANCHNO= '.
           05  SSA-BRANCH-KEY        PIC X(04).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-BRDAY-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'BRDAY   (DAY     = '.
           05  SSA-BRDAY-KEY         PIC X(08).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-BRANCH                PIC X(09)  VALUE 'BRANCH   '.
       01  SSA-BRDAY                 PIC X(09)  VALUE 'BRDAY    '.
