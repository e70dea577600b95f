      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQBNO how connections are spread.
       10 MQBNO.
       15 MQBNO-STRUCID PIC X(4) VALUE 'BNO'.
       15 MQBNO-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQBNO-APPLTYPE PIC S9(9) COMP-5 VALUE 0.
       15 MQBNO-TIMEOUT PIC S9(9) COMP-5 VALUE -1.
       15 MQBNO-OPTIONS PIC S9(9) COMP-5 VALUE 0.
