      * What checks need: a name and the status that is wanted.
       01  T-LINE.
           05  T-NAME PIC X(10).
           05  T-WANT PIC X(2).
       01  ST PIC XX.
       01  T-FAILED PIC 9(4) VALUE 0.
       01  T-DONE PIC 9(4) VALUE 0.
       01  N PIC 9(5) VALUE 0.
       01  A-TXT PIC X(20).
       01  B-TXT PIC X(20).
