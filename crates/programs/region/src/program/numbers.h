/* Numbers that are none, where they are used: what the run time is asked of each number in front of
   a statement comes here. The host looks at packed digits and signs in every calculation (S0C7);
   of zoned ones it takes the digits that there are, blanks as zeros. Of packed signs B is a minus
   as D is; where an item has none, each is a plus. The run time knows D alone. A division by zero whose
   statement has no ON SIZE ERROR ends the program there, too (S0CB); the run time would go on with
   what the result held before. So does FUNCTION MOD or REM by zero.

   HF_CHECK_ZONED: zoned ones are looked at, too. */

/* Gives a packed number the sign that the host takes it for. */
static inline void
hf_sign (const cob_field *field)
{
	unsigned char *last;

	if (COB_FIELD_TYPE (field) != COB_TYPE_NUMERIC_PACKED || COB_FIELD_NO_SIGN_NIBBLE (field)
	 || !field->data || !field->size) {
		return;
	}
	last = field->data + field->size - 1;
	if (!COB_FIELD_HAVE_SIGN (field)) {
		if ((*last & 15) == 11 || (*last & 15) == 13) {
			*last |= 15;
		}
	} else if ((*last & 15) == 11) {
		*last = (unsigned char)((*last & 0xF0) | 13);
	}
}

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
				hf_sign (field);
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

/* What looks at a number without such a question: comparisons, subscripts, and the like. */
/* The compiler defines this one beside its storage; the translation asks for it by this name. */
#define hf_cmp_packed_int(field, number) (hf_sign (field), cob_cmp_packed_int (field, number))
#define cob_cmp_packed(field, number) (hf_sign (field), cob_cmp_packed (field, number))
#define cob_cmp_llint(field, number) (hf_sign (field), cob_cmp_llint (field, number))
#define cob_cmp(left, right) (hf_sign (left), hf_sign (right), cob_cmp (left, right))
#define cob_numeric_cmp(left, right) \
	(hf_sign (left), hf_sign (right), cob_numeric_cmp (left, right))
#define cob_get_llint(field) (hf_sign (field), cob_get_llint (field))
#define cob_get_int(field) (hf_sign (field), cob_get_int (field))
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

/* A function that divides by zero has no value: in a calculation that is a size error, as a division
   by zero is; elsewhere it ends the program. The run time would go on with zero. */
static int hf_calculates, hf_has_no_value;

static inline void
hf_divides (cob_field *divisor)
{
	if (cob_cmp_llint (divisor, 0) != 0) {
		return;
	}
	if (!hf_calculates) {
		hf_no_result ();
	}
	hf_has_no_value = 1;
}

static inline cob_field *
hf_intr_mod (cob_field *number, cob_field *divisor)
{
	hf_divides (divisor);
	return cob_intr_mod (number, divisor);
}

static inline cob_field *
hf_intr_rem (cob_field *number, cob_field *divisor)
{
	hf_divides (divisor);
	return cob_intr_rem (number, divisor);
}

/* A calculation that is a function's argument. */
static inline cob_field *
hf_intr_binop (cob_field *left, const int operation, cob_field *right)
{
	if (operation == '/') {
		hf_divides (right);
	}
	return cob_intr_binop (left, operation, right);
}

#define cob_intr_mod(number, divisor) hf_intr_mod (number, divisor)
#define cob_intr_rem(number, divisor) hf_intr_rem (number, divisor)
#define cob_intr_binop(left, operation, right) hf_intr_binop (left, operation, right)

/* Sources without such numbers are not given their type. */
#ifdef __GMP_H__
static inline void
hf_decimal_set_field (cob_decimal *number, cob_field *field)
{
	hf_calculates = 0;
	hf_sign (field);
	cob_decimal_set_field (number, field);
	if (hf_has_no_value) {
		hf_has_no_value = 0;
		number->scale = HF_NO_NUMBER;
	}
}

/* It is known that there is a calculation before its functions are called. */
#define cob_decimal_set_field(number, field) \
	(hf_calculates = 1, hf_decimal_set_field (number, field))

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
