/* Fills a cluster. */
#include <stdio.h>
#include <string.h>

#include "holdfast_vsam.h"

int main(void)
{
    holdfast_acb *acb;
    holdfast_rpl rpl;
    char area[21];
    int number, code = holdfast_vsam_open("BANK.ACCOUNT", HOLDFAST_OUT, 0, &acb, NULL);

    memset(&rpl, 0, sizeof rpl);
    rpl.acb = acb;
    rpl.area = area;
    rpl.area_bytes = rpl.record_bytes = 20;
    for (number = 0; code == 0 && number < 2000; number++) {
        snprintf(area, sizeof area, "AA%04dANNA%10d", number, number);
        code = holdfast_vsam_put(&rpl);
        rpl.record_bytes = 20;
    }
    return code ? code : holdfast_vsam_close(acb);
}
