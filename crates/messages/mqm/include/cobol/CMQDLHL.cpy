      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQDLH before the data of a message that could not be delivered.
       10 MQDLH.
       15 MQDLH-STRUCID PIC X(4).
       15 MQDLH-VERSION PIC S9(9) COMP-5.
       15 MQDLH-REASON PIC S9(9) COMP-5.
       15 MQDLH-DESTQNAME PIC X(48).
       15 MQDLH-DESTQMGRNAME PIC X(48).
       15 MQDLH-ENCODING PIC S9(9) COMP-5.
       15 MQDLH-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQDLH-FORMAT PIC X(8).
       15 MQDLH-PUTAPPLTYPE PIC S9(9) COMP-5.
       15 MQDLH-PUTAPPLNAME PIC X(28).
       15 MQDLH-PUTDATE PIC X(8).
       15 MQDLH-PUTTIME PIC X(8).
