      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQXQH before a message on a transmission queue.
       10 MQXQH.
       15 MQXQH-STRUCID PIC X(4) VALUE 'XQH'.
       15 MQXQH-VERSION PIC S9(9) COMP-5 VALUE 1.
       15 MQXQH-REMOTEQNAME PIC X(48) VALUE SPACES.
       15 MQXQH-REMOTEQMGRNAME PIC X(48) VALUE SPACES.
       15 MQXQH-MSGDESC PIC X(324).
