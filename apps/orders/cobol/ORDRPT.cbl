       IDENTIFICATION DIVISION.
       PROGRAM-ID.    ORDRPT.
      *----------------------------------------------------------------
      * ADDS UP THE DATABASE CUSTDB: WHAT CUSTOMERS HAVE AS THEIR TOTALS
      * MUST BE WHAT THEIR ORDERS COME TO.
      *----------------------------------------------------------------
       DATA DIVISION.
       WORKING-STORAGE SECTION.
           COPY DLIFUNC.
           COPY CUSTSEG.
       01  SEGMENT-AREA              PIC X(24).
       01  SUMS.
           05  CUSTOMERS             PIC 9(07)  VALUE 0.
           05  ORDERS                PIC 9(09)  VALUE 0.
           05  AMOUNTS               PIC S9(13)V99 COMP-3 VALUE 0.
           05  ORDERS-OF-TOTALS      PIC 9(09)  VALUE 0.
           05  AMOUNTS-OF-TOTALS     PIC S9(13)V99 COMP-3 VALUE 0.
           05  SHOWN                 PIC Z(12)9.99-.
       LINKAGE SECTION.
           COPY IOPCBM.
           COPY DBPCBM REPLACING ==:P:== BY ==CUS==.

       PROCEDURE DIVISION USING IO-PCB CUS-PCB.

       0000-MAIN.
           MOVE 0 TO RETURN-CODE.
           CALL 'CBLTDLI' USING DLI-GN CUS-PCB SEGMENT-AREA.
           PERFORM UNTIL NOT CUS-MOVED-ON
               PERFORM 1000-ADD
               CALL 'CBLTDLI' USING DLI-GN CUS-PCB SEGMENT-AREA
           END-PERFORM.
           IF CUS-STATUS NOT = 'GB'
               DISPLAY 'ORDRPT GN STATUS ' CUS-STATUS
               MOVE 12 TO RETURN-CODE
           END-IF.
           DISPLAY 'ORDRPT CUSTOMERS ' CUSTOMERS.
           MOVE AMOUNTS TO SHOWN.
           DISPLAY 'ORDRPT ORDERS ' ORDERS ' AMOUNTS ' SHOWN.
           MOVE AMOUNTS-OF-TOTALS TO SHOWN.
           DISPLAY 'ORDRPT TOTALS ' ORDERS-OF-TOTALS
                   ' AMOUNTS ' SHOWN.
           IF ORDERS NOT = ORDERS-OF-TOTALS
                   OR AMOUNTS NOT = AMOUNTS-OF-TOTALS
               DISPLAY 'ORDRPT THEY DO NOT AGREE'
               MOVE 8 TO RETURN-CODE
           END-IF.
           GOBACK.

       1000-ADD.
           EVALUATE CUS-SEGMENT
               WHEN 'CUSTOMER'
                   MOVE SEGMENT-AREA TO CUSTOMER-SEG
                   ADD 1 TO CUSTOMERS
                   ADD CUST-ORDERS TO ORDERS-OF-TOTALS
                   ADD CUST-TOTAL TO AMOUNTS-OF-TOTALS
               WHEN OTHER
                   MOVE SEGMENT-AREA TO ORDER-SEG
                   ADD 1 TO ORDERS
                   ADD ORDR-AMOUNT TO AMOUNTS
           END-EVALUATE.
