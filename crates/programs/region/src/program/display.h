/* DISPLAY of numbers as the mainframe does it. This stands behind the declarations of the run time
   in the C source of every COBOL program, so that its calls of cob_display come here.

   | item | is shown as |
   |---|---|
   | binary, packed | the digits of its PICTURE; if negative, with the sign over the last one |
   | binary that holds all its bytes have room for | 5, 10, 19 (unsigned 20) digits, the same sign |
   | zoned | as it stands, with the signs that its bytes would have in EBCDIC |
   | COMP-1, COMP-2 | sign, point, 8 or 17 digits, E, sign, 2 digits of the exponent |
   | everything else | as the run time shows it |

   HF_ALL_DIGITS: all binary items hold what their bytes have room for. HF_SEPARATE_SIGNS: signs
   have a place of their own in front. */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The digits with a sign over them: of numbers below zero, and of others. */
#define HF_NEGATIVE "}JKLMNOPQR"
#define HF_POSITIVE "{ABCDEFGHI"
#define HF_TEXT_MAX 64

/* RETURN-CODE and SORT-RETURN are 4 digits long. */
static const cob_field_attr hf_return_code __attribute__ ((unused)) =
	{COB_TYPE_NUMERIC_BINARY, 4, 0, COB_FLAG_HAVE_SIGN | COB_FLAG_REAL_BINARY, NULL};

/* Writes the sign of `count` digits over them, or in front. */
static size_t
hf_signed (char *text, size_t count, int has_sign, int is_negative)
{
#ifdef HF_SEPARATE_SIGNS
	if (has_sign) {
		memmove (text + 1, text, count);
		text[0] = is_negative ? '-' : '+';
		count++;
	}
#else
	(void)has_sign;
	if (is_negative) {
		text[count - 1] = HF_NEGATIVE[text[count - 1] - '0'];
	}
#endif
	return count;
}

static size_t
hf_binary (const cob_field *field, char *text)
{
	static const unsigned char room[9] = {0, 3, 5, 8, 10, 13, 15, 17, 19};
	const int has_sign = COB_FIELD_HAVE_SIGN (field) != 0;
	unsigned long long value = 0;
	size_t count = COB_FIELD_DIGITS (field);
	size_t at;
	int is_negative = 0;

	if (COB_FIELD_IS_POINTER (field) || field->size < 1 || field->size > 8) {
		return 0;
	}
	for (at = 0; at < field->size; at++) {
		/* The compiler swaps what is not in this machine's order. */
		size_t place = COB_FIELD_BINARY_SWAP (field) ? at : field->size - 1 - at;
		value = value << 8 | field->data[place];
	}
	if (has_sign && value >> (field->size * 8 - 1)) {
		is_negative = 1;
		value = 0 - value;
		if (field->size < 8) {
			value &= (1ULL << (field->size * 8)) - 1;
		}
	}
#ifdef HF_ALL_DIGITS
	if (field->attr != &hf_return_code) {
#else
	if (COB_FIELD_REAL_BINARY (field) && field->attr != &hf_return_code) {
#endif
		count = room[field->size];
		if (field->size == 8 && !has_sign) {
			count = 20;
		}
	}
	if (count < 1 || count > 20) {
		return 0;
	}
	for (at = count; at > 0; at--) {
		text[at - 1] = (char) ('0' + value % 10);
		value /= 10;
	}
	return hf_signed (text, count, has_sign, is_negative);
}

static size_t
hf_packed (const cob_field *field, char *text)
{
	size_t nibbles = field->size * 2 - 1;
	size_t count = COB_FIELD_DIGITS (field);
	size_t at;
	int sign;

	if (COB_FIELD_NO_SIGN_NIBBLE (field) || field->size < 1 || nibbles > 40) {
		return 0;
	}
	if (count < 1 || count > nibbles) {
		count = nibbles;
	}
	for (at = 0; at < count; at++) {
		size_t nibble = nibbles - count + at;
		int byte = field->data[nibble / 2];
		int digit = nibble % 2 ? byte & 15 : byte >> 4;
		if (digit > 9) {
			/* No number: the run time shows what it makes of it. */
			return 0;
		}
		text[at] = (char) ('0' + digit);
	}
	sign = field->data[field->size - 1] & 15;
	if (!COB_FIELD_HAVE_SIGN (field)) {
		return hf_signed (text, count, 0, 0);
	}
	return hf_signed (text, count, 1, sign == 13 || sign == 11);
}

static size_t
hf_zoned (const cob_field *field, char *text)
{
	const char *letter;
	char *sign;

	if (COB_FIELD_CONSTANT (field) || field->size < 1 || field->size > HF_TEXT_MAX - 2) {
		return 0;
	}
	memcpy (text, field->data, field->size);
	if (!COB_FIELD_HAVE_SIGN (field) || COB_FIELD_SIGN_SEPARATE (field)) {
		return field->size;
	}
	sign = COB_FIELD_SIGN_LEADING (field) ? text : text + field->size - 1;
	if (*sign >= 'p' && *sign <= 'y') {
		*sign = HF_NEGATIVE[*sign - 'p'];
	} else if (*sign >= '0' && *sign <= '9') {
		*sign = HF_POSITIVE[*sign - '0'];
	}
#ifdef HF_SEPARATE_SIGNS
	if ((letter = strchr (HF_NEGATIVE, *sign)) != NULL && *letter) {
		*sign = (char) ('0' + (letter - HF_NEGATIVE));
		return hf_signed (text, field->size, 1, 1);
	}
	if ((letter = strchr (HF_POSITIVE, *sign)) != NULL && *letter) {
		*sign = (char) ('0' + (letter - HF_POSITIVE));
		return hf_signed (text, field->size, 1, 0);
	}
#else
	(void)letter;
#endif
	return field->size;
}

static size_t
hf_float (const cob_field *field, char *text)
{
	char made[HF_TEXT_MAX];
	int digits = field->size == sizeof (float) ? 8 : 17;
	int exponent = 0;
	double value;

	if (field->size == sizeof (float)) {
		float single;
		memcpy (&single, field->data, sizeof single);
		value = single;
	} else if (field->size == sizeof (double)) {
		memcpy (&value, field->data, sizeof value);
	} else {
		return 0;
	}
	/* [-]d.ddddddde[+-]xx becomes sign, .dddddddd, E, sign, xx with the exponent one higher. */
	snprintf (made, sizeof made, "%.*e", digits - 1, value < 0 ? -value : value);
	if (made[1] != '.' || sscanf (strchr (made, 'e') ? strchr (made, 'e') + 1 : "", "%d",
				      &exponent) != 1) {
		return 0;
	}
	if (value != 0) {
		exponent++;
	}
	made[1] = made[0];
	return (size_t) snprintf (text, HF_TEXT_MAX, "%c.%.*sE%c%02d", value < 0 ? '-' : ' ', digits,
				  made + 1, exponent < 0 ? '-' : ' ', exponent < 0 ? -exponent : exponent);
}

/* What an item is shown as; nothing if the run time is to show it. */
static size_t
hf_shown (const cob_field *field, char *text)
{
	if (field == NULL || field->data == NULL || field->attr == NULL) {
		return 0;
	}
	switch (COB_FIELD_TYPE (field)) {
	case COB_TYPE_NUMERIC_BINARY:
		return COB_FIELD_CONSTANT (field) ? 0 : hf_binary (field, text);
	case COB_TYPE_NUMERIC_PACKED:
		return hf_packed (field, text);
	case COB_TYPE_NUMERIC_DISPLAY:
		return hf_zoned (field, text);
	case COB_TYPE_NUMERIC_FLOAT:
	case COB_TYPE_NUMERIC_DOUBLE:
		return hf_float (field, text);
	default:
		return 0;
	}
}

static void __attribute__ ((unused))
hf_display (const int device, const int ends_line, const int count, ...)
{
	va_list list;
	int number;

	va_start (list, count);
	for (number = 1; number <= count; number++) {
		cob_field *field = va_arg (list, cob_field *);
		const int is_end = ends_line && number == count;
		char text[HF_TEXT_MAX];
		const size_t size = hf_shown (field, text);
		if (size == 0) {
			cob_display (device, is_end, 1, field);
		} else {
			const cob_field_attr attr = {COB_TYPE_ALPHANUMERIC, 0, 0, 0, NULL};
			cob_field shown = {size, (cob_u8_ptr) text, &attr};
			cob_display (device, is_end, 1, &shown);
		}
	}
	va_end (list);
	if (count == 0) {
		cob_display (device, ends_line, 0);
	}
}

#define cob_display hf_display
