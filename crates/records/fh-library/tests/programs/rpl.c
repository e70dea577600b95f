/* A cluster as VSAM has it, from a process outside its system. */
#include <stdio.h>
#include <string.h>

#include "holdfast_vsam.h"

static holdfast_rpl rpl;
static char area[20];

static void say(const char *what, int code)
{
    printf("%s %d %d", what, code, rpl.reason);
    if (code == 0 && rpl.record_bytes > 0)
        printf(" %.*s", (int)rpl.record_bytes, area);
    printf("\n");
    rpl.record_bytes = 0;
}

static int get(const char *key, unsigned options)
{
    rpl.arg = key;
    rpl.arg_bytes = key ? (uint32_t)strlen(key) : 0;
    rpl.options = options;
    return holdfast_vsam_get(&rpl);
}

static int put(const char *text, unsigned options)
{
    int code;
    memset(area, '.', sizeof area);
    memcpy(area, text, strlen(text));
    rpl.record_bytes = sizeof area;
    rpl.options = options;
    code = holdfast_vsam_put(&rpl);
    rpl.record_bytes = 0;
    return code;
}

static holdfast_acb *opened(const char *name, unsigned mode)
{
    holdfast_acb *acb;
    holdfast_acb_info info;
    int code = holdfast_vsam_open(name, mode, 2, &acb, &info);
    printf("open %s %d %u %u %u/%u %u\n", name, code, info.reason, info.organization,
        info.key_offset, info.key_bytes, info.record_bytes_max);
    rpl.acb = acb;
    return acb;
}

int main(void)
{
    holdfast_acb *base, *path;

    rpl.area = area;
    rpl.area_bytes = sizeof area;
    opened("BANK.NONE", HOLDFAST_IN);
    base = opened("ACCOUNT", HOLDFAST_OUT);
    say("load", put("AA0001ANNA", 0));
    say("load", put("BB0001BERT", 0));
    say("load", put("BB0002ANNA", 0));
    say("out of sequence", put("AA0002", 0));
    say("loading", get("AA0001", HOLDFAST_KEY | HOLDFAST_DIR));
    say("close", holdfast_vsam_close(base));

    base = opened("ACCOUNT", HOLDFAST_INOUT);
    say("first", get(NULL, 0));
    say("next", get(NULL, HOLDFAST_KEY));
    say("direct", get("AA0001", HOLDFAST_KEY | HOLDFAST_DIR));
    say("no place", get(NULL, 0));
    say("kept", get("AA0001", HOLDFAST_DIR | HOLDFAST_NSP));
    say("next", get(NULL, 0));
    say("generic", get("BB", HOLDFAST_DIR | HOLDFAST_GEN));
    say("not less", get("AA0002", HOLDFAST_DIR | HOLDFAST_KGE | HOLDFAST_NSP));
    say("next", get(NULL, 0));
    say("end", get(NULL, 0));
    say("backward", get(NULL, HOLDFAST_BWD));
    say("last", get(NULL, HOLDFAST_DIR | HOLDFAST_LRD | HOLDFAST_NSP));
    say("not found", get("CC0001", HOLDFAST_DIR));
    say("short key", get("CC", HOLDFAST_DIR));
    say("address", get("CC0001", HOLDFAST_DIR | HOLDFAST_ADR));
    say("options", get("CC0001", 0x8000));
    rpl.area_bytes = 5;
    if (get("AA0001", HOLDFAST_DIR) != 0)
        printf("it has %u\n", rpl.record_bytes);
    say("small area", rpl.return_code);
    rpl.area_bytes = sizeof area;

    say("insert", put("AA0002CARL", HOLDFAST_DIR));
    say("duplicate", put("AA0002CARL", HOLDFAST_DIR));
    say("not read", put("AA0002DORA", HOLDFAST_UPD));
    say("update", get("AA0002", HOLDFAST_DIR | HOLDFAST_UPD));
    say("key changed", put("AA0003DORA", HOLDFAST_UPD));
    say("update", get("AA0002", HOLDFAST_DIR | HOLDFAST_UPD));
    say("rewrite", put("AA0002DORA", HOLDFAST_UPD));
    say("again", put("AA0002EMIL", HOLDFAST_UPD));
    rpl.options = 0;
    say("nothing to erase", holdfast_vsam_erase(&rpl));
    say("update", get("BB0001", HOLDFAST_DIR | HOLDFAST_UPD));
    rpl.string = 1;
    say("another string", get("AA0001", HOLDFAST_DIR));
    rpl.string = 2;
    say("no string", get("AA0001", HOLDFAST_DIR));
    rpl.string = 1;
    say("ended", holdfast_vsam_endreq(&rpl));
    rpl.string = 0;
    say("erase", holdfast_vsam_erase(&rpl));
    rpl.arg = "BB";
    rpl.arg_bytes = 2;
    rpl.options = HOLDFAST_GEN | HOLDFAST_KEY;
    say("point", holdfast_vsam_point(&rpl));
    say("next", get(NULL, 0));

    path = opened("#VSAM.#CICS.BANK/NAMES", HOLDFAST_IN);
    say("by name", get("ANNA", HOLDFAST_DIR | HOLDFAST_NSP));
    say("next", get(NULL, 0));
    say("read only", get("ANNA", HOLDFAST_DIR | HOLDFAST_UPD));
    say("close", holdfast_vsam_close(path));

    rpl.acb = base;
    printf("begin %d\n", holdfast_vsam_begin(base));
    say("insert", put("DD0001DORA", HOLDFAST_DIR));
    printf("back out %d\n", holdfast_vsam_backout(base));
    say("gone", get("DD0001", HOLDFAST_DIR));
    printf("begin %d\n", holdfast_vsam_begin(base));
    say("insert", put("DD0002DORA", HOLDFAST_DIR));
    printf("commit %d\n", holdfast_vsam_commit(base));
    printf("commit %d\n", holdfast_vsam_commit(base));
    say("there", get("DD0002", HOLDFAST_DIR));
    rpl.acb = NULL;
    say("no ACB", get("DD0002", HOLDFAST_DIR));
    say("close", holdfast_vsam_close(base));
    return 0;
}
