      *----------------------------------------------------------------
      * TASKSEG   SEGMENT TASK OF WHSDIST, 24 BYTES
      *----------------------------------------------------------------
           05  TASK-SEG.
               10  TASK-REF           PIC 9(09).
               10  TASK-LINES         PIC 9(02).
               10  FILLER             PIC X(13).
