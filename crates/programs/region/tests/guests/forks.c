/* Copies of a program's process are not the program: two make a call, one returns, one exits. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int CTDLI();

struct pcb {
    char dbd[8], level[2], status[2];
};

/* It shares the program's memory, as threads do, and is another process all the same. */
static int twin(void *nothing)
{
    exit(0);
}

static char stack[1 << 20];

int DLITCBL(void *io, struct pcb *shop)
{
    char area[30] = "";
    int status;

    CTDLI("GU  ", shop, area, NULL);
    fflush(stdout);
    if (fork() == 0) {
        CTDLI("ISRT", shop, "000009", "CUSTOMER ", NULL);
        printf("INSERTED BY A COPY\n");
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    printf("copy ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    if (vfork() == 0) {
        CTDLI("ISRT", shop, "000009", "CUSTOMER ", NULL);
        _exit(0);
    }
    wait(&status);
    printf("sharing copy ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    waitpid(clone(twin, stack + sizeof stack, CLONE_VM | SIGCHLD, NULL), &status, 0);
    printf("twin ended with %d\n", WEXITSTATUS(status));
    fflush(stdout);
    if (fork() == 0)
        return 9;
    wait(&status);
    printf("copy returned %d\n", WEXITSTATUS(status));
    CTDLI("GN  ", shop, area, NULL);
    printf("program '%.2s' %.6s\n", shop->status, area);
    return 0;
}
