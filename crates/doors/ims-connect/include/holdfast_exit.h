/* Message exits of IMS Connect in C: how the bytes of a client become a request, and a response its
 * bytes.
 *
 * An exit is a shared library that exports the three functions below. `exits` in the section
 * [online] of holdfast.toml names it. It is for the clients whose messages have its id in bytes 8 to
 * 15; an id that the system knows itself (*SAMPLE*, *SAMPL1*) may be taken over.
 *
 *   of the client's own form                     is not the exit's affair
 *   bytes 0 to 3: the message's length, LLLL,    bytes are complete when the exit gets them
 *   counting itself, most significant byte first; a message has 88 bytes at least
 *   bytes 8 to 15: the exit's id                 ASCII or EBCDIC, by which the code page of all of
 *                                                the message is told
 *
 * All else of a message is between the client and its exit. The exit makes of it what a client of
 * *SAMPL1* sends (LLLL, header, segments, 00 04 00 00), in the same code page; and of what such a
 * client gets (LLLL, segments, *CSMOKY* or *REQSTS*) what its own client gets.
 *
 * An exit is called by threads that serve many clients, by several at a time: it computes, keeps
 * nothing between calls that is not guarded, and does not wait. It is part of the system, not a
 * guest of it: what it does wrong with memory, the system does.
 */
#ifndef HOLDFAST_EXIT_H
#define HOLDFAST_EXIT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface. */
#define HFX_VERSION 1

/* What hfx_read and hfx_write answer. */
#define HFX_DONE 0
/* There is not room enough: *length says how much is needed, and the call comes once more. */
#define HFX_MORE (-1)
/* Other answers of hfx_read are reason codes, which the client gets with return code 04: 04 too
 * long, 06 header's length, 07 lengths that do not agree, 09 a wrong buffer, 0C no data. */

/* Where bytes are to be put. */
typedef struct hfx_room {
  unsigned char *bytes;
  uint32_t room;    /* how many fit */
  uint32_t length;  /* how many were put, or are needed */
} hfx_room;

/* Called once, before anything else: answers HFX_VERSION as the exit knows it, and puts its id,
 * eight characters in ASCII. */
int hfx_init(char id[8]);

/* Makes a request of a client's message. ebcdic: the message is in EBCDIC. */
int hfx_read(const unsigned char *message, uint32_t length, int ebcdic, hfx_room *request);

/* Makes a client's bytes of a response. Another answer than HFX_DONE and HFX_MORE ends the
 * connection. */
int hfx_write(const unsigned char *response, uint32_t length, int ebcdic, hfx_room *bytes);

#ifdef __cplusplus
}
#endif

#endif
