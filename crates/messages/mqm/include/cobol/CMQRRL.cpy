      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQRR what became of one destination of several.
       10 MQRR.
       15 MQRR-COMPCODE PIC S9(9) COMP-5.
       15 MQRR-REASON PIC S9(9) COMP-5.
