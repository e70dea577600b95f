      *----------------------------------------------------------------
      * ORDRSEG   SEGMENT ORDER OF WHSORDER, 60 BYTES
      *----------------------------------------------------------------
           05  ORDR-SEG.
               10  ORDR-KEY.
                   15  ORDR-DISTRICT      PIC X(04).
                   15  ORDR-DATE          PIC 9(08).
                   15  ORDR-REF           PIC 9(09).
               10  ORDR-LINES         PIC 9(02).
               10  ORDR-TOTAL         PIC S9(11)V99 COMP-3.
               10  FILLER             PIC X(30).
