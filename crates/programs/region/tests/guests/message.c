/* Asks for a message of a terminal. */
int CTDLI();

int DLITCBL(void *io, void *shop)
{
    char area[200];

    CTDLI("GU  ", io, area, 0);
    return 0;
}
