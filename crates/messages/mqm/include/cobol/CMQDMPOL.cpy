      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQDMPO options of deleting a property.
       10 MQDMPO.
       15 MQDMPO-STRUCID PIC X(4).
       15 MQDMPO-VERSION PIC S9(9) COMP-5.
       15 MQDMPO-OPTIONS PIC S9(9) COMP-5.
