      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQSMPO options of setting a property.
       10 MQSMPO.
       15 MQSMPO-STRUCID PIC X(4).
       15 MQSMPO-VERSION PIC S9(9) COMP-5.
       15 MQSMPO-OPTIONS PIC S9(9) COMP-5.
       15 MQSMPO-VALUEENCODING PIC S9(9) COMP-5.
       15 MQSMPO-VALUECCSID PIC S9(9) COMP-5.
