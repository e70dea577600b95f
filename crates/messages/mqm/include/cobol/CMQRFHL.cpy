      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQRFH rules and formatting.
       10 MQRFH.
       15 MQRFH-STRUCID PIC X(4).
       15 MQRFH-VERSION PIC S9(9) COMP-5.
       15 MQRFH-STRUCLENGTH PIC S9(9) COMP-5.
       15 MQRFH-ENCODING PIC S9(9) COMP-5.
       15 MQRFH-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQRFH-FORMAT PIC X(8).
       15 MQRFH-FLAGS PIC S9(9) COMP-5.
