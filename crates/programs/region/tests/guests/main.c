/* A program as C has it: main, with the PCBs as its parameters. */
#include <stdio.h>

struct pcb {
    char dbd[8];
};

int main(void *io, struct pcb *shop)
{
    printf("main: %.8s\n", shop->dbd);
    return 3;
}
