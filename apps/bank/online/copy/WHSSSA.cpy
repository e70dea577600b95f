      *----------------------------------------------------------------
      * WHSSSA    SSAS FOR WHSDIST AND WHSORDER
      *----------------------------------------------------------------
       01  SSA-DISTRICT-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'DISTRICT(DISTNO  = '.
           05  SSA-DISTRICT-KEY      PIC X(04).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-ORDER-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'ORDER   (ORDERKEY= '.
           05  SSA-ORDER-KEY         PIC X(21).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-DISTRICT              PIC X(09)  VALUE 'DISTRICT '.
       01  SSA-TASK                  PIC X(09)  VALUE 'TASK     '.
       01  SSA-ORDER                 PIC X(09)  VALUE 'ORDER    '.
       01  SSA-LINE                  PIC X(09)  VALUE 'LINE     '.
