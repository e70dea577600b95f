      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQTMC2 a trigger message in characters.
       10 MQTMC2.
       15 MQTMC2-STRUCID PIC X(4).
       15 MQTMC2-VERSION PIC X(4).
       15 MQTMC2-QNAME PIC X(48).
       15 MQTMC2-PROCESSNAME PIC X(48).
       15 MQTMC2-TRIGGERDATA PIC X(64).
       15 MQTMC2-APPLTYPE PIC X(4).
       15 MQTMC2-APPLID PIC X(256).
       15 MQTMC2-ENVDATA PIC X(128).
       15 MQTMC2-USERDATA PIC X(128).
       15 MQTMC2-QMGRNAME PIC X(48).
