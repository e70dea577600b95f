      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQCBC what a program that is called back is told.
       10 MQCBC.
       15 MQCBC-STRUCID PIC X(4).
       15 MQCBC-VERSION PIC S9(9) COMP-5.
       15 MQCBC-CALLTYPE PIC S9(9) COMP-5.
       15 MQCBC-HOBJ PIC S9(9) COMP-5.
       15 MQCBC-CALLBACKAREA POINTER.
       15 MQCBC-CONNECTIONAREA POINTER.
       15 MQCBC-COMPCODE PIC S9(9) COMP-5.
       15 MQCBC-REASON PIC S9(9) COMP-5.
       15 MQCBC-STATE PIC S9(9) COMP-5.
       15 MQCBC-DATALENGTH PIC S9(9) COMP-5.
       15 MQCBC-BUFFERLENGTH PIC S9(9) COMP-5.
       15 MQCBC-FLAGS PIC S9(9) COMP-5.
       15 MQCBC-RECONNECTDELAY PIC S9(9) COMP-5.
       15 FILLER PIC X(4).
