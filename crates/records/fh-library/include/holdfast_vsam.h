/*
 * holdfast_vsam.h: clusters of a Holdfast system for programs in C, as VSAM has them.
 *
 * An ACB is a connection to a cluster or path. An RPL says what is wanted: holdfast_vsam_get,
 * _put, _point, _erase, _endreq. Each answers its return code, which stands in the RPL, too:
 *
 *   0   done; reason 8: another record has the same alternate key
 *   8   refused, nothing was changed; the reason says why, with VSAM's numbers: 4 end of data,
 *       8 duplicate, 12 out of sequence, 16 not found, 20 held by another, 28 no space, 32 no such
 *       address, 44 the area is too small (record_bytes says what is needed), 64 no string, 68 not
 *       open for this, 72 to 84 a kind of access that the cluster has not, 88 no position, 92 not
 *       read for update, 96 prime key changed, 100 and 108 length, 104 options, 112 length of a
 *       key, 116 being loaded, 144 no base record, 192 record number, 196 address
 *   12  something has failed beneath, or the system cannot be reached
 *
 * In a program that Holdfast runs (holdfast batch, message regions) requests are in the unit of
 * work of its DL/I calls. Any other program links with -lholdfast_fh: names such as
 * "#VSAM.#CICS.BANK/ACCOUNT" are files of the started system BANK, other names are those of the
 * catalog of the system whose folder HOLDFAST_SYSTEM names. There each change is made by itself,
 * and is durable when the ACB is closed, unless the program begins a unit of work.
 *
 * A record that was got with HOLDFAST_UPD stays locked to the next request through the same string
 * (in a unit of work: to its end). Nothing here may be called by two threads at once for one ACB.
 */
#ifndef HOLDFAST_VSAM_H
#define HOLDFAST_VSAM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What an ACB is opened for. */
#define HOLDFAST_IN     0u
#define HOLDFAST_OUT    1u      /* load: keys ascend; the cluster is empty or reusable */
#define HOLDFAST_INOUT  2u
#define HOLDFAST_EXTEND 3u
#define HOLDFAST_RST    0x100u  /* with it: a reusable cluster is emptied */

/* Options of an RPL. Without KEY and ADR: as the cluster has it. Without DIR and SKP: the next. */
#define HOLDFAST_KEY 0x001u
#define HOLDFAST_ADR 0x002u
#define HOLDFAST_DIR 0x004u
#define HOLDFAST_SKP 0x008u
#define HOLDFAST_GEN 0x010u     /* the argument is the begin of a key */
#define HOLDFAST_KGE 0x020u     /* the first that is not less */
#define HOLDFAST_BWD 0x040u
#define HOLDFAST_UPD 0x080u
#define HOLDFAST_NSP 0x100u     /* a direct request keeps its place for sequential ones */
#define HOLDFAST_LRD 0x200u     /* the last record */

/* How a cluster orders its records. */
#define HOLDFAST_KSDS  0
#define HOLDFAST_ESDS  1
#define HOLDFAST_RRDS  2
#define HOLDFAST_VRRDS 3
#define HOLDFAST_LDS   4

typedef struct holdfast_acb holdfast_acb;

/* What OPEN says. */
typedef struct holdfast_acb_info {
    uint32_t return_code;
    uint32_t reason;            /* of 8: 148 no such entry, 160 mode, 168 in use, 188 not built, */
                                /* 244 not empty */
    uint32_t organization;
    uint32_t key_offset;        /* of the path's key, if it is a path */
    uint32_t key_bytes;         /* 0: it has no key */
    uint32_t record_bytes_max;
} holdfast_acb_info;

typedef struct holdfast_rpl {
    holdfast_acb *acb;
    void *area;                 /* the record */
    const void *arg;            /* a key; a record number or address: uint32_t or uint64_t */
    uint64_t number;            /* answered: the record's address or number */
    uint32_t area_bytes;
    uint32_t record_bytes;      /* of PUT; answered by GET */
    uint32_t arg_bytes;
    uint32_t options;
    uint32_t string;            /* 0 to 65535: each has a place of its own */
    uint8_t return_code;        /* answered */
    uint8_t component;          /* 0 base, 2 alternate index, 4 upgrade set */
    uint8_t reason;
    uint8_t reserved;
} holdfast_rpl;

/* `name` is a DD name, "//DATA.SET", or the name of a data set. `strings` 0: any number. `info` may
 * be null. */
int holdfast_vsam_open(const char *name, uint32_t mode, uint32_t strings, holdfast_acb **acb,
                       holdfast_acb_info *info);
int holdfast_vsam_close(holdfast_acb *acb);

int holdfast_vsam_get(holdfast_rpl *rpl);
int holdfast_vsam_put(holdfast_rpl *rpl);
int holdfast_vsam_point(holdfast_rpl *rpl);
int holdfast_vsam_erase(holdfast_rpl *rpl);
int holdfast_vsam_endreq(holdfast_rpl *rpl);

/* A unit of work over all ACBs of the same system. Programs that Holdfast runs have that of their
 * calls: 8. */
int holdfast_vsam_begin(holdfast_acb *acb);
int holdfast_vsam_commit(holdfast_acb *acb);
int holdfast_vsam_backout(holdfast_acb *acb);

#ifdef __cplusplus
}
#endif

#endif
