      * A message program with queues: does what each message says.
       IDENTIFICATION DIVISION.
       PROGRAM-ID. QUEUES.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  FUNCTIONS.
           05  FN-GU            PIC X(4) VALUE 'GU  '.
           05  FN-ISRT          PIC X(4) VALUE 'ISRT'.
           05  FN-ROLB          PIC X(4) VALUE 'ROLB'.
           05  FN-ROLL          PIC X(4) VALUE 'ROLL'.
       01  MQM-CONSTANTS.
           COPY CMQV.
       01  MQM-OBJECT.
           COPY CMQODV.
       01  MQM-MESSAGE.
           COPY CMQMDV.
       01  MQM-PUT.
           COPY CMQPMOV.
       01  MQM-GET.
           COPY CMQGMOV.
       01  QM-NAME              PIC X(48) VALUE SPACES.
       01  HCONN                PIC S9(9) COMP-5.
       01  HOBJ                 PIC S9(9) COMP-5.
       01  OPEN-OPTIONS         PIC S9(9) COMP-5.
       01  FOUR                 PIC S9(9) COMP-5 VALUE 4.
       01  DATA-LENGTH          PIC S9(9) COMP-5.
       01  COMP-CODE            PIC S9(9) COMP-5.
       01  REASON               PIC S9(9) COMP-5.
       01  IN-MESSAGE.
           05  IN-LL            PIC S9(4) COMP.
           05  IN-ZZ            PIC S9(4) COMP.
           05  IN-WHAT          PIC X(4).
           05  IN-NAME          PIC X(4).
           05  FILLER           PIC X(52).
       01  OUT-MESSAGE.
           05  OUT-LL           PIC S9(4) COMP VALUE 20.
           05  OUT-ZZ           PIC S9(4) COMP VALUE 0.
           05  OUT-WHAT         PIC X(4).
           05  OUT-NAME         PIC X(4).
           05  OUT-REASON       PIC 9(4).
           05  OUT-COUNT        PIC 9(4).
       01  CUSTOMER.
           05  CUSTNO           PIC X(4).
           05  FILLER           PIC X(16) VALUE SPACES.
       01  CUSTOMER-SSA         PIC X(9) VALUE 'CUSTOMER '.
       LINKAGE SECTION.
       01  IO-PCB.
           05  FILLER           PIC X(10).
           05  IO-STATUS        PIC X(2).
       01  PRINTER-PCB          PIC X(12).
       01  OTHER-PCB            PIC X(12).
       01  DB-PCB               PIC X(12).
       PROCEDURE DIVISION USING IO-PCB PRINTER-PCB OTHER-PCB DB-PCB.
       MAIN.
           CALL 'CBLTDLI' USING FN-GU IO-PCB IN-MESSAGE.
           PERFORM ONE-MESSAGE UNTIL IO-STATUS NOT = SPACES.
           GOBACK.
       ONE-MESSAGE.
           MOVE IN-WHAT TO OUT-WHAT.
           MOVE IN-NAME TO OUT-NAME.
           MOVE 0 TO OUT-COUNT.
           CALL 'MQCONN' USING QM-NAME HCONN COMP-CODE REASON.
           IF COMP-CODE NOT = MQCC-OK
               PERFORM ANSWER
               GOBACK.
           MOVE 'ORDERS' TO MQOD-OBJECTNAME.
           COMPUTE OPEN-OPTIONS = MQOO-INPUT-SHARED + MQOO-OUTPUT.
           CALL 'MQOPEN' USING HCONN MQOD OPEN-OPTIONS HOBJ
               COMP-CODE REASON.
           EVALUATE IN-WHAT
             WHEN 'PUT '
               MOVE IN-NAME TO CUSTNO
               MOVE MQPER-PERSISTENT TO MQMD-PERSISTENCE
               MOVE MQPMO-NEW-MSG-ID TO MQPMO-OPTIONS
               CALL 'MQPUT' USING HCONN HOBJ MQMD MQPMO FOUR CUSTNO
                   COMP-CODE REASON
             WHEN 'GET '
               PERFORM GET-ONE
             WHEN 'BACK'
               PERFORM GET-ONE
               CALL 'CBLTDLI' USING FN-ROLB IO-PCB
               PERFORM GET-ONE
             WHEN 'ROLL'
               PERFORM GET-ONE
               CALL 'CBLTDLI' USING FN-ROLL
             WHEN 'CMIT'
               CALL 'MQCMIT' USING HCONN COMP-CODE REASON
           END-EVALUATE.
           PERFORM ANSWER.
           CALL 'CBLTDLI' USING FN-GU IO-PCB IN-MESSAGE.
       GET-ONE.
           MOVE MQMI-NONE TO MQMD-MSGID.
           MOVE MQCI-NONE TO MQMD-CORRELID.
           CALL 'MQGET' USING HCONN HOBJ MQMD MQGMO FOUR CUSTNO
               DATA-LENGTH COMP-CODE REASON.
           IF COMP-CODE = MQCC-OK
             MOVE CUSTNO TO OUT-NAME
             MOVE MQMD-BACKOUTCOUNT TO OUT-COUNT
             CALL 'CBLTDLI' USING FN-ISRT DB-PCB CUSTOMER CUSTOMER-SSA.
       ANSWER.
           MOVE REASON TO OUT-REASON.
           CALL 'CBLTDLI' USING FN-ISRT IO-PCB OUT-MESSAGE.
