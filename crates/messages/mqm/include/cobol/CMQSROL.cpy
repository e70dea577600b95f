      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQSRO options of a request for publications.
       10 MQSRO.
       15 MQSRO-STRUCID PIC X(4).
       15 MQSRO-VERSION PIC S9(9) COMP-5.
       15 MQSRO-OPTIONS PIC S9(9) COMP-5.
       15 MQSRO-NUMPUBS PIC S9(9) COMP-5.
