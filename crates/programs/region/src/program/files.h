/* Files of COBOL programs go to our handler. What the compiler calls for them comes here first:

   | what | why |
   |---|---|
   | the terminal | the run time's own |
   | LINAGE | pages are counted here; the handler writes lines |
   | a relative file without RELATIVE KEY | gets an item for its number, which the run time reads |
   | SORT and MERGE, USING and GIVING | through the handler, like all files; what fails is told |
   | records of different lengths in a SORT | keep their lengths |
   | FILE STATUS with a second item | gets what VSAM has said |
   | RELEASE and RETURN | counted: a sort that has lost records ends the program |
   | CANCEL and the end of a program | close what the handler has open |
   | DELETE FILE | asks the handler |  */

#include <stdlib.h>

extern int HOLDFASTFH (unsigned char *opcode, FCD3 *fcd);
extern void HOLDFASTFB (unsigned char *feedback);

#define HF_UNUSED __attribute__ ((unused))
/* What the program looks for behind a WRITE with AT END-OF-PAGE. */
#define HF_END_OF_PAGE 0x0502

static HF_UNUSED int
hf_is_own (const cob_file *file)
{
	return COB_FILE_SPECIAL (file);
}

/* What the program has said of a file, which the run time's structure does not tell. */
struct hf_file {
	const cob_file *file;
	cob_field *status;
	cob_u8_ptr feedback;
};

static HF_UNUSED struct {
	struct hf_file *all;
	size_t count;
} hf_files;

static HF_UNUSED struct hf_file *
hf_find (const cob_file *file)
{
	size_t at;

	for (at = 0; at < hf_files.count; at++) {
		if (hf_files.all[at].file == file) {
			return &hf_files.all[at];
		}
	}
	return NULL;
}

/* Called for each file when its program is set up. */
static HF_UNUSED void
hf_known (const cob_file *file, cob_field *status, cob_u8_ptr feedback)
{
	struct hf_file *known = hf_find (file);
	struct hf_file *more;

	if (!known) {
		more = realloc (hf_files.all, (hf_files.count + 1) * sizeof (*more));
		if (!more) {
			return;
		}
		hf_files.all = more;
		known = &more[hf_files.count++];
	}
	known->file = file;
	known->status = status;
	known->feedback = feedback;
}

static HF_UNUSED cob_field *
hf_status (const cob_file *file)
{
	const struct hf_file *known = hf_find (file);

	return known ? known->status : NULL;
}

/* Brings what VSAM has said to the second item of FILE STATUS: return code, function, feedback. */
static HF_UNUSED void
hf_tell (const cob_file *file)
{
	const struct hf_file *known = hf_find (file);

	if (known && known->feedback) {
		HOLDFASTFB (known->feedback);
	}
}

static HF_UNUSED cob_file *
hf_ready (cob_file *file)
{
	static const cob_field_attr number_attr =
		{COB_TYPE_NUMERIC_BINARY, 9, 0, COB_FLAG_HAVE_SIGN | COB_FLAG_REAL_BINARY, NULL};
	static int number = 0;
	static cob_field number_field = {sizeof (number), (cob_u8_ptr)&number, &number_attr};

	if (file->organization == COB_ORG_RELATIVE && file->keys && !file->keys[0].field) {
		file->keys[0].field = &number_field;
	}
	return file;
}

/* The lines of a page, which items of the program say anew for each one. */
static HF_UNUSED void
hf_page (cob_linage *page)
{
	page->lin_lines = cob_get_int (page->linage);
	page->lin_foot = page->latfoot ? cob_get_int (page->latfoot) : 0;
	page->lin_top = page->lattop ? cob_get_int (page->lattop) : 0;
	page->lin_bot = page->latbot ? cob_get_int (page->latbot) : 0;
	if (page->lin_lines < 1) {
		page->lin_lines = 1;
	}
	if (page->lin_top < 0) {
		page->lin_top = 0;
	}
	if (page->lin_bot < 0) {
		page->lin_bot = 0;
	}
	if (page->lin_foot < 1 || page->lin_foot > page->lin_lines) {
		page->lin_foot = 0;
	}
}

static HF_UNUSED void
hf_first_page (cob_file *file)
{
	cob_linage *page = file->linorkeyptr;

	if (file->file_status[0] == '0') {
		hf_page (page);
		cob_set_int (page->linage_ctr, 1);
		file->flag_needs_top = 1;
	}
}

/* Lines that are blank at the first page's top: what WRITE says is for the record itself. */
static HF_UNUSED void
hf_top (cob_file *file, cob_field *status)
{
	const cob_linage *page = file->linorkeyptr;
	const size_t size = file->record_max;
	unsigned char *kept;

	file->flag_needs_top = 0;
	if (page->lin_top == 0 || !(kept = malloc (size))) {
		return;
	}
	memcpy (kept, file->record->data, size);
	memset (file->record->data, ' ', size);
	cob_extfh_write (HOLDFASTFH, file, file->record,
			 COB_WRITE_BEFORE | COB_WRITE_LINES | page->lin_top, status, 0);
	memcpy (file->record->data, kept, size);
	free (kept);
}

/* The lines from the current one to the first one of the next page, which begins. */
static HF_UNUSED int
hf_next_page (cob_linage *page, const int line)
{
	const int rest = page->lin_lines - line + 1 + page->lin_bot;

	hf_page (page);
	return rest + page->lin_top;
}

static HF_UNUSED void
hf_write_on_page (cob_file *file, cob_field *record, const int opt, cob_field *status,
		  const unsigned int check_eop)
{
	cob_linage *page = file->linorkeyptr;
	int line = cob_get_int (page->linage_ctr);
	int lines = (opt & COB_WRITE_LINES) ? (opt & COB_WRITE_MASK) : 1;
	int eop = 0;

	if (file->open_mode == COB_OPEN_CLOSED || file->open_mode == COB_OPEN_LOCKED) {
		cob_extfh_write (HOLDFASTFH, file, record, opt, status, 0);
		return;
	}
	if (file->flag_needs_top) {
		hf_top (file, status);
	}
	if (opt & COB_WRITE_PAGE) {
		lines = hf_next_page (page, line);
		line = 1;
	} else if (line + lines > page->lin_lines) {
		lines = hf_next_page (page, line);
		line = 1;
		eop = 1;
	} else {
		line += lines;
		eop = page->lin_foot && line >= page->lin_foot;
	}
	cob_extfh_write (HOLDFASTFH, file, record,
			 (opt & (COB_WRITE_AFTER | COB_WRITE_BEFORE)) | COB_WRITE_LINES | lines,
			 status, 0);
	if (file->file_status[0] != '0') {
		return;
	}
	cob_set_int (page->linage_ctr, line);
	if (eop && check_eop) {
		cob_get_global_ptr ()->cob_exception_code = HF_END_OF_PAGE;
	}
}

static HF_UNUSED void
hf_open (cob_file *file, const int mode, const int sharing, cob_field *status)
{
	if (hf_is_own (file)) {
		cob_open (file, mode, sharing, status);
	} else {
		cob_extfh_open (HOLDFASTFH, hf_ready (file), mode, sharing, status);
		hf_tell (file);
		if (file->flag_select_features & COB_SELECT_LINAGE) {
			hf_first_page (file);
		}
	}
}

static HF_UNUSED void
hf_close (cob_file *file, cob_field *status, const int opt, const int remove)
{
	if (hf_is_own (file)) {
		cob_close (file, status, opt, remove);
	} else {
		cob_extfh_close (HOLDFASTFH, file, status, opt, remove);
		hf_tell (file);
	}
}

/* No program waits for the status of such a CLOSE: the handler keeps it for the program's end. */
#define HF_IMPLICIT 0x100

/* What the run time closes: files that nobody has opened are none of the handler's. */
static HF_UNUSED void
hf_close_left (cob_file *file, cob_field *status, const int opt, const int remove)
{
	if (file->open_mode == COB_OPEN_CLOSED || hf_is_own (file)) {
		cob_close (file, status, opt, remove);
	} else {
		cob_extfh_close (HOLDFASTFH, file, status, HF_IMPLICIT, remove);
	}
}

static HF_UNUSED void
hf_read (cob_file *file, cob_field *key, cob_field *status, const int opt)
{
	if (hf_is_own (file)) {
		cob_read (file, key, status, opt);
	} else {
		cob_extfh_read (HOLDFASTFH, hf_ready (file), key, status, opt);
		hf_tell (file);
	}
}

static HF_UNUSED void
hf_read_next (cob_file *file, cob_field *status, const int opt)
{
	if (hf_is_own (file)) {
		cob_read_next (file, status, opt);
	} else {
		cob_extfh_read_next (HOLDFASTFH, hf_ready (file), status, opt);
		hf_tell (file);
	}
}

static HF_UNUSED void
hf_write (cob_file *file, cob_field *record, const int opt, cob_field *status,
	  const unsigned int check_eop)
{
	if (hf_is_own (file)) {
		cob_write (file, record, opt, status, check_eop);
	} else if (file->flag_select_features & COB_SELECT_LINAGE) {
		hf_write_on_page (file, record, opt, status, check_eop);
	} else {
		cob_extfh_write (HOLDFASTFH, hf_ready (file), record, opt, status, check_eop);
		hf_tell (file);
	}
}

static HF_UNUSED void
hf_rewrite (cob_file *file, cob_field *record, const int opt, cob_field *status)
{
	if (hf_is_own (file)) {
		cob_rewrite (file, record, opt, status);
	} else {
		cob_extfh_rewrite (HOLDFASTFH, hf_ready (file), record, opt, status);
		hf_tell (file);
	}
}

static HF_UNUSED void
hf_delete (cob_file *file, cob_field *status)
{
	cob_extfh_delete (HOLDFASTFH, hf_ready (file), status);
	hf_tell (file);
}

static HF_UNUSED void
hf_start (cob_file *file, const int condition, cob_field *key, cob_field *length,
	  cob_field *status)
{
	cob_extfh_start (HOLDFASTFH, file, condition, key, length, status);
	hf_tell (file);
}

static HF_UNUSED void
hf_delete_file (cob_file *file, cob_field *status)
{
	unsigned char opcode[2] = {0xFA, 0xF8};
	size_t length;
	FCD3 fcd;

	if (hf_is_own (file) || !file->assign) {
		cob_delete_file (file, status);
		return;
	}
	memset (&fcd, 0, sizeof (fcd));
	fcd.fcdLen[1] = sizeof (fcd);
	fcd.fcdVer = FCD_VER_64Bit;
	switch (file->organization) {
	case COB_ORG_SEQUENTIAL: fcd.fileOrg = ORG_SEQ; break;
	case COB_ORG_RELATIVE: fcd.fileOrg = ORG_RELATIVE; break;
	case COB_ORG_INDEXED: fcd.fileOrg = ORG_INDEXED; break;
	default: fcd.fileOrg = ORG_LINE_SEQ; break;
	}
	if (file->open_mode != COB_OPEN_CLOSED) {
		memcpy (fcd.fileStatus, "41", 2);
	} else {
		length = file->assign->size;
		fcd.fnamePtr = (char *)file->assign->data;
		fcd.fnameLen[0] = (unsigned char)(length >> 8);
		fcd.fnameLen[1] = (unsigned char)length;
		HOLDFASTFH (opcode, &fcd);
	}
	memcpy (file->file_status, fcd.fileStatus, 2);
	if (status) {
		memcpy (status->data, fcd.fileStatus, 2);
	}
}

/* What one SORT or MERGE has been given and has given back, and its SORT-RETURN. */
static HF_UNUSED struct {
	long released;
	long returned;
	int *result;
	/* Where a record stands with its length behind it, if lengths differ. */
	unsigned char *wide;
} hf_sort;

/* The length of a file's record now: what its item says, else that of the record itself. */
static HF_UNUSED size_t
hf_length (const cob_file *file)
{
	size_t size = file->record->size;

	if (file->variable_record) {
		const int said = cob_get_int (file->variable_record);
		size = said < 0 ? 0 : (size_t)said;
	}
	if (size < file->record_min) {
		size = file->record_min;
	}
	return size > file->record_max ? file->record_max : size;
}

static HF_UNUSED void
hf_set_length (cob_file *file, size_t size)
{
	if (file->record_min == file->record_max) {
		size = file->record_max;
	} else if (size < file->record_min) {
		size = file->record_min;
	} else if (size > file->record_max) {
		size = file->record_max;
	}
	file->record->size = size;
	if (file->variable_record) {
		cob_set_int (file->variable_record, (int)size);
	}
}

/* A record of one file becomes one of another: cut, or with blanks behind it. */
static HF_UNUSED void
hf_copy (cob_file *to, const cob_file *from)
{
	const size_t given = hf_length (from);
	const size_t size = given < to->record_max ? given : to->record_max;

	memmove (to->record->data, from->record->data, size);
	memset (to->record->data + size, ' ', to->record_max - size);
	hf_set_length (to, given);
}

static HF_UNUSED void
hf_sort_init (cob_file *sort, const unsigned int keys, const unsigned char *collating,
	      void *result, cob_field *status)
{
	hf_sort.released = 0;
	hf_sort.returned = 0;
	hf_sort.result = result;
	free (hf_sort.wide);
	hf_sort.wide = NULL;
	if (sort->record_min != sort->record_max) {
		hf_sort.wide = malloc (sort->record_max + sizeof (size_t));
	}
	if (hf_sort.wide) {
		/* The sort keeps as many bytes of each record as the file says now. */
		sort->record_max += sizeof (size_t);
		cob_file_sort_init (sort, keys, collating, result, status);
		sort->record_max -= sizeof (size_t);
	} else {
		cob_file_sort_init (sort, keys, collating, result, status);
	}
}

/* A file of USING or GIVING has failed: the program ends, as it does at a READ or WRITE, unless it
   looks at the file's status; then it finds 16 in SORT-RETURN. */
static HF_UNUSED int
hf_sort_file_failed (cob_file *file)
{
	if (file->file_status[0] == '0') {
		return 0;
	}
	if (!(file->flag_select_features & COB_SELECT_FILE_STATUS)) {
		cob_fatal_error (COB_FERROR_FILE);
	}
	if (hf_sort.result) {
		*hf_sort.result = 16;
	}
	return 1;
}

static HF_UNUSED void
hf_release (cob_file *sort)
{
	unsigned char *record = sort->record->data;

	if (hf_sort.wide) {
		const size_t size = hf_length (sort);
		memcpy (hf_sort.wide, record, sort->record_max);
		memcpy (hf_sort.wide + sort->record_max, &size, sizeof (size));
		sort->record->data = hf_sort.wide;
	}
	cob_file_release (sort);
	sort->record->data = record;
	hf_sort.released++;
}

/* The run time does not notice that its work files could not be written. */
static HF_UNUSED void
hf_return (cob_file *sort)
{
	unsigned char *record = sort->record->data;

	if (hf_sort.wide) {
		sort->record->data = hf_sort.wide;
	}
	cob_file_return (sort);
	sort->record->data = record;
	if (sort->file_status[0] == '0') {
		if (hf_sort.wide) {
			size_t size;
			memcpy (record, hf_sort.wide, sort->record_max);
			memcpy (&size, hf_sort.wide + sort->record_max, sizeof (size));
			hf_set_length (sort, size);
		}
		hf_sort.returned++;
	} else if (hf_sort.returned != hf_sort.released) {
		cob_runtime_error ("SORT has lost %ld of %ld records: its work files could not be "
				   "written; make room where TMPDIR is",
				   hf_sort.released - hf_sort.returned, hf_sort.released);
		cob_stop_run (1);
	}
}

static HF_UNUSED void
hf_sort_using (cob_file *sort, cob_file *file)
{
	hf_open (file, COB_OPEN_INPUT, 0, hf_status (file));
	if (hf_sort_file_failed (file)) {
		return;
	}
	for (;;) {
		hf_read_next (file, hf_status (file), COB_READ_NEXT);
		if (file->file_status[0] == '1' || hf_sort_file_failed (file)) {
			break;
		}
		hf_copy (sort, file);
		hf_release (sort);
	}
	hf_close (file, hf_status (file), COB_CLOSE_NORMAL, 0);
	hf_sort_file_failed (file);
}

/* Writes what the sort gives back to every file; stops at the first one that fails. */
static HF_UNUSED void
hf_sort_write (cob_file *sort, const size_t count, cob_file **files)
{
	size_t at;

	for (;;) {
		hf_return (sort);
		if (sort->file_status[0] != '0') {
			return;
		}
		for (at = 0; at < count; at++) {
			cob_file *file = files[at];
			const int is_lines = file->organization == COB_ORG_LINE_SEQUENTIAL;
			const int opt = is_lines ? COB_WRITE_BEFORE | COB_WRITE_LINES | 1 : 0;

			hf_copy (file, sort);
			hf_write (file, file->record, opt, hf_status (file), 0);
			if (hf_sort_file_failed (file)) {
				return;
			}
		}
	}
}

static HF_UNUSED void
hf_sort_giving (cob_file *sort, const size_t count, cob_file **files)
{
	size_t at;
	int failed = hf_sort.result && *hf_sort.result != 0;

	for (at = 0; at < count; at++) {
		hf_open (files[at], COB_OPEN_OUTPUT, 0, hf_status (files[at]));
		failed |= hf_sort_file_failed (files[at]);
	}
	if (!failed) {
		hf_sort_write (sort, count, files);
	}
	for (at = 0; at < count; at++) {
		if (files[at]->open_mode != COB_OPEN_CLOSED) {
			hf_close (files[at], hf_status (files[at]), COB_CLOSE_NORMAL, 0);
			hf_sort_file_failed (files[at]);
		}
	}
}

#define cob_extfh_open(handler, file, mode, sharing, status) \
	hf_open (file, mode, sharing, status)
#define cob_extfh_close(handler, file, status, opt, remove) hf_close (file, status, opt, remove)
#define cob_extfh_read(handler, file, key, status, opt) hf_read (file, key, status, opt)
#define cob_extfh_read_next(handler, file, status, opt) hf_read_next (file, status, opt)
#define cob_extfh_write(handler, file, record, opt, status, eop) \
	hf_write (file, record, opt, status, eop)
#define cob_extfh_rewrite(handler, file, record, opt, status) \
	hf_rewrite (file, record, opt, status)
#define cob_extfh_start(handler, file, condition, key, length, status) \
	hf_start (file, condition, key, length, status)
#define cob_extfh_delete(handler, file, status) hf_delete (file, status)
#define cob_close(file, status, opt, remove) hf_close_left (file, status, opt, remove)
#define cob_delete_file(file, status) hf_delete_file (file, status)
#define cob_file_sort_using(sort, file) hf_sort_using (sort, file)
#define cob_file_sort_giving(sort, count, ...) \
	hf_sort_giving (sort, count, (cob_file *[]){__VA_ARGS__})
#define cob_file_sort_init(sort, keys, collating, result, status) \
	hf_sort_init (sort, keys, collating, result, status)
#define cob_file_release(sort) hf_release (sort)
#define cob_file_return(sort) hf_return (sort)
