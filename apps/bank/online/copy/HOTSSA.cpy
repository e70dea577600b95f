      *----------------------------------------------------------------
      * HOTSSA    SSAS FOR HOTHOTEL AND HOTGUEST
      *----------------------------------------------------------------
       01  SSA-HOTEL-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'HOTEL   (HOTLNO  = '.
           05  SSA-HOTEL-KEY         PIC X(04).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-NIGHT-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'NIGHT   (NIGHTDAY= '.
           05  SSA-NIGHT-KEY         PIC X(03).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-GUEST-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'GUEST   (GUESTNO = '.
           05  SSA-GUEST-KEY         PIC X(08).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-STAY-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'STAY    (STAYKEY = '.
           05  SSA-STAY-KEY          PIC X(17).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-HOTEL                 PIC X(09)  VALUE 'HOTEL    '.
       01  SSA-RATE                  PIC X(09)  VALUE 'RATE     '.
       01  SSA-NIGHT                 PIC X(09)  VALUE 'NIGHT    '.
       01  SSA-GUEST                 PIC X(09)  VALUE 'GUEST    '.
       01  SSA-STAY                  PIC X(09)  VALUE 'STAY     '.
       01  SSA-WISH                  PIC X(09)  VALUE 'WISH     '.
