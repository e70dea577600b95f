// Puts orders on the queue ORDERS over AMQP 1.0.
//
// usage: producer.js HOST PORT FIRST LAST LEDGER
//
// Several orders are on their way at a time. An order's line goes to the ledger, a file that knows
// nothing of queues and databases, when the queue manager has accepted it: then it is durable.
// Ends with 1 if an order was not accepted, or if nobody knows.
"use strict";
const fs = require("fs");
const rhea = require("rhea");

const CUSTOMERS = 50;
const IN_FLIGHT = 64;

// The same order for the same number each time: number, customer, amount in cents.
function order(number) {
    const customer = ((number * 7919) % CUSTOMERS) + 1;
    const amount = ((number * 104729) % 100000) + 1;
    const digits = (value, count) => String(value).padStart(count, "0");
    return `${digits(number, 8)}C${digits(customer, 5)}${digits(amount, 9)}`;
}

function fail(why) {
    console.error(`producer.js: ${why}`);
    process.exit(1);
}

function main() {
    const [host, port, first, last, ledger] = process.argv.slice(2);
    if (ledger === undefined) fail("usage: producer.js HOST PORT FIRST LAST LEDGER");
    const lines = fs.openSync(ledger, "a");
    const underWay = new Map();
    let next = Number(first);

    const container = rhea.create_container();
    const connection = container.connect({ host, port: Number(port), reconnect: false });
    const sender = connection.open_sender("ORDERS");

    function send() {
        while (next <= Number(last) && underWay.size < IN_FLIGHT && sender.sendable()) {
            const text = order(next);
            underWay.set(sender.send({ body: text, durable: true }), text);
            next += 1;
        }
    }

    container.on("sendable", send);
    container.on("accepted", (context) => {
        fs.writeSync(lines, `${underWay.get(context.delivery)}\n`);
        underWay.delete(context.delivery);
        if (next > Number(last) && underWay.size === 0) connection.close();
        else send();
    });
    for (const refusal of ["rejected", "released", "modified"]) {
        container.on(refusal, (context) => {
            fail(`order ${underWay.get(context.delivery)} was ${refusal}`);
        });
    }
    for (const error of ["sender_error", "session_error", "connection_error", "protocol_error"]) {
        container.on(error, (context) => fail(`${error}: ${context.error || sender.error}`));
    }
    container.on("disconnected", () => {
        if (next <= Number(last) || underWay.size > 0) fail("the connection has ended");
    });
}

main();
