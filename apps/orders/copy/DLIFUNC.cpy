      *----------------------------------------------------------------
      * DLIFUNC   DL/I FUNCTION CODES
      *----------------------------------------------------------------
       01  DLI-FUNCTIONS.
           05  DLI-GU                PIC X(04)  VALUE 'GU  '.
           05  DLI-GHU               PIC X(04)  VALUE 'GHU '.
           05  DLI-GN                PIC X(04)  VALUE 'GN  '.
           05  DLI-GHN               PIC X(04)  VALUE 'GHN '.
           05  DLI-GNP               PIC X(04)  VALUE 'GNP '.
           05  DLI-ISRT              PIC X(04)  VALUE 'ISRT'.
           05  DLI-REPL              PIC X(04)  VALUE 'REPL'.
           05  DLI-OPEN              PIC X(04)  VALUE 'OPEN'.
           05  DLI-CLSE              PIC X(04)  VALUE 'CLSE'.
           05  DLI-XRST              PIC X(04)  VALUE 'XRST'.
           05  DLI-CHKP              PIC X(04)  VALUE 'CHKP'.
           05  DLI-ROLB              PIC X(04)  VALUE 'ROLB'.
           05  DLI-ROLL              PIC X(04)  VALUE 'ROLL'.
