/* Is called like a function of the C library. */
#include <stdio.h>

int main(void *io, char *shop)
{
    printf("main of time: %.8s\n", shop);
    return 5;
}
