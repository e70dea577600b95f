      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQRFH rules and formatting.
       10 MQRFH.
       15 MQRFH-STRUCID PIC X(4) VALUE 'RFH'.
       15 MQRFH-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQRFH-STRUCLENGTH PIC S9(9) COMP-5 VALUE 32.
       15 MQRFH-ENCODING PIC S9(9) COMP-5 VALUE 546.
       15 MQRFH-CODEDCHARSETID PIC S9(9) COMP-5 VALUE 0.
       15 MQRFH-FORMAT PIC X(8) VALUE SPACES.
       15 MQRFH-FLAGS PIC S9(9) COMP-5 VALUE 0.
