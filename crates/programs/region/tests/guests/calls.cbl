       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPCALL.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GU                      PIC X(4) VALUE 'GU  '.
       COPY CUSTAREA.
       01  AIB.
           05  AIBID               PIC X(8) VALUE 'DFSAIB  '.
           05  AIBLEN              PIC S9(9) COMP.
           05  AIBSFUNC            PIC X(8) VALUE SPACES.
           05  AIBRSNM1            PIC X(8) VALUE 'SHOP'.
           05  AIBRSNM2            PIC X(8) VALUE SPACES.
           05  FILLER              PIC X(8).
           05  AIBOALEN            PIC S9(9) COMP VALUE 30.
           05  AIBOAUSE            PIC S9(9) COMP VALUE 0.
           05  FILLER              PIC X(12).
           05  AIBRETRN            PIC S9(9) COMP VALUE 99.
           05  AIBREASN            PIC S9(9) COMP VALUE 99.
           05  AIBERRXT            PIC S9(9) COMP VALUE 99.
           05  AIBRSA1             POINTER.
           05  AIBRSA2             POINTER.
           05  AIBRSA3             POINTER.
           05  FILLER              PIC X(40).
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(64).
       COPY PCBMASK.
       PROCEDURE DIVISION USING IO-PCB.
           MOVE LENGTH OF AIB TO AIBLEN.
           CALL 'AIBTDLI' USING GU AIB CUSTOMER-AREA.
           SET ADDRESS OF SHOP-PCB TO AIBRSA1.
           DISPLAY AIBRETRN '/' AIBREASN '/' AIBOAUSE '/' PCB-DBD '/'
               PCB-KEY (1:6).
           CALL 'SHOPSUB' USING SHOP-PCB CUSTOMER-AREA.
           DISPLAY CUSTOMER-NAME.
           GOBACK.
