"""Takes all confirmations, and compares them with the ledger of what was ordered.

usage: confirmed.py LIBRARY LEDGER

Says how many orders there are and what they come to; ends with 1 if an order was confirmed never,
or twice, or if something was confirmed that nobody has ordered.
"""

import collections
import sys

import mqi


def main():
    library, ledger = sys.argv[1:]
    with open(ledger, encoding="ascii") as lines:
        ordered = [line.rstrip("\n") for line in lines]
    connection = mqi.Connection(library)
    confirms = connection.queue("CONFIRMS")
    confirmed = collections.Counter()
    while (message := confirms.get(0)) is not None:
        confirmed[message[:14].decode()] += 1
    connection.close()
    wanted = collections.Counter(line[:14] for line in ordered)
    for key in sorted((wanted | confirmed).keys()):
        if wanted[key] != 1 or confirmed[key] != 1:
            print(f"order {key[:8]} of {key[8:]}: ordered {wanted[key]}, "
                  f"confirmed {confirmed[key]} times")
    amount = sum(int(line[14:]) for line in ordered)
    print(f"ORDERED {len(ordered):09d} AMOUNTS {amount // 100}.{amount % 100:02d}")
    sys.exit(0 if wanted == confirmed and max(wanted.values(), default=1) == 1 else 1)


main()
