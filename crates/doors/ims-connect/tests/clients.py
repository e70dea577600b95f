"""A client of IMS Connect that knows only the published layout of messages.

Usage: clients.py PORT. It is run by the tests against a server whose transaction ECHO sends back
what it gets; it ends with 0 if everything was as it should be.
"""

import socket
import struct
import sys


def message(exit_id, client, data, page, **more):
    """A request at architecture level 0."""

    def text(value, length=8):
        return value.ljust(length).encode(page)

    irm = struct.pack(
        ">HBB8sHHBBBB8sBBBs",
        80,
        0,
        more.get("f0", 0),
        text(exit_id),
        more.get("nak", 0),
        0,
        more.get("f5", 0),
        more.get("timer", 0x28),
        more.get("socket", 0x10),
        0,
        text(client),
        more.get("f1", 0),
        more.get("f2", 0x20),
        more.get("f3", 0),
        text(more.get("f4", " "), 1),
    )
    for name in ("", "HFST", "", "", "", ""):
        irm += text(name)
    segments = b""
    for one in data:
        one = one.encode(page)
        segments += struct.pack(">HH", len(one) + 4, 0) + one
    body = irm + segments + b"\x00\x04\x00\x00"
    return struct.pack(">I", len(body) + 4) + body


def exactly(connection, count):
    got = b""
    while len(got) < count:
        part = connection.recv(count - len(got))
        if not part:
            raise EOFError("the connection ended")
        got += part
    return got


def response(connection, page, prefixed):
    """Segments up to the status, the status's flag, and its codes."""
    total = struct.unpack(">I", exactly(connection, 4))[0] - 4 if prefixed else None
    data, read = [], 0
    while True:
        length, flags, detail = struct.unpack(">HBB", exactly(connection, 4))
        body = exactly(connection, length - 4)
        read += length
        kind = body[:8].decode(page, "replace")
        if kind == "*CSMOKY*":
            assert total in (None, read), "LLLL counts everything"
            return data, flags, None
        if kind == "*REQSTS*":
            assert total in (None, read), "LLLL counts everything"
            return data, flags, struct.unpack(">II", body[8:])
        data.append(body.decode(page))


def scenario(port, exit_id, page):
    prefixed = exit_id == "*SAMPL1*"
    name = "PY" + exit_id[6] + page[-2:].upper()
    with socket.create_connection(("127.0.0.1", port), 20) as connection:

        def ask(data, **more):
            connection.sendall(message(exit_id, name, data, page, **more))
            return response(connection, page, prefixed)

        def check(got, data, wanted, flag=0):
            assert (got[0], got[2]) == (data, wanted), (exit_id, page, got)
            assert got[1] & 0x20 == flag, (exit_id, page, got)

        check(ask(["PING IMS_CONNECT"]), ["HWSC0030I *PING RESPONSE*"], None)
        check(ask(["ECHO ONE", "TWO"]), ["ECHO ONE", "TWO"], None)
        # Commit mode 1, confirm: the output is answered, then comes how it went.
        check(ask(["ECHO 1"], f3=1), ["ECHO 1"], None, 0x20)
        check(ask([], f3=1, f4="A"), [], (0x0C, 0x61))
        check(ask(["ECHO 1"], f3=1), ["ECHO 1"], None, 0x20)
        check(ask([], f3=1, f4="N"), [], (0x0C, 0x62))
        # Commit mode 0: acknowledged, and the timer's notice.
        check(ask(["ECHO 2"], f2=0x40, f3=1), ["ECHO 2"], None, 0x20)
        check(ask([], f2=0x40, f3=1, f4="A", timer=2), [], (0x28, 2))
        # Send-only, then resume tpipe.
        connection.sendall(message(exit_id, name, ["ECHO 3"], page, f2=0x40, f4="S"))
        check(ask(["ECHO 4"], f2=0x40, f4="K"), [], None)
        check(ask([], f2=0x40, f3=1, f4="R", f5=4), ["ECHO 3"], None, 0x20)
        check(ask([], f2=0x40, f3=1, f4="A", timer=2), ["ECHO 4"], None, 0x20)
        check(ask([], f2=0x40, f3=1, f4="A", timer=2), [], (0x28, 2))
        check(ask([], f2=0x20, f4="R", f5=1), [], (0x08, 0x5D))
        assert connection.recv(1) == b"", "the server ends the connection"


def main():
    port = int(sys.argv[1])
    for exit_id in ("*SAMPLE*", "*SAMPL1*"):
        for page in ("ascii", "cp037"):
            scenario(port, exit_id, page)


main()
