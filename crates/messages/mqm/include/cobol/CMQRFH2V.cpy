      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQRFH2 rules, formatting, and folders of properties.
       10 MQRFH2.
       15 MQRFH2-STRUCID PIC X(4) VALUE 'RFH'.
       15 MQRFH2-VERSION PIC S9(9) COMP-5 VALUE 2.
       15 MQRFH2-STRUCLENGTH PIC S9(9) COMP-5 VALUE 36.
       15 MQRFH2-ENCODING PIC S9(9) COMP-5 VALUE 546.
       15 MQRFH2-CODEDCHARSETID PIC S9(9) COMP-5 VALUE -2.
       15 MQRFH2-FORMAT PIC X(8) VALUE SPACES.
       15 MQRFH2-FLAGS PIC S9(9) COMP-5 VALUE 0.
       15 MQRFH2-NAMEVALUECCSID PIC S9(9) COMP-5 VALUE 1208.
