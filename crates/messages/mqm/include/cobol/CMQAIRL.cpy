      * Holdfast: the message queue interface.
      * Made from the tables of crate mqi.
      * MQAIR where certificates are looked up.
       10 MQAIR.
       15 MQAIR-STRUCID PIC X(4).
       15 MQAIR-VERSION PIC S9(9) COMP-5.
       15 MQAIR-AUTHINFOTYPE PIC S9(9) COMP-5.
       15 MQAIR-AUTHINFOCONNNAME PIC X(264).
       15 FILLER PIC X(4).
       15 MQAIR-LDAPUSERNAMEPTR POINTER.
       15 MQAIR-LDAPUSERNAMEOFFSET PIC S9(9) COMP-5.
       15 MQAIR-LDAPUSERNAMELENGTH PIC S9(9) COMP-5.
       15 MQAIR-LDAPPASSWORD PIC X(32).
       15 MQAIR-OCSPRESPONDERURL PIC X(256).
