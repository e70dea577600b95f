      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQOR one destination of several.
       10 MQOR.
       15 MQOR-OBJECTNAME PIC X(48).
       15 MQOR-OBJECTQMGRNAME PIC X(48).
