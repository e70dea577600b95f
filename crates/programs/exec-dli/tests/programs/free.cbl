>>SOURCE FORMAT IS FREE
identification division.
program-id. freeform.
data division.
working-storage section.
01 customer-area pic x(36).
procedure division.
    exec dli gn using pcb(1) segment(customer) into(customer-area) end-exec
    *> exec dli in a comment
    if dibstat = 'GB' display "the end" end-if
    goback.
