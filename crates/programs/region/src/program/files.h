/* Files of COBOL programs go to our handler. What the compiler calls for them comes here first:

   | what | why |
   |---|---|
   | LINAGE, and the terminal | the run time's own: a control block does not tell of a page's end |
   | a relative file without RELATIVE KEY | gets an item for its number, which the run time reads |
   | SORT and MERGE, USING and GIVING | through the handler, like all files; what fails is told |
   | RELEASE and RETURN | counted: a sort that has lost records ends the program |
   | CANCEL and the end of a program | close what the handler has open |
   | DELETE FILE | asks the handler |  */

extern int HOLDFASTFH (unsigned char *opcode, FCD3 *fcd);

#define HF_UNUSED __attribute__ ((unused))

static HF_UNUSED int
hf_is_own (const cob_file *file)
{
	return (file->flag_select_features & COB_SELECT_LINAGE) || COB_FILE_SPECIAL (file);
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

static HF_UNUSED void
hf_open (cob_file *file, const int mode, const int sharing, cob_field *status)
{
	if (hf_is_own (file)) {
		cob_open (file, mode, sharing, status);
	} else {
		cob_extfh_open (HOLDFASTFH, hf_ready (file), mode, sharing, status);
	}
}

static HF_UNUSED void
hf_close (cob_file *file, cob_field *status, const int opt, const int remove)
{
	if (hf_is_own (file)) {
		cob_close (file, status, opt, remove);
	} else {
		cob_extfh_close (HOLDFASTFH, file, status, opt, remove);
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
	}
}

static HF_UNUSED void
hf_read_next (cob_file *file, cob_field *status, const int opt)
{
	if (hf_is_own (file)) {
		cob_read_next (file, status, opt);
	} else {
		cob_extfh_read_next (HOLDFASTFH, hf_ready (file), status, opt);
	}
}

static HF_UNUSED void
hf_write (cob_file *file, cob_field *record, const int opt, cob_field *status,
	  const unsigned int check_eop)
{
	if (hf_is_own (file)) {
		cob_write (file, record, opt, status, check_eop);
	} else {
		cob_extfh_write (HOLDFASTFH, hf_ready (file), record, opt, status, check_eop);
	}
}

static HF_UNUSED void
hf_rewrite (cob_file *file, cob_field *record, const int opt, cob_field *status)
{
	if (hf_is_own (file)) {
		cob_rewrite (file, record, opt, status);
	} else {
		cob_extfh_rewrite (HOLDFASTFH, hf_ready (file), record, opt, status);
	}
}

static HF_UNUSED void
hf_delete (cob_file *file, cob_field *status)
{
	cob_extfh_delete (HOLDFASTFH, hf_ready (file), status);
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
	case COB_ORG_INDEXED:
		cob_delete_file (file, status);
		return;
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

/* A record of one file becomes one of another: cut, or with blanks behind it. */
static HF_UNUSED void
hf_copy (cob_file *to, const cob_file *from)
{
	size_t size = from->record->size;

	if (size > to->record->size) {
		size = to->record->size;
	}
	memmove (to->record->data, from->record->data, size);
	memset (to->record->data + size, ' ', to->record->size - size);
}

/* What one SORT or MERGE has been given and has given back, and its SORT-RETURN. */
static HF_UNUSED struct {
	long released;
	long returned;
	int *result;
} hf_sort;

static HF_UNUSED void
hf_sort_init (void *result)
{
	hf_sort.released = 0;
	hf_sort.returned = 0;
	hf_sort.result = result;
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
	cob_file_release (sort);
	hf_sort.released++;
}

/* The run time does not notice that its work files could not be written. */
static HF_UNUSED void
hf_return (cob_file *sort)
{
	cob_file_return (sort);
	if (sort->file_status[0] == '0') {
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
	hf_open (file, COB_OPEN_INPUT, 0, NULL);
	if (hf_sort_file_failed (file)) {
		return;
	}
	for (;;) {
		hf_read_next (file, NULL, COB_READ_NEXT);
		if (file->file_status[0] == '1' || hf_sort_file_failed (file)) {
			break;
		}
		hf_copy (sort, file);
		hf_release (sort);
	}
	hf_close (file, NULL, COB_CLOSE_NORMAL, 0);
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
			hf_write (file, file->record, opt, NULL, 0);
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
		hf_open (files[at], COB_OPEN_OUTPUT, 0, NULL);
		failed |= hf_sort_file_failed (files[at]);
	}
	if (!failed) {
		hf_sort_write (sort, count, files);
	}
	for (at = 0; at < count; at++) {
		if (files[at]->open_mode != COB_OPEN_CLOSED) {
			hf_close (files[at], NULL, COB_CLOSE_NORMAL, 0);
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
#define cob_extfh_delete(handler, file, status) hf_delete (file, status)
#define cob_close(file, status, opt, remove) hf_close_left (file, status, opt, remove)
#define cob_delete_file(file, status) hf_delete_file (file, status)
#define cob_file_sort_using(sort, file) hf_sort_using (sort, file)
#define cob_file_sort_giving(sort, count, ...) \
	hf_sort_giving (sort, count, (cob_file *[]){__VA_ARGS__})
#define cob_file_sort_init(sort, keys, collating, result, status) \
	(hf_sort_init (result), cob_file_sort_init (sort, keys, collating, result, status))
#define cob_file_release(sort) hf_release (sort)
#define cob_file_return(sort) hf_return (sort)
