      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQCMHO options of making a message handle.
       10 MQCMHO.
       15 MQCMHO-STRUCID PIC X(4) VALUE 'CMHO'.
       15 MQCMHO-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQCMHO-OPTIONS PIC S9(9) COMP-5 VALUE 0.
