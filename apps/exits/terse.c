/* A message exit for terse clients: *TERSE1*.
 *
 * A client sends          LLLL(4), flags(1), client id length(1), text length(2), *TERSE1*(8),
 *                         client id, text, and whatever else until there are 88 bytes
 * and gets                LLLL(4), return code(1), text; or, for a status, return code and the
 *                         reason code in decimal
 *
 * flags: 01 the transaction's reply is confirmed by nobody and nothing is queued (mode 1), which is
 * all that there is here; others are refused.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast_exit.h"

#define HEAD 16
/* LLLL and a header of level 0. */
#define IRM_BYTES 80
#define DATA_STORE "HOLDFAST"
#define WRONG_BUFFER 0x09
#define WRONG_LENGTH 0x07
#define NO_DATA 0x0C

static void put4(unsigned char *to, uint32_t value) {
  for (int at = 0; at < 4; at++) to[at] = (unsigned char)(value >> (24 - 8 * at));
}

int hfx_init(char id[8]) {
  memcpy(id, "*TERSE1*", 8);
  return HFX_VERSION;
}

int hfx_read(const unsigned char *message, uint32_t length, int ebcdic, hfx_room *request) {
  if (ebcdic || length < HEAD || message[4] != 1) return WRONG_BUFFER;
  uint32_t named = message[5];
  if (named > 8 || HEAD + named > length) return WRONG_LENGTH;
  uint32_t text = (uint32_t)message[6] << 8 | message[7];
  if (text > length - HEAD - named) return WRONG_LENGTH;
  if (text == 0) return NO_DATA;
  if (text > 32763) return WRONG_LENGTH;
  request->length = 4 + IRM_BYTES + 4 + text + 4;
  if (request->length > request->room) return HFX_MORE;
  unsigned char *to = request->bytes;
  memset(to, ' ', 4 + IRM_BYTES);
  put4(to, request->length);
  memset(to + 4, 0, 20);
  to[5] = IRM_BYTES;
  memcpy(to + 8, "*SAMPL1*", 8);
  to[21] = 0xFF; /* the client waits as long as it takes */
  to[22] = 0x10; /* the connection stays */
  memcpy(to + 24, message + HEAD, named);
  memset(to + 32, 0, 3);
  to[33] = 0x20; /* mode 1 */
  memcpy(to + 44, DATA_STORE, 8);
  unsigned char *segment = to + 4 + IRM_BYTES;
  put4(segment, (text + 4) << 16);
  memcpy(segment + 4, message + HEAD + named, text);
  put4(segment + 4 + text, 4u << 16);
  return HFX_DONE;
}

int hfx_write(const unsigned char *response, uint32_t length, int ebcdic, hfx_room *bytes) {
  (void)ebcdic;
  char said[32];
  unsigned code = 0;
  uint32_t text = 0;
  const unsigned char *from = response;
  /* The first segment is the reply; the last says how it went. */
  uint32_t at = 4;
  while (at + 4 <= length) {
    uint32_t ll = (uint32_t)response[at] << 8 | response[at + 1];
    if (ll < 4 || at + ll > length) return WRONG_LENGTH;
    if (ll >= 12 && memcmp(response + at + 4, "*CSMOKY*", 8) == 0) break;
    if (ll == 20 && memcmp(response + at + 4, "*REQSTS*", 8) == 0) {
      code = response[at + 15];
      text = (uint32_t)snprintf(said, sizeof said, "%u", (unsigned)response[at + 19]);
      from = (const unsigned char *)said;
      break;
    }
    if (text == 0) {
      from = response + at + 4;
      text = ll - 4;
    }
    at += ll;
  }
  bytes->length = 5 + text;
  if (bytes->length > bytes->room) return HFX_MORE;
  put4(bytes->bytes, bytes->length);
  bytes->bytes[4] = (unsigned char)code;
  memcpy(bytes->bytes + 5, from, text);
  return HFX_DONE;
}
