/* A message program in C: sends each message back, behind the number that it is. */
#include <stdio.h>
#include <string.h>

struct io_pcb { char terminal[8]; char reserved[2]; char status[2]; };
struct message { short ll; short zz; char text[200]; };

int CTDLI(const int *count, const char *function, void *pcb, void *area);

static const int three = 3;
static int seen = 0;
static char spare[1 << 16] = "as it was";

int ECHO(struct io_pcb *io)
{
    static struct message in, out;
    CTDLI(&three, "GU  ", io, &in);
    while (memcmp(io->status, "  ", 2) == 0) {
        int text = in.ll - 4;
        seen += 1;
        if (memcmp(in.text, "LEAK", 4) == 0)
            strcpy(spare, "written over");
        int number = sprintf(out.text, "%d %s ", seen, memcmp(in.text, "SHOW", 4) ? "" : spare);
        memcpy(out.text + number, in.text, text);
        out.ll = 4 + number + text;
        out.zz = 0;
        CTDLI(&three, "ISRT", io, &out);
        CTDLI(&three, "GU  ", io, &in);
    }
    return memcmp(io->status, "QC", 2) == 0 ? 0 : 8;
}
