/* Calls a function that nobody has. */
void shop_has_no_such_function (void);

int
main (void)
{
	shop_has_no_such_function ();
	return 0;
}
