/* Passes counts, in front of functions whose bytes look like addresses. */
#include <stdio.h>

int CTDLI();

struct pcb {
    char dbd[8], level[2], status[2];
};

int DLITCBL(void *io, struct pcb *shop)
{
    static char function[8] = "GN  ";
    char area[30] = "";
    int three = 3, calls = 0;

    do {
        CTDLI(&three, function, shop, area);
        calls++;
    } while (shop->status[0] == ' ');
    printf("%d calls, the last '%.2s'\n", calls, shop->status);
    return 0;
}
