/* Numbers that are none, where they are used: what the run time is asked of each number in front of
   a statement comes here. The host looks at packed digits and signs in every calculation (S0C7);
   of zoned ones it takes the digits that there are, blanks as zeros.

   HF_CHECK_ZONED: zoned ones are looked at, too. */

static inline void
hf_check_numeric (const cob_field *field, const char *name)
{
	const unsigned char *at = field->data;
	size_t left = field->size;

	if (COB_FIELD_TYPE (field) == COB_TYPE_NUMERIC_PACKED) {
		if (!COB_FIELD_NO_SIGN_NIBBLE (field)) {
			while (left > 1 && at[0] >> 4 <= 9 && (at[0] & 15) <= 9) {
				at++;
				left--;
			}
			if (left == 1 && at[0] >> 4 <= 9 && (at[0] & 15) >= 10) {
				return;
			}
		}
		cob_check_numeric (field, name);
	}
#ifdef HF_CHECK_ZONED
	else {
		cob_check_numeric (field, name);
	}
#endif
}

#define cob_check_numeric(field, name) hf_check_numeric (field, name)
/* The name of the statement is of use to nobody here. */
#define cob_trace_stmt(statement) ((void)0)
