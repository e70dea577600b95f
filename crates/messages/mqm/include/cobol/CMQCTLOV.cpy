      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQCTLO options of starting and stopping callbacks.
       10 MQCTLO.
       15 MQCTLO-STRUCID PIC X(4) VALUE 'CTLO'.
       15 MQCTLO-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQCTLO-OPTIONS PIC S9(9) COMP-5 VALUE 0.
       15 MQCTLO-RESERVED PIC S9(9) COMP-5 VALUE 0.
       15 MQCTLO-CONNECTIONAREA POINTER VALUE NULL.
