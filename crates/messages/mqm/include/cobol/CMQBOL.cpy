      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQBO options of beginning a unit of work.
       10 MQBO.
       15 MQBO-STRUCID PIC X(4).
       15 MQBO-VERSION PIC S9(9) COMP-5.
       15 MQBO-OPTIONS PIC S9(9) COMP-5.
