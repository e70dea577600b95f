"""The message queue interface for Python, as much of it as the orders need: ctypes and libmqm_r.so.

Structures are those of cmqc.h in their first versions, as on Linux x86-64.
"""

import ctypes
import struct

OK = 0
NO_MSG_AVAILABLE = 2033

_OPEN_INPUT_SHARED, _OPEN_OUTPUT = 0x2, 0x10
_PUT_NO_SYNCPOINT, _PUT_NEW_MSG_ID = 0x4, 0x40
_GET_WAIT, _GET_NO_SYNCPOINT = 0x1, 0x4
_PERSISTENT = 1
_DATA_MAX = 1 << 16


class Failed(Exception):
    """A call that did not do what it was asked."""

    def __init__(self, call, reason):
        super().__init__(f"{call}: reason {reason}")
        self.reason = reason


def _descriptor():
    """MQMD, version 1: a persistent message of text."""
    front = struct.pack("<4s11i", b"MD  ", 1, 0, 8, -1, 0, 546, 0, 0, 0, 0, 0)
    md = bytearray(324)
    md[:32] = front[:32]
    md[32:40] = b"MQSTR   "
    struct.pack_into("<2i", md, 40, -1, _PERSISTENT)
    md[100:208] = b" " * 108
    md[240:272] = b" " * 32
    md[276:324] = b" " * 48
    return md


def _object(name):
    """MQOD, version 1: a queue."""
    return struct.pack("<4s2i48s48s48s12s", b"OD  ", 1, 1, name.encode().ljust(48), b" " * 48,
                       b"AMQ.*".ljust(48), b" " * 12)


def _put_options(options):
    """MQPMO, version 1."""
    return struct.pack("<4s7i48s48s", b"PMO ", 1, options, -1, 0, 0, 0, 0, b" " * 48, b" " * 48)


def _get_options(options, wait_ms):
    """MQGMO, version 1."""
    return struct.pack("<4s5i48s", b"GMO ", 1, options, wait_ms, 0, 0, b" " * 48)


class Connection:
    """A connection to the queue manager of the system that HOLDFAST_SYSTEM names."""

    def __init__(self, library):
        self._library = ctypes.CDLL(library)
        self._handle = ctypes.c_int(-1)
        name = ctypes.create_string_buffer(b" " * 48, 48)
        self._call("MQCONN", name, ctypes.byref(self._handle))

    def _call(self, call, *arguments, allowed=()):
        completion, reason = ctypes.c_int(), ctypes.c_int()
        getattr(self._library, call)(*arguments, ctypes.byref(completion), ctypes.byref(reason))
        if completion.value != OK and reason.value not in allowed:
            raise Failed(call, reason.value)
        return reason.value

    def queue(self, name):
        return Queue(self, name)

    def close(self):
        self._call("MQDISC", ctypes.byref(self._handle))


class Queue:
    """A queue, open for putting and getting."""

    def __init__(self, connection, name):
        self._connection = connection
        self._handle = ctypes.c_int(-1)
        options = _OPEN_INPUT_SHARED | _OPEN_OUTPUT
        self._call("MQOPEN", ctypes.create_string_buffer(_object(name), 168), options,
                   ctypes.byref(self._handle))

    def _call(self, call, *arguments, allowed=()):
        return self._connection._call(call, self._connection._handle, *arguments, allowed=allowed)

    def put(self, data):
        """Puts a message; it is durable on return."""
        md = ctypes.create_string_buffer(bytes(_descriptor()), 324)
        pmo = ctypes.create_string_buffer(_put_options(_PUT_NO_SYNCPOINT | _PUT_NEW_MSG_ID), 128)
        self._call("MQPUT", self._handle, md, pmo, len(data), data)

    def get(self, wait_ms):
        """Gets the next message; none if nothing comes in time."""
        md = ctypes.create_string_buffer(bytes(_descriptor()), 324)
        options = _get_options(_GET_WAIT | _GET_NO_SYNCPOINT, wait_ms)
        gmo = ctypes.create_string_buffer(options, 72)
        data, length = ctypes.create_string_buffer(_DATA_MAX), ctypes.c_int()
        reason = self._call("MQGET", self._handle, md, gmo, _DATA_MAX, data, ctypes.byref(length),
                            allowed=(NO_MSG_AVAILABLE,))
        return None if reason == NO_MSG_AVAILABLE else data.raw[:length.value]
