      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQRFH2 rules, formatting, and folders of properties.
       10 MQRFH2.
       15 MQRFH2-STRUCID PIC X(4).
       15 MQRFH2-VERSION PIC S9(9) COMP-5.
       15 MQRFH2-STRUCLENGTH PIC S9(9) COMP-5.
       15 MQRFH2-ENCODING PIC S9(9) COMP-5.
       15 MQRFH2-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQRFH2-FORMAT PIC X(8).
       15 MQRFH2-FLAGS PIC S9(9) COMP-5.
       15 MQRFH2-NAMEVALUECCSID PIC S9(9) COMP-5.
