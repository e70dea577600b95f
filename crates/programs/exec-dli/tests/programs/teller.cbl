000010 CBL LIB,APOST,XREF                                               TELLER01
000100 IDENTIFICATION DIVISION.                                         TELLER01
000200 PROGRAM-ID. TELLER.                                              TELLER01
000300 AUTHOR. THE BANK'S OWN. EXEC DLI IS DESCRIBED IN THE MANUAL.     TELLER01
000400 ENVIRONMENT DIVISION.                                            TELLER01
000500 DATA DIVISION.                                                   TELLER01
000600 WORKING-STORAGE SECTION.                                         TELLER01
000700 01  CUSTOMER-AREA.                                               TELLER01
000800     05  CUST-NUMBER        PIC X(6).                             TELLER01
000900     05  CUST-NAME          PIC X(30).                            TELLER01
001000 01  ACCOUNT-AREA.                                                TELLER01
001100     05  ACCT-NUMBER        PIC X(10).                            TELLER01
001200     05  ACCT-BALANCE       PIC S9(9)V99 COMP-3.                  TELLER01
001300 01  POSTING-TABLE.                                               TELLER01
001400     05  POSTING-AREA OCCURS 5 PIC X(40).                         TELLER01
001500 01  WANTED                 PIC X(6) VALUE '000042'.              TELLER01
001600 01  IX                     PIC S9(4) COMP VALUE 2.               TELLER01
001700 01  DB-PCB                 PIC 9(2) VALUE 2.                     TELLER01
001800 01  KEY-AREA               PIC X(24).                            TELLER01
001900 01  SEGMENT-NAME           PIC X(8) VALUE 'POSTING'.             TELLER01
002000 01  CHECKPOINT-ID          PIC X(8) VALUE 'TELL0001'.            TELLER01
002100 01  A-TEXT PIC X(60) VALUE 'THIS EXEC DLI GU IS IN A LITERAL THATTELLER01
002200-    ' GOES ON: END-EXEC'.                                        TELLER01
002300 PROCEDURE DIVISION.                                              TELLER01
002400 MAIN-LINE.                                                       TELLER01
002500     EXEC DLI GU USING PCB(DB-PCB) KEYFEEDBACK(KEY-AREA)          TELLER01
002600         SEGMENT(CUSTOMER) INTO(CUSTOMER-AREA)                    TELLER01
002700*        A COMMENT AMIDST THE COMMAND: EXEC DLI                   TELLER01
002800             WHERE(CUSTNO = WANTED) FIELDLENGTH(6)                TELLER01
002900         LAST SEGMENT(ACCOUNT) INTO(ACCOUNT-AREA) LOCKED          TELLER01
003000             WHERE(ACCTNO > CUST-NUMBER OF CUSTOMER-AREA AND      TELLER01
003100                   KIND ^= 'CLOSED' OR BALANCE<=ACCT-BALANCE)     TELLER01
003200     END-EXEC.                                                    TELLER01
003300     IF DIBSTAT = '  '                                            TELLER01
003400         MOVE 5 TO RETURN-CODE                                    TELLER01
003500         EXEC DLI GNP USING PCB(2) SEGMENT((SEGMENT-NAME))        TELLER01
003600              SEGLENGTH(40) INTO(POSTING-AREA (IX)) END-EXEC      TELLER01
003700         exec dli repl using pcb(2) segment(account)              TELLER01
003800              from(account-area) end-exec                         TELLER01
003900     ELSE EXEC DLI ROLB END-EXEC MOVE 0 TO IX.                    TELLER01
004000     PERFORM UNTIL DIBSTAT = 'GB'                                 TELLER01
004100         EXEC DLI GET NEXT USING PCB(DB-PCB + 1) INTO(KEY-AREA)   TELLER01
004200         END-EXEC                                                 TELLER01
004300         MOVE 'GB' TO DIBSTAT                                     TELLER01
004400     END-PERFORM.                                                 TELLER01
004500*    EXEC DLI TERM END-EXEC.                                      TELLER01
004600     EXEC DLI SYMCHKP ID(CHECKPOINT-ID) AREA1(WANTED) LENGTH1(6)  TELLER01
004700         AREA2(IX) END-EXEC.                                      TELLER01
004800     GOBACK.                                                      TELLER01
