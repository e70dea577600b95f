"""A client of AMQP: called with an address, what to do, how often, and a user with a password."""

import sys

from proton import ConnectionException, Message, Timeout
from proton.utils import BlockingConnection, LinkDetached

url, what, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
known = {}
if len(sys.argv) > 4:
    user, password = sys.argv[4:]
    known = {"user": user, "password": password, "allowed_mechs": "PLAIN"}
link = BlockingConnection(url, timeout=20, reconnect=False, allow_insecure_mechs=True, **known)
if what == "send":
    sender = link.create_sender("ORDERS")
    for number in range(count):
        sender.send(Message(body=f"order {number}", durable=True))
    print("sent", count)
elif what == "receive":
    receiver = link.create_receiver("ORDERS", credit=10)
    seen = []
    while len(seen) < count:
        seen.append(receiver.receive(timeout=20).body)
        receiver.accept()
    assert len(set(seen)) == count, seen
    print("received", count)
elif what == "hold":
    receiver = link.create_receiver("ORDERS", credit=1)
    print("holds", receiver.receive(timeout=20).body, flush=True)
    try:
        link.wait(lambda: False, timeout=60)
    except (ConnectionException, LinkDetached, Timeout) as error:
        print("ended", error)
        sys.exit(0)
link.close()
