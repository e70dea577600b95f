/* A message program with queues, in C: does what each message says. */
#include <cmqc.h>
#include <stdio.h>
#include <string.h>

struct pcb { char terminal[8]; char reserved[2]; char status[2]; };
struct message { short ll; short zz; char text[200]; };

int CTDLI(const int *count, const char *function, void *pcb, void *area, ...);

static const int one = 1, three = 3, four = 4;
static MQLONG cc, rc;
static MQHCONN hconn;
static MQHOBJ hobj;
static char customer[20];

static void get_one(struct pcb *db, char *name, int *count)
{
    MQMD md = {MQMD_DEFAULT};
    MQGMO gmo = {MQGMO_DEFAULT};
    MQLONG length = 0;
    memset(customer, ' ', sizeof customer);
    MQGET(hconn, hobj, &md, &gmo, 4, customer, &length, &cc, &rc);
    if (cc != MQCC_OK)
        return;
    memcpy(name, customer, 4);
    *count = md.BackoutCount;
    CTDLI(&four, "ISRT", db, customer, "CUSTOMER ");
}

int QUEUEC(struct pcb *io, struct pcb *printer, struct pcb *other, struct pcb *db)
{
    static struct message in, out;
    CTDLI(&three, "GU  ", io, &in);
    while (memcmp(io->status, "  ", 2) == 0) {
        char qm[48] = "", name[5] = "";
        MQOD od = {MQOD_DEFAULT};
        int count = 0;
        memcpy(name, in.text + 4, 4);
        MQCONN(qm, &hconn, &cc, &rc);
        if (cc != MQCC_OK)
            return rc;
        strncpy(od.ObjectName, "ORDERS", sizeof(MQCHAR48));
        MQOPEN(hconn, &od, MQOO_INPUT_SHARED | MQOO_OUTPUT, &hobj, &cc, &rc);
        if (memcmp(in.text, "PUT ", 4) == 0) {
            MQMD md = {MQMD_DEFAULT};
            MQPMO pmo = {MQPMO_DEFAULT};
            md.Persistence = MQPER_PERSISTENT;
            MQPUT(hconn, hobj, &md, &pmo, 4, name, &cc, &rc);
        } else if (memcmp(in.text, "GET ", 4) == 0) {
            get_one(db, name, &count);
        } else if (memcmp(in.text, "BACK", 4) == 0) {
            get_one(db, name, &count);
            static const int two = 2;
            CTDLI(&two, "ROLB", io, NULL);
            get_one(db, name, &count);
        } else if (memcmp(in.text, "ROLL", 4) == 0) {
            get_one(db, name, &count);
            CTDLI(&one, "ROLL", NULL, NULL);
        } else if (memcmp(in.text, "CMIT", 4) == 0) {
            MQCMIT(hconn, &cc, &rc);
        }
        out.ll = 4 + sprintf(out.text, "%.4s%.4s%04d%04d", in.text, name, (int)rc, count);
        CTDLI(&three, "ISRT", io, &out);
        CTDLI(&three, "GU  ", io, &in);
    }
    return memcmp(io->status, "QC", 2) == 0 ? 0 : 8;
}
