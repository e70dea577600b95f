      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQDMHO options of deleting a message handle.
       10 MQDMHO.
       15 MQDMHO-STRUCID PIC X(4).
       15 MQDMHO-VERSION PIC S9(9) COMP-5.
       15 MQDMHO-OPTIONS PIC S9(9) COMP-5.
