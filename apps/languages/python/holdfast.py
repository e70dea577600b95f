"""DL/I calls through libholdfast: see holdfast.h for what they mean.

The library is looked for where HOLDFAST_LIBRARY says, or where the loader looks.
"""

import ctypes
import os
import struct


class Bytes(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_void_p), ("length", ctypes.c_int32)]


class Answer(ctypes.Structure):
    _fields_ = [
        ("status_bytes", ctypes.c_char * 4),
        ("segment_bytes", ctypes.c_char * 12),
        ("level", ctypes.c_int32),
        ("area_length", ctypes.c_int32),
        ("key_length", ctypes.c_int32),
        ("key_bytes", ctypes.c_ubyte * 256),
    ]

    @property
    def status(self):
        """Two characters; blank if all is well."""
        return self.status_bytes.decode("latin-1")

    @property
    def segment(self):
        return self.segment_bytes.decode("latin-1").rstrip()

    @property
    def key(self):
        return bytes(self.key_bytes[: self.key_length])


class CallError(Exception):
    """A call came to a status that the program did not expect."""


_library = ctypes.CDLL(os.environ.get("HOLDFAST_LIBRARY", "libholdfast.so"))
_library.hf_error.restype = ctypes.c_char_p
_library.hf_call.argtypes = [
    ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_int32, ctypes.c_int32,
    ctypes.POINTER(Bytes), ctypes.c_int32, ctypes.POINTER(Bytes), ctypes.c_int32,
    ctypes.POINTER(Answer),
]

IO_PCB = 0


def _lent(items):
    """Bytes as the library takes them, and what has to stay as long as it uses them."""
    kept = [ctypes.create_string_buffer(item, len(item)) for item in items]
    lent = (Bytes * max(len(kept), 1))()
    for place, buffer in zip(lent, kept):
        place.bytes, place.length = ctypes.addressof(buffer), len(buffer)
    return lent, kept


def _good(returned):
    if returned < 0:
        raise RuntimeError(_library.hf_error().decode("utf-8", "replace"))
    return returned


def begin():
    _good(_library.hf_begin())


def pcb(name):
    return _good(_library.hf_pcb(name.encode("ascii")))


def call(function, pcb_number, data=b"", room=0, ssas=(), more=()):
    """Makes a call; answers its answer, and what the area holds then."""
    room = max(room, len(data))
    area = ctypes.create_string_buffer(data, room) if room else None
    lent_ssas, kept_ssas = _lent(ssas)
    lent_more, kept_more = _lent(more)
    answer = Answer()
    _good(_library.hf_call(
        function.encode("ascii"), pcb_number, area, len(data), room,
        lent_ssas, len(kept_ssas), lent_more, len(kept_more), ctypes.byref(answer)))
    return answer, (area.raw[: answer.area_length] if area else b"")


def message():
    """The next message's first segment, without LL and ZZ; None if there is no more."""
    answer, area = call("GU", IO_PCB, room=32767)
    if answer.status == "QC":
        return None
    if answer.status not in ("  ", "CF"):
        raise CallError(answer.status)
    return area[4:]


def reply(data):
    """Sends a segment to whoever sent the message."""
    answer, _ = call("ISRT", IO_PCB, struct.pack(">HH", len(data) + 4, 0) + data)
    if answer.status != "  ":
        raise CallError(answer.status)


def end(commit=True):
    _good(_library.hf_end(1 if commit else 0))
