"""Puts orders on the queue ORDERS.

usage: producer.py LIBRARY FIRST LAST LEDGER

Each order is a message of its own, durable when it is put; only then its line goes to the ledger, a
file that knows nothing of queues and databases.
"""

import sys

import mqi

CUSTOMERS = 50


def order(number):
    """The same order for the same number each time: number, customer, amount in cents."""
    customer = (number * 7919) % CUSTOMERS + 1
    amount = (number * 104729) % 100_000 + 1
    return f"{number:08d}C{customer:05d}{amount:09d}"


def main():
    library, first, last, ledger = sys.argv[1:]
    connection = mqi.Connection(library)
    orders = connection.queue("ORDERS")
    with open(ledger, "a", encoding="ascii") as lines:
        for number in range(int(first), int(last) + 1):
            text = order(number)
            orders.put(text.encode())
            lines.write(text + "\n")
            lines.flush()
    connection.close()


main()
