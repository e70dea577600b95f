      * A member with a command of its own.
           EXEC DLI GU USING PCB(2) SEGMENT(CUSTOMER) INTO(:AREA:)
           END-EXEC.
