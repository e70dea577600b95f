      *----------------------------------------------------------------
      * HOTLIN    INPUT OF TRANSACTION HOTL, ALL CHARACTERS
      *----------------------------------------------------------------
           05  IN-LL                 PIC S9(04) COMP.
           05  IN-ZZ                 PIC X(02).
           05  IN-CODE               PIC X(08).
           05  IN-REF                PIC 9(09).
           05  IN-DATE               PIC 9(08).
           05  IN-GUEST              PIC X(08).
           05  IN-HOTEL              PIC 9(04).
           05  IN-DAY                PIC 9(03).
