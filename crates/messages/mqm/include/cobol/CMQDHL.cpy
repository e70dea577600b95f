      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQDH before a message that goes to several queues.
       10 MQDH.
       15 MQDH-STRUCID PIC X(4).
       15 MQDH-VERSION PIC S9(9) COMP-5.
       15 MQDH-STRUCLENGTH PIC S9(9) COMP-5.
       15 MQDH-ENCODING PIC S9(9) COMP-5.
       15 MQDH-CODEDCHARSETID PIC S9(9) COMP-5.
       15 MQDH-FORMAT PIC X(8).
       15 MQDH-FLAGS PIC S9(9) COMP-5.
       15 MQDH-PUTMSGRECFIELDS PIC S9(9) COMP-5.
       15 MQDH-RECSPRESENT PIC S9(9) COMP-5.
       15 MQDH-OBJECTRECOFFSET PIC S9(9) COMP-5.
       15 MQDH-PUTMSGRECOFFSET PIC S9(9) COMP-5.
