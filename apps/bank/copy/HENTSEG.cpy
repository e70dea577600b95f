      *----------------------------------------------------------------
      * HENTSEG   SEGMENT HISTENT OF BANKHIST, 72 BYTES
      *----------------------------------------------------------------
           05  HENT-SEG.
               10  HENT-KEY.
                   15  HENT-DATE     PIC 9(08).
                   15  HENT-REF      PIC 9(09).
               10  HENT-TIME         PIC 9(06).
               10  HENT-EVENT        PIC X(01).
                   88  HENT-OPENED              VALUE 'O'.
                   88  HENT-LOADED              VALUE 'L'.
                   88  HENT-BY-TELLER           VALUE 'T'.
               10  HENT-BRANCH       PIC X(04).
               10  HENT-TELLER       PIC X(06).
               10  HENT-AMOUNT       PIC S9(11)V99 COMP-3.
               10  HENT-BALANCE      PIC S9(13)V99 COMP-3.
               10  HENT-TEXT         PIC X(23).
