      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQWIH before a message for a work-load manager.
       10 MQWIH.
       15 MQWIH-STRUCID PIC X(4).
       15 MQWIH-VERSION PIC S9(9) COMP-5.
       15 MQWIH-STRUCLENGTH PIC S9(9) COMP-5.
       15 MQWIH-ENCODING PIC S9(9) COMP-5.
       15 MQWIH-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQWIH-FORMAT PIC X(8).
       15 MQWIH-FLAGS PIC S9(9) COMP-5.
       15 MQWIH-SERVICENAME PIC X(32).
       15 MQWIH-SERVICESTEP PIC X(8).
       15 MQWIH-MSGTOKEN PIC X(16).
       15 MQWIH-RESERVED PIC X(32).
