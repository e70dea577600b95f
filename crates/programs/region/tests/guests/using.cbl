       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOP-USING.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GHU                     PIC X(4) VALUE 'GHU '.
       01  REPL                    PIC X(4) VALUE 'REPL'.
       01  PARAMETER-COUNT         PIC S9(9) COMP-5 VALUE 4.
       01  CUSTOMER-SSA            PIC X(26) VALUE
           'CUSTOMER(CUSTKEY  =000004)'.
       COPY CUSTAREA.
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(64).
       01  SHOP-PCB.
           05  FILLER              PIC X(10).
           05  PCB-STATUS          PIC XX.
           05  FILLER              PIC X(16).
           05  PCB-KEY-LENGTH      PIC S9(9) COMP-5.
           05  PCB-SEGMENTS        PIC S9(9) COMP-5.
       01  FILE-PCB                PIC X(48).
       01  NO-PCB                  PIC X(48).
       PROCEDURE DIVISION USING IO-PCB SHOP-PCB FILE-PCB NO-PCB.
           CALL 'CBLTDLI' USING PARAMETER-COUNT GHU SHOP-PCB
               CUSTOMER-AREA CUSTOMER-SSA.
           DISPLAY PCB-STATUS '/' PCB-KEY-LENGTH '/' PCB-SEGMENTS '/'
               CUSTOMER-NAME.
           MOVE 'SOMEBODY ELSE' TO CUSTOMER-NAME.
           CALL 'CBLTDLI' USING REPL SHOP-PCB CUSTOMER-AREA.
           IF ADDRESS OF NO-PCB = NULL DISPLAY 'NO FOURTH PCB'.
           MOVE 4 TO RETURN-CODE.
           GOBACK.
