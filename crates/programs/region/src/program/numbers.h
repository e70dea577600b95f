/* Numbers that are none, where they are used: what the run time is asked of each number in front of
   a statement comes here. The host looks at packed digits and signs in every calculation (S0C7);
   of zoned ones it takes the digits that there are, blanks as zeros. A division by zero whose
   statement has no ON SIZE ERROR ends the program there, too (S0CB); the run time would go on with
   what the result held before.

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

/* What the run time makes the scale of a result that is none: of a division by zero, or of a power
   without a value. */
#define HF_NO_NUMBER (-32768)

static void
hf_no_result (void)
{
	cob_runtime_error ("division by zero, or a power that has no value");
	cob_stop_run (1);
}

static inline int
hf_is_zero (cob_field *divisor, const int options)
{
	return !(options & COB_STORE_KEEP_ON_OVERFLOW) && cob_cmp_llint (divisor, 0) == 0;
}

static inline void
hf_div (cob_field *number, cob_field *divisor, const int options)
{
	if (hf_is_zero (divisor, options)) {
		hf_no_result ();
	}
	cob_div (number, divisor, options);
}

static inline void
hf_div_quotient (cob_field *number, cob_field *divisor, cob_field *quotient, const int options)
{
	if (hf_is_zero (divisor, options)) {
		hf_no_result ();
	}
	cob_div_quotient (number, divisor, quotient, options);
}

#define cob_div(number, divisor, options) hf_div (number, divisor, options)
#define cob_div_quotient(number, divisor, quotient, options) \
	hf_div_quotient (number, divisor, quotient, options)

/* Sources without such numbers are not given their type. */
#ifdef __GMP_H__
static inline int
hf_decimal_get_field (cob_decimal *number, cob_field *field, const int options)
{
	if (number->scale == HF_NO_NUMBER && !(options & COB_STORE_KEEP_ON_OVERFLOW)) {
		hf_no_result ();
	}
	return cob_decimal_get_field (number, field, options);
}

static inline int
hf_decimal_cmp (cob_decimal *left, cob_decimal *right)
{
	if (left->scale == HF_NO_NUMBER || right->scale == HF_NO_NUMBER) {
		hf_no_result ();
	}
	return cob_decimal_cmp (left, right);
}

/* In front of a comparison. */
static inline void
hf_decimal_align (cob_decimal *number, const int scale)
{
	if (number->scale == HF_NO_NUMBER) {
		hf_no_result ();
	}
	cob_decimal_align (number, scale);
}

#define cob_decimal_align(number, scale) hf_decimal_align (number, scale)
#define cob_decimal_get_field(number, field, options) hf_decimal_get_field (number, field, options)
#define cob_decimal_cmp(left, right) hf_decimal_cmp (left, right)
#endif
