       WORKING-STORAGE SECTION.
       01  CUSTOMER-AREA              PIC X(36).
       01  DIB.
           05  DIBVER                 PIC XX.
           05  DIBSTAT                PIC XX.
           05  DIBSEGM                PIC X(8).
           05  FILLER                 PIC XX.
           05  DIBSEGLV               PIC XX.
           05  DIBKFBL                PIC S9(4) COMP.
           05  FILLER                 PIC X(22).
