       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPSIGN.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  GIVEN.
           05  FILLER              PIC X(3) VALUE X'01234A'.
           05  FILLER              PIC X(3) VALUE X'01234B'.
           05  FILLER              PIC X(3) VALUE X'01234C'.
           05  FILLER              PIC X(3) VALUE X'01234D'.
           05  FILLER              PIC X(3) VALUE X'01234E'.
           05  FILLER              PIC X(3) VALUE X'01234F'.
       01  GIVEN-TABLE REDEFINES GIVEN.
           05  ONE                 PIC X(3) OCCURS 6.
       01  AREA-X                  PIC X(3).
       01  WITH-SIGN REDEFINES AREA-X PIC S9(5) COMP-3.
       01  BARE REDEFINES AREA-X   PIC 9(5) COMP-3.
       01  AT-SIGN                 PIC 9.
       01  PLUS-ONE                PIC S9(5) COMP-3 VALUE 1234.
       01  MINUS-ONE               PIC S9(5) COMP-3 VALUE -1234.
       01  SHOWN.
           05  IS-BELOW            PIC X VALUE '-'.
           05  IS-MINUS            PIC X VALUE '-'.
           05  IS-PLUS             PIC X VALUE '-'.
           05  IS-LESS             PIC X VALUE '-'.
           05  IS-BARE             PIC X VALUE '-'.
       01  MOVED                   PIC S9(5) COMP-3.
       01  ADDED                   PIC S9(5) COMP-3.
       01  TWICE                   PIC S9(9) COMP.
       01  FROM-BARE               PIC S9(5) COMP-3.
       LINKAGE SECTION.
       01  IO-PCB                  PIC X(12).
       PROCEDURE DIVISION USING IO-PCB.
           PERFORM ONE-SIGN VARYING AT-SIGN FROM 1 BY 1
               UNTIL AT-SIGN > 6.
           GOBACK.
       ONE-SIGN.
           MOVE '-----' TO SHOWN.
           MOVE ONE(AT-SIGN) TO AREA-X.
           IF WITH-SIGN < 0 MOVE 'Y' TO IS-BELOW.
           MOVE ONE(AT-SIGN) TO AREA-X.
           IF WITH-SIGN = MINUS-ONE MOVE 'Y' TO IS-MINUS.
           MOVE ONE(AT-SIGN) TO AREA-X.
           IF WITH-SIGN = PLUS-ONE MOVE 'Y' TO IS-PLUS.
           MOVE ONE(AT-SIGN) TO AREA-X.
           IF PLUS-ONE > WITH-SIGN * 1 MOVE 'Y' TO IS-LESS.
           MOVE ONE(AT-SIGN) TO AREA-X.
           IF BARE < 0 OR BARE NOT = PLUS-ONE MOVE 'N' TO IS-BARE.
           MOVE ONE(AT-SIGN) TO AREA-X.
           MOVE WITH-SIGN TO MOVED.
           MOVE ONE(AT-SIGN) TO AREA-X.
           COMPUTE TWICE = WITH-SIGN * 2.
           MOVE ONE(AT-SIGN) TO AREA-X.
           MOVE BARE TO FROM-BARE.
           MOVE ONE(AT-SIGN) TO AREA-X.
           ADD 1 TO WITH-SIGN.
           MOVE WITH-SIGN TO ADDED.
           MOVE ONE(AT-SIGN) TO AREA-X.
           DISPLAY AT-SIGN ' ' SHOWN ' ' WITH-SIGN ' ' BARE ' ' MOVED
               ' ' ADDED ' ' TWICE ' ' FROM-BARE.
