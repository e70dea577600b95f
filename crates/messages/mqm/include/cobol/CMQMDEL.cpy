      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQMDE the second half of a descriptor, before the data.
       10 MQMDE.
       15 MQMDE-STRUCID PIC X(4).
       15 MQMDE-VERSION PIC S9(9) COMP-5.
       15 MQMDE-STRUCLENGTH PIC S9(9) COMP-5.
       15 MQMDE-ENCODING PIC S9(9) COMP-5.
       15 MQMDE-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQMDE-FORMAT PIC X(8).
       15 MQMDE-FLAGS PIC S9(9) COMP-5.
       15 MQMDE-GROUPID PIC X(24).
       15 MQMDE-MSGSEQNUMBER PIC S9(9) COMP-5.
       15 MQMDE-OFFSET PIC S9(9) COMP-5.
       15 MQMDE-MSGFLAGS PIC S9(9) COMP-5.
       15 MQMDE-ORIGINALLENGTH PIC S9(9) COMP-5.
