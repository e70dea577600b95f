       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPREAD.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GU                      PIC X(4) VALUE 'GU  '.
       01  GN                      PIC X(4) VALUE 'GN  '.
       01  SHOW-LENGTH             PIC 9(4).
       01  CUSTOMER-SSA.
           05  FILLER              PIC X(19) VALUE
               'CUSTOMER(CUSTKEY  ='.
           05  SSA-KEY             PIC X(6) VALUE '000002'.
           05  FILLER              PIC X VALUE ')'.
       COPY custarea.
       LINKAGE SECTION.
       01  IO-PCB.
           05  FILLER              PIC X(10).
           05  IO-STATUS           PIC XX.
       COPY "pcbmask.cpy".
       PROCEDURE DIVISION.
       MAIN-LINE.
           ENTRY 'DLITCBL' USING IO-PCB SHOP-PCB.
           CALL 'CBLTDLI' USING GU SHOP-PCB CUSTOMER-AREA
               CUSTOMER-SSA.
           PERFORM SHOW-IT.
           MOVE 'XX' TO PCB-STATUS.
           MOVE ZERO TO PCB-KEY-LENGTH.
           PERFORM UNTIL PCB-STATUS = 'GB'
               CALL 'CBLTDLI' USING GN SHOP-PCB CUSTOMER-AREA
               PERFORM SHOW-IT
           END-PERFORM.
           STOP RUN.
       SHOW-IT.
           MOVE PCB-KEY-LENGTH TO SHOW-LENGTH.
           DISPLAY PCB-DBD '/' PCB-LEVEL '/' PCB-STATUS '/'
               PCB-SEGMENT '/' SHOW-LENGTH '/' PCB-KEY (1:6) '/'
               CUSTOMER-NAME.
