      *----------------------------------------------------------------
      * INVTIN    INPUT OF TRANSACTION INVT, ALL CHARACTERS
      *----------------------------------------------------------------
           05  IN-LL                 PIC S9(04) COMP.
           05  IN-ZZ                 PIC X(02).
           05  IN-CODE               PIC X(08).
           05  IN-REF                PIC 9(09).
           05  IN-DATE               PIC 9(08).
           05  IN-ITEM               PIC 9(08).
           05  IN-SUPPLIER           PIC X(04).
           05  IN-QTY                PIC 9(05).
