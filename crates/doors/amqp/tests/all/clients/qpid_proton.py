"""Scenarios of a client with Qpid Proton. Called with the address and the name of a scenario."""

import sys

from proton import Message
from proton.handlers import MessagingHandler, TransactionHandler
from proton.reactor import Container, Copy, Selector
from proton.utils import BlockingConnection, LinkDetached, SendException

URL = sys.argv[1]


def connection(**more):
    return BlockingConnection(URL, timeout=20, **more)


def send_and_receive():
    """What is sent comes back, with everything that it says about itself."""
    with_all = Message(
        body="hello", durable=True, priority=7, ttl=60, subject="greeting", reply_to="REPLY.Q",
        correlation_id="mine", content_type="text/plain", properties={"colour": "red", "n": 5},
    )
    link = connection()
    sender = link.create_sender("APP.Q")
    sender.send(with_all)
    sender.send(Message(body=b"\x00\x01\x02", inferred=True))
    sender.send(Message(body={"k": [1, 2.5, None, True]}))
    receiver = link.create_receiver("APP.Q", credit=10)
    first = receiver.receive(timeout=10)
    receiver.accept()
    assert (first.body, first.durable, first.priority) == ("hello", True, 7), first
    assert (first.subject, first.reply_to) == ("greeting", "REPLY.Q"), first
    assert (first.correlation_id, first.content_type) == ("mine", "text/plain"), first
    assert first.properties == {"colour": "red", "n": 5}, first.properties
    assert 0 < first.ttl <= 60 and first.delivery_count == 0, first
    second = receiver.receive(timeout=10)
    receiver.accept()
    assert bytes(second.body) == b"\x00\x01\x02", second
    third = receiver.receive(timeout=10)
    receiver.accept()
    assert third.body == {"k": [1, 2.5, None, True]}, third
    link.close()


def large():
    """A message of many frames."""
    link = connection()
    body = bytes(range(256)) * 12_000
    link.create_sender("APP.Q").send(Message(body=body, inferred=True, durable=True))
    receiver = link.create_receiver("APP.Q")
    # Its body lies within the message, which has to live as long.
    message = receiver.receive(timeout=20)
    assert bytes(message.body) == body
    receiver.accept()
    link.close()


def fates():
    """Released messages come again, failed ones with a count, accepted ones never."""
    link = connection()
    link.create_sender("APP.Q").send(Message(body="one"))
    receiver = link.create_receiver("APP.Q", credit=1)
    receiver.receive(timeout=10)
    receiver.release(delivered=False)
    again = receiver.receive(timeout=10)
    assert again.delivery_count == 0, again
    receiver.fetcher.unsettled[0].local.failed = True
    receiver.release(delivered=True)
    again = receiver.receive(timeout=10)
    assert again.delivery_count == 1, again
    receiver.reject()
    link.close()
    link = connection()
    dead = link.create_receiver("DEAD.Q").receive(timeout=10)
    assert bytes(dead.body)[:4] == b"DLH ", dead
    link.close()


def browse():
    """Looking takes nothing away."""
    link = connection()
    sender = link.create_sender("APP.Q")
    for number in range(3):
        sender.send(Message(body=number))
    looker = link.create_receiver("APP.Q", credit=5, options=Copy())
    assert [looker.receive(timeout=10).body for _ in range(3)] == [0, 1, 2]
    looker.close()
    receiver = link.create_receiver("APP.Q", credit=5)
    for number in range(3):
        assert receiver.receive(timeout=10).body == number
        receiver.accept()
    link.close()


def selector():
    """A selector lets through what it says."""
    link = connection()
    sender = link.create_sender("APP.Q")
    for colour in ["red", "green", "red"]:
        sender.send(Message(body=colour, properties={"colour": colour}))
    receiver = link.create_receiver("APP.Q", credit=5, options=Selector("colour = 'green'"))
    assert receiver.receive(timeout=10).body == "green"
    receiver.accept()
    receiver.close()
    link.close()


def dynamic():
    """A queue for answers that lives as long as its connection."""
    link = connection()
    replies = link.create_receiver(None, dynamic=True, credit=1)
    address = replies.link.remote_source.address
    assert address.startswith("AMQP."), address
    link.create_sender(address).send(Message(body="answer"))
    assert replies.receive(timeout=10).body == "answer"
    replies.accept()
    # A link without an address takes what says where it goes.
    relay = link.create_sender(None)
    relay.send(Message(address=address, body="relayed"))
    assert replies.receive(timeout=10).body == "relayed"
    replies.accept()
    link.close()


def refusals():
    """What cannot be is refused, and the connection goes on."""
    link = connection()
    try:
        link.create_receiver("APP.Q", options=Selector("this is no ( selector"))
        raise AssertionError("a selector that is none was taken")
    except LinkDetached as error:
        assert "invalid-field" in str(error) or "internal" in str(error), error
    full = link.create_sender("FULL.Q")
    full.send(Message(body="fits"))
    try:
        full.send(Message(body="does not fit"))
        raise AssertionError("a full queue took a message")
    except SendException:
        pass
    link.create_sender("APP.Q").send(Message(body="still here"))
    link.close()


def strangers():
    """Who is not who they say is not let in."""
    for user, password in [("joe", "wrong"), ("nobody", "secret")]:
        try:
            BlockingConnection(
                URL, timeout=10, user=user, password=password, allow_insecure_mechs=True,
                sasl_enabled=True, allowed_mechs="PLAIN", reconnect=False,
            )
            raise AssertionError("let in")
        except AssertionError:
            raise
        except Exception:
            pass
    BlockingConnection(
        URL, timeout=10, user="joe", password="secret", allow_insecure_mechs=True,
        sasl_enabled=True, allowed_mechs="PLAIN", reconnect=False,
    ).close()


class Moves(MessagingHandler, TransactionHandler):
    """Moves a message from one queue to another, undoes that, and does it again."""

    def __init__(self):
        super().__init__(prefetch=0, auto_accept=False)
        self.commits = self.aborts = 0

    def on_start(self, event):
        self.container = event.container
        self.link = event.container.connect(URL, reconnect=False)
        self.sender = event.container.create_sender(self.link, "MOVED.Q")
        self.receiver = event.container.create_receiver(self.link, "APP.Q")
        event.container.declare_transaction(self.link, handler=self)

    def on_transaction_declared(self, event):
        self.transaction = event.transaction
        self.receiver.flow(1)

    def on_message(self, event):
        self.transaction.send(self.sender, Message(body=event.message.body))
        self.transaction.accept(event.delivery)
        if self.aborts == 0:
            self.transaction.abort()
        else:
            self.transaction.commit()

    def on_transaction_aborted(self, event):
        self.aborts += 1
        event.container.declare_transaction(self.link, handler=self)

    def on_transaction_committed(self, event):
        self.commits += 1
        self.link.close()


def transactions():
    """A message is moved whole or not at all."""
    link = connection()
    link.create_sender("APP.Q").send(Message(body="to be moved", durable=True))
    moves = Moves()
    Container(moves).run()
    assert (moves.aborts, moves.commits) == (1, 1)
    receiver = link.create_receiver("MOVED.Q", credit=5)
    assert receiver.receive(timeout=10).body == "to be moved"
    receiver.accept()
    link.close()


def many():
    """Many messages, with the consumer keeping up, each once."""
    link = connection()
    sender = link.create_sender("APP.Q")
    for number in range(300):
        sender.send(Message(body=number))
    receiver = link.create_receiver("APP.Q", credit=64)
    seen = []
    while len(seen) < 300:
        seen.append(receiver.receive(timeout=10).body)
        receiver.accept()
    assert seen == list(range(300))
    link.close()


globals()[sys.argv[2]]()
print("ok")
