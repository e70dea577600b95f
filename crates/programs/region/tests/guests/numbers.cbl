       IDENTIFICATION DIVISION.
       PROGRAM-ID. SHOPNUMS.
       DATA DIVISION.
       WORKING-STORAGE SECTION.
       01  A                       PIC S9(4) COMP VALUE 5.
       01  B                       PIC 9(4) COMP VALUE 5.
       01  C                       PIC S9(4) COMP-5 VALUE 5.
       01  D                       PIC S9(5)V99 COMP-3 VALUE -12.34.
       01  E                       PIC 9(4) COMP-3 VALUE 34.
       01  F                       PIC S9(4) VALUE 5.
       01  G                       PIC S9(4) VALUE -5.
       01  H                       PIC S9(4) SIGN LEADING SEPARATE
                                   VALUE -5.
       01  I                       PIC S9(4) SIGN LEADING VALUE -5.
       01  J                       COMP-1 VALUE 12.5.
       01  K                       COMP-2 VALUE -0.125.
       01  L                       PIC S9(9) COMP VALUE -123456789.
       01  M                       PIC 9(18) COMP
                                   VALUE 123456789012345678.
       01  N                       PIC X(4) VALUE SPACES.
       01  O REDEFINES N           PIC 9(4).
       01  TIMESTAMP               PIC X(3) VALUE 'NOW'.
       01  BELL                    PIC X(4) VALUE 'RING'.
       01  CHAR                    PIC X VALUE 'C'.
       01  P                       PIC ZZ9.99 VALUE ' 12.34'.
       PROCEDURE DIVISION.
           DISPLAY 'NUMBERS'.
           DISPLAY '1 ' A '/' B '/' C '/' D '/' E.
           DISPLAY '2 ' F '/' G '/' H '/' I '/' P.
           DISPLAY '3 ' J '/' K.
           DISPLAY '4 ' L '/' M.
           DISPLAY '5 ' RETURN-CODE '/' -5 '/' O '/' QUOTE.
           MOVE 12345 TO A.
           DISPLAY '6 ' A.
           MOVE -1 TO A.
           DISPLAY '7 ' A.
           COMPUTE D ROUNDED = L * M / 1000000000000000000000000 + D.
           DISPLAY '8 ' TIMESTAMP BELL CHAR.
           GOBACK.
