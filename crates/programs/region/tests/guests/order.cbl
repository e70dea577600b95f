       CBL NUMPROC(PFD),SSRANGE,XREF
       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPORDR.
      * A SEGMENT OF 30 BYTES IS READ INTO A LEVEL OF 8: THE REST LIES
      * IN THE LEVELS BEHIND IT.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  LEVEL-A                 PIC X(3) VALUE 'AAA'.
       01  LEVEL-B.
           05  FILLER              PIC X(5000).
           05  FILLER              PIC X(3).
       77  LEVEL-C                 PIC S9(4) COMP.
       01  LEVEL-D                 PIC X(7).
       01  FIRST-PART              PIC X(8).
       01  SECOND-PART             PIC X(8) VALUE SPACES.
       01  FILLER                  PIC X(8).
       01  LAST-PART               PIC X(6).
       01  LEVEL-E.
           05  LEVEL-E1            PIC X(4) OCCURS 3 INDEXED BY IX.
       01  LEVEL-F                 PIC S9(7) COMP-3 VALUE 5.
       01  LEVEL-G                 COMP-2.
       01  LEVEL-H                 POINTER.
       01  LEVEL-I                 PIC X VALUE 'I'.
       01  GU                      PIC X(4) VALUE 'GU  '.
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(44).
       01  SHOP-PCB                PIC X(44).
       PROCEDURE DIVISION USING IO-PCB SHOP-PCB.
           SET IX TO 2.
           MOVE 'E' TO LEVEL-E1 (IX).
           MOVE 12345 TO LEVEL-C.
           CALL 'CBLTDLI' USING GU SHOP-PCB FIRST-PART.
           DISPLAY '<' FIRST-PART '/' SECOND-PART '/' LAST-PART '>'.
           DISPLAY 'C=' LEVEL-C.
           GOBACK.
