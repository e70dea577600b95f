/* A sequential file through its PCB, records of undefined length. */
#include <stdio.h>
#include <string.h>

int CTDLI();

struct pcb {
    char dbd[8], level[2], status[2], options[4], reserved[4], name[8];
    int key_length, zero;
    char rsa[8];
    int length;
};

int FILES(void *io, void *shop, struct pcb *file)
{
    char area[80], rsa[9] = "";

    memset(area, '.', sizeof area);
    CTDLI("GN  ", file, area, rsa, NULL);
    printf("got '%.2s' %.8s %d %.7s %s %d\n", file->status, file->rsa, file->length, area, rsa,
        file->key_length);
    CTDLI("GU  ", file, area, "RSA00042", NULL);
    printf("searched '%.2s'\n", file->status);
    file->length = 3;
    CTDLI("ISRT", file, "NEW RECORD", NULL);
    printf("put '%.2s'\n", file->status);
    return 0;
}
