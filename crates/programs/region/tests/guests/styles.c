/* One program, all the ways in which a C program can make a call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int PLITDLI(), CTDLI(), CEETDLI(), AIBTDLI(), ASMTDLI();

struct pcb {
    char dbd[8], level[2], status[2], options[4], reserved[4], segment[8];
    int key_length, segments;
    char key[100];
};

struct aib {
    char id[8];
    int length;
    char subfunction[8], resource[8], resource2[8], reserved[8];
    int area_length, area_used, field, options, reserved2;
    int return_code, reason, extension;
    unsigned pcb, address2, address3;
    char token[16], return_token[8], reserved3[16];
};

static char ssa[] = "CUSTOMER(CUSTKEY  =000005)";

static void show(const char *what, struct pcb *pcb, const char *area)
{
    printf("%s: '%.2s' %.8s %d %d %.30s\n", what, pcb->status, pcb->segment, pcb->key_length,
        pcb->segments, area);
    memset(pcb->status, '?', 2);
}

int DLITCBL(void *io, struct pcb *shop)
{
    char area[30];
    int four = 4, three = 3;
    struct pcb *pointer = shop;
    unsigned short_pointer = (unsigned)(unsigned long)shop;
    struct aib aib;
    /* LLLL counts itself as 2. */
    struct { int length; char zz[2], code, text[5]; } record = { 10, "", '\xa1', "TEXTS" };
    void *io_pointer = io;
    /* LL counts itself, and is less than what the AIB says of the area. */
    char counted[64] = "\0\011\0\0\241SHORT AND MORE";

    PLITDLI(&four, "GU  ", &pointer, area, ssa);
    show("pli", shop, area);
    PLITDLI(&three, "GN  ", &short_pointer, area);
    show("pli gn", shop, area);
    PLITDLI(&three, "LOG ", &io_pointer, &record);
    CTDLI("GU  ", shop, area, ssa, NULL);
    show("c", shop, area);
    ASMTDLI(&four, "GHU ", shop, area, ssa);
    show("asm", shop, area);

    memset(&aib, 0, sizeof aib);
    memcpy(aib.id, "DFSAIB  ", 8);
    aib.length = sizeof aib;
    memcpy(aib.resource, "SHOP    ", 8);
    aib.area_length = sizeof area;
    four = 4;
    AIBTDLI(&four, "GU  ", &aib, area, ssa);
    printf("aib %x %x %d %s\n", aib.return_code, aib.reason, aib.area_used,
        (void *)(unsigned long)aib.pcb == (void *)shop ? "same pcb" : "other pcb");
    aib.area_length = 10;
    CEETDLI(&three, "GN  ", &aib, area);
    printf("aib end %x\n", aib.return_code);
    memcpy(aib.resource, "IOPCB   ", 8);
    aib.area_length = sizeof counted;
    AIBTDLI(&three, "LOG ", &aib, counted);
    memcpy(aib.resource, "NOSUCH  ", 8);
    AIBTDLI(&three, "GN  ", &aib, area);
    printf("aib nobody %x %x\n", aib.return_code, aib.reason);
    memcpy(aib.id, "DFSXXX  ", 8);
    AIBTDLI(&three, "GN  ", &aib, area);
    printf("aib strange %x\n", aib.return_code);
    fflush(stdout);
    return 0;
}

int divide(void *io, struct pcb *shop)
{
    volatile int zero = 0;
    return shop->key_length / zero;
}

int leaves(void *io, struct pcb *shop)
{
    int status;

    /* The end of a copy of the process is not the end of the program. */
    if (fork() == 0)
        exit(9);
    wait(&status);
    exit(7);
}

int killed(void *io, struct pcb *shop)
{
    char area[30];

    CTDLI("GU  ", shop, area, NULL);
    raise(SIGKILL);
    return 0;
}
