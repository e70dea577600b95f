       PROCESS NOLIST
       ID DIVISION.
       PROGRAM-ID. 'READER'.
       PROCEDURE DIVISION.
           EXEC
             DLI
               SCHD PSB(READPSB)
           END-EXEC
           EXEC DLI TERM END-EXEC EXEC DLI ACCEPT STATUSGROUP('A')
           END-EXEC DISPLAY DIBSTAT
           GOBACK.
