      *----------------------------------------------------------------
      * DLERRW    WHAT DLERRP REPORTS; THE MASK IS THAT OF ANY PCB
      *----------------------------------------------------------------
       01  ERROR-AREA.
           05  ERR-PROGRAM           PIC X(08).
           05  ERR-PARAGRAPH         PIC X(24).
           05  ERR-CALL              PIC X(04).
           05  ERR-KEY               PIC X(35)  VALUE SPACES.
           05  ERR-PCB.
               10  ERR-DBD-NAME      PIC X(08).
               10  ERR-LEVEL         PIC X(02).
               10  ERR-STATUS        PIC X(02).
               10  ERR-PROCOPT       PIC X(04).
               10  FILLER            PIC X(04).
               10  ERR-SEGMENT       PIC X(08).
               10  ERR-KFB-LEN       PIC S9(09) COMP.
               10  FILLER            PIC X(04).
               10  ERR-KFB           PIC X(60).
