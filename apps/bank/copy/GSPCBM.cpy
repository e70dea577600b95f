      *----------------------------------------------------------------
      * GSPCBM    MASK OF A GSAM PCB
      *           COPY GSPCBM REPLACING ==:P:== BY ==PREFIX==.
      *----------------------------------------------------------------
       01  :P:-PCB.
           05  :P:-DBD-NAME          PIC X(08).
           05  FILLER                PIC X(02).
           05  :P:-STATUS            PIC X(02).
               88  :P:-OK                       VALUE '  '.
               88  :P:-AT-END                   VALUE 'GB'.
           05  :P:-PROCOPT           PIC X(04).
           05  FILLER                PIC S9(09) COMP.
           05  FILLER                PIC X(08).
           05  :P:-RSA-LEN           PIC S9(09) COMP.
           05  FILLER                PIC S9(09) COMP.
           05  :P:-RSA               PIC X(08).
           05  :P:-UNDEF-LEN         PIC S9(09) COMP.
