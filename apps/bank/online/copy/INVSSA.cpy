      *----------------------------------------------------------------
      * INVSSA    SSAS FOR INVSTOCK AND INVSUPP
      *----------------------------------------------------------------
       01  SSA-ITEM-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'ITEM    (ITEMNO  = '.
           05  SSA-ITEM-KEY          PIC X(08).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-BIN-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'BIN     (BINNO   = '.
           05  SSA-BIN-KEY           PIC X(02).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-MVMT-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'MOVEMENT(MOVEKEY = '.
           05  SSA-MVMT-KEY          PIC X(17).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-SUPPLIER-EQ.
           05  FILLER                PIC X(19)
                                     VALUE 'SUPPLIER(SUPPNO  = '.
           05  SSA-SUPPLIER-KEY      PIC X(04).
           05  FILLER                PIC X(01)  VALUE ')'.
       01  SSA-ITEM                  PIC X(09)  VALUE 'ITEM     '.
       01  SSA-BIN                   PIC X(09)  VALUE 'BIN      '.
       01  SSA-MVMT                  PIC X(09)  VALUE 'MOVEMENT '.
       01  SSA-REQUEST               PIC X(09)  VALUE 'REQUEST  '.
       01  SSA-SUPPLIER              PIC X(09)  VALUE 'SUPPLIER '.
       01  SSA-OFFER                 PIC X(09)  VALUE 'OFFER    '.
