      *----------------------------------------------------------------
      * DBPCBM    MASK OF A DATA BASE PCB
      *           COPY DBPCBM REPLACING ==:P:== BY ==PREFIX==.
      *----------------------------------------------------------------
       01  :P:-PCB.
           05  :P:-DBD-NAME          PIC X(08).
           05  :P:-LEVEL             PIC X(02).
           05  :P:-STATUS            PIC X(02).
               88  :P:-OK                       VALUE '  '.
               88  :P:-MOVED-ON                 VALUE '  ' 'GA' 'GK'.
               88  :P:-NOT-FOUND                VALUE 'GE'.
               88  :P:-AT-END                   VALUE 'GB'.
           05  :P:-PROCOPT           PIC X(04).
           05  FILLER                PIC S9(09) COMP.
           05  :P:-SEGMENT           PIC X(08).
           05  :P:-KFB-LEN           PIC S9(09) COMP.
           05  :P:-SENSEGS           PIC S9(09) COMP.
           05  :P:-KFB               PIC X(60).
