       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPFAIL.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GU                      PIC X(4) VALUE 'GU  '.
       01  HOW                     PIC X(8).
       01  WILD-NUMBER             PIC S9(18) COMP-5 VALUE 64.
       01  WILD REDEFINES WILD-NUMBER POINTER.
       COPY CUSTAREA.
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(64).
       01  SHOP-PCB                PIC X(100).
       01  NOWHERE                 PIC X(100).
       PROCEDURE DIVISION USING IO-PCB SHOP-PCB.
           CALL 'CBLTDLI' USING GU SHOP-PCB CUSTOMER-AREA.
           ACCEPT HOW.
           DISPLAY 'HOW: ' HOW.
           EVALUATE HOW
               WHEN 'ADDRESS' MOVE 'X' TO NOWHERE
               WHEN 'CALL'    CALL 'NOTTHERE'
               WHEN 'PCB'     CALL 'CBLTDLI' USING GU CUSTOMER-AREA
                                  CUSTOMER-AREA
               WHEN 'NOAREA'  CALL 'CBLTDLI' USING GU SHOP-PCB NOWHERE
               WHEN 'BADAREA' SET ADDRESS OF NOWHERE TO WILD
                              CALL 'CBLTDLI' USING GU SHOP-PCB NOWHERE
               WHEN 'STOP'    MOVE 12 TO RETURN-CODE
                              STOP RUN
               WHEN OTHER     CALL 'CBLTDLI' USING HOW IO-PCB
           END-EVALUATE.
           DISPLAY 'STILL THERE'.
           GOBACK.
