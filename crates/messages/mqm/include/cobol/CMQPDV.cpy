      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQPD describes a property.
       10 MQPD.
       15 MQPD-STRUCID PIC X(4) VALUE 'PD'.
       15 MQPD-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQPD-OPTIONS PIC S9(9) COMP-5 VALUE 0.
       15 MQPD-SUPPORT PIC S9(9) COMP-5 VALUE 1.
       15 MQPD-CONTEXT PIC S9(9) COMP-5 VALUE 0.
       15 MQPD-COPYOPTIONS PIC S9(9) COMP-5 VALUE 22.
