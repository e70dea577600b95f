      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQBMHO options of turning a buffer into a handle.
       10 MQBMHO.
       15 MQBMHO-STRUCID PIC X(4).
       15 MQBMHO-VERSION PIC S9(9) COMP-5.
       15 MQBMHO-OPTIONS PIC S9(9) COMP-5.
