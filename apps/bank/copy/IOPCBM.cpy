      *----------------------------------------------------------------
      * IOPCBM    MASK OF THE I/O PCB
      *----------------------------------------------------------------
       01  IO-PCB.
           05  IO-LTERM              PIC X(08).
           05  FILLER                PIC X(02).
           05  IO-STATUS             PIC X(02).
               88  IO-OK                        VALUES '  ' 'CF'.
               88  IO-NO-MESSAGE                VALUE 'QC'.
           05  IO-DATE               PIC S9(07) COMP-3.
           05  IO-TIME               PIC S9(07) COMP-3.
           05  IO-SEQUENCE           PIC S9(09) COMP.
           05  IO-MOD-NAME           PIC X(08).
           05  IO-USER               PIC X(08).
