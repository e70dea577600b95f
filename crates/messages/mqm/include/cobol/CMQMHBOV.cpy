      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQMHBO options of turning a handle into a buffer.
       10 MQMHBO.
       15 MQMHBO-STRUCID PIC X(4) VALUE 'MHBO'.
       15 MQMHBO-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQMHBO-OPTIONS PIC S9(9) COMP-5 VALUE 1.
