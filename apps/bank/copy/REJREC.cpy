      *----------------------------------------------------------------
      * REJREC    RECORD OF BANKREJ, 100 BYTES: THE TRANSACTION AS IT
      *           CAME, AND WHY IT WAS REFUSED
      *----------------------------------------------------------------
           05  REJ-RECORD.
               10  REJ-TRANSACTION.
                   15  REJ-REF       PIC 9(09).
                   15  FILLER        PIC X(71).
               10  REJ-REASON        PIC X(20).
