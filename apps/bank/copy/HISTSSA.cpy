      *----------------------------------------------------------------
      * HISTSSA   SSAS FOR BANKHIST
      *----------------------------------------------------------------
       01  SSA-HISTACCT-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'HISTACCT(HACCTNO = '.
           05  SSA-HISTACCT-KEY      PIC X(10).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-HISTACCT              PIC X(09)  VALUE 'HISTACCT '.
       01  SSA-HISTENT               PIC X(09)  VALUE 'HISTENT  '.
