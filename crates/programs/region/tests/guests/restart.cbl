       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPCHKP.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  CHKP                    PIC X(4) VALUE 'CHKP'.
       01  XRST                    PIC X(4) VALUE 'XRST'.
       01  LOG-CALL                PIC X(4) VALUE 'LOG '.
       01  LONGEST                 PIC S9(9) COMP VALUE 30.
       01  WORK-AREA               PIC X(12) VALUE 'LAST'.
       01  CHECKPOINT-ID           PIC X(8) VALUE 'CHKP0008'.
       01  FIRST-LENGTH            PIC S9(9) COMP VALUE 20.
       01  FIRST-AREA              PIC X(20) VALUE SPACES.
       01  SECOND-LENGTH           PIC S9(9) COMP VALUE 2.
       01  SECOND-AREA             PIC 99 VALUE 0.
       01  LOG-RECORD.
           05  LOG-LENGTH          PIC S9(4) COMP VALUE 10.
           05  LOG-ZZ              PIC S9(4) COMP VALUE 0.
           05  LOG-CODE            PIC X VALUE X'A0'.
           05  LOG-TEXT            PIC X(5) VALUE 'HELLO'.
       LINKAGE SECTION.
       01  IO-PCB.
           05  FILLER              PIC X(10).
           05  IO-STATUS           PIC XX.
       01  SHOP-PCB                PIC X(100).
       PROCEDURE DIVISION.
           ENTRY 'DLITCBL' USING IO-PCB SHOP-PCB.
           CALL 'CBLTDLI' USING XRST IO-PCB LONGEST WORK-AREA
               FIRST-LENGTH FIRST-AREA SECOND-LENGTH SECOND-AREA.
           DISPLAY WORK-AREA '/' FIRST-AREA '/' SECOND-AREA.
           ADD 1 TO SECOND-AREA.
           CALL 'CBLTDLI' USING LOG-CALL IO-PCB LOG-RECORD.
           DISPLAY 'LOG ' IO-STATUS.
           CALL 'CBLTDLI' USING CHKP IO-PCB LONGEST CHECKPOINT-ID
               FIRST-LENGTH FIRST-AREA SECOND-LENGTH SECOND-AREA.
           CALL 'CBLTDLI' USING CHKP IO-PCB CHECKPOINT-ID.
           STOP RUN.
