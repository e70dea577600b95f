      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQCBD what is called back, and with what.
       10 MQCBD.
       15 MQCBD-STRUCID PIC X(4).
       15 MQCBD-VERSION PIC S9(9) COMP-5.
       15 MQCBD-CALLBACKTYPE PIC S9(9) COMP-5.
       15 MQCBD-OPTIONS PIC S9(9) COMP-5.
       15 MQCBD-CALLBACKAREA POINTER.
       15 MQCBD-CALLBACKFUNCTION POINTER.
       15 MQCBD-CALLBACKNAME PIC X(128).
       15 MQCBD-MAXMSGLENGTH PIC S9(9) COMP-5.
       15 FILLER PIC X(4).
