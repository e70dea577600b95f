/* A C function that a COBOL program calls, and that makes a call of its own. */
int CTDLI();

int SHOPHELP(void *shop)
{
    static char area[30];
    int count = 4;

    return CTDLI(&count, "GU  ", shop, area, "CUSTOMER(CUSTKEY  =000004)");
}
