/* libholdfast: DL/I calls of programs that are executables of their own.
 *
 * A program in any language that can call a C library is a program of a system: in a region, as a
 * transaction's program, or as a batch message program (holdfast batch --type bmp). The system
 * starts it; it begins by hf_begin(), makes its calls, and ends.
 *
 *   its end                                          its unit of work
 *   hf_end(1), or exit status 0 without a word       is committed
 *   hf_end(0), another exit status, a signal         is backed out
 *
 * A program for messages asks for one after the other until there is none (status QC), and ends:
 *
 *   unsigned char area[1024];
 *   hf_answer answer;
 *   if (hf_begin() != 0) { puts(hf_error()); return 1; }
 *   while (hf_call("GU", 0, area, 0, sizeof area, NULL, 0, NULL, 0, &answer) == 0
 *          && answer.status[0] == ' ') {
 *     ... area holds LL ZZ data; build LL ZZ data of the reply ...
 *     hf_call("ISRT", 0, area, length, length, NULL, 0, NULL, 0, &answer);
 *   }
 *   return hf_end(1);
 *
 * Lengths in messages and in segments of variable length (LL) have two bytes, the most significant
 * one first. Texts are ASCII. Calls come one after the other, from whatever threads; a copy of the
 * process (fork) makes none.
 */
#ifndef HOLDFAST_H
#define HOLDFAST_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that are lent to a call. */
typedef struct hf_bytes {
  void *bytes;
  int32_t length;
} hf_bytes;

/* What a call came to. */
typedef struct hf_answer {
  char status[4];          /* two characters, blank if all is well, and a zero */
  char segment[12];        /* the segment that the PCB shows, eight characters, and a zero */
  int32_t level;           /* its level */
  int32_t area_length;     /* how much of the area the call has set */
  int32_t key_length;      /* how much of the key there is */
  unsigned char key[256];  /* the key feedback */
} hf_answer;

/* Begins. 0, or -1 if this process was not started as a program of a system. Beginning twice is
 * beginning once. */
int hf_begin(void);

/* How many PCBs there are. Number 0 is the I/O PCB. */
int hf_pcbs(void);

/* The number of the PCB with that name, or else of the first one for a database, terminal or
 * transaction of that name; -1 if there is none. */
int hf_pcb(const char *name);

/* Makes a call: GU, GHN, ISRT, CHKP, ... for a PCB.
 *
 *   area, given, room   the I/O area, how many bytes of it the call is to see, and how many there
 *                       are: a call never sets more than that. NULL, 0, 0 if there is none.
 *   ssas, ssa_count     search arguments, each exactly as long as it is
 *   more, more_count    further parameters: areas of CHKP and XRST, a MOD name, an RSA. What the
 *                       call sets of them it puts back, as far as they have room.
 *
 * 0 if the call was made: the answer's status says what it came to. -1 if it was not, and hf_error
 * says why. A call that ends programs (ROLL, a lost system) does not come back. */
int hf_call(const char *function, int pcb, void *area, int32_t given, int32_t room,
            const hf_bytes *ssas, int32_t ssa_count, const hf_bytes *more, int32_t more_count,
            hf_answer *answer);

/* The mask of a PCB in memory, for hf_dli and CTDLI; NULL if there is none of that number. Its
 * binary fields have the machine's order of bytes. */
void *hf_mask(int pcb);

/* Makes a call as programs on the host do: count parameters, of which the first is the function's
 * four characters, the second a PCB's mask or an AIB, the third the area. Without an AIB the area
 * has to be as long as the call needs. C programs may call CTDLI instead. */
int hf_dli(int count, void *const *parameters);

/* Ends the program's work: commits it, or backs it out if commit is 0. 0, or -1 if it was not
 * committed though it was to be. */
int hf_end(int commit);

/* What went wrong last, for people. It stays until the next call of this library. */
const char *hf_error(void);

#ifdef __cplusplus
}
#endif

#endif
