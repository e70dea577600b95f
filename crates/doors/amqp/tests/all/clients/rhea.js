// Scenarios of a client with rhea. Called with the address's host and port, and a scenario.
"use strict";
const assert = require("assert");
const rhea = require("rhea");

const [host, port, scenario] = process.argv.slice(2, 5);

function connect(container, options) {
    return container.connect({ host, port, reconnect: false, ...options });
}

function fail(context) {
    const error = context.error || (context.connection || {}).error ||
        (context.receiver || context.sender || {}).error;
    throw new Error(`${error && (error.description || error.message || error)}`);
}

const scenarios = {
    // Messages with bodies and properties of all kinds come back as they were.
    kinds(done) {
        const container = rhea.create_container();
        const messages = [
            { body: "hello", durable: true, priority: 7, subject: "greeting",
              correlation_id: "mine", reply_to: "REPLY.Q", group_id: "g",
              application_properties: { colour: "red", n: 5, "a-b": true } },
            { body: { k: [1, 2.5, null, true] } },
            { body: rhea.message.data_section(Buffer.from([0, 1, 2])) },
            { body: rhea.message.sequence_section([1, "two"]) },
            { body: rhea.types.wrap_ulong(7), message_id: rhea.types.wrap_ulong(77) },
        ];
        let accepted = 0;
        const received = [];
        container.on("sendable", (context) => {
            if (context.sender.sent) return;
            context.sender.sent = true;
            messages.forEach((message) => context.sender.send(message));
        });
        container.on("accepted", (context) => {
            accepted += 1;
            if (accepted === messages.length) context.connection.open_receiver("APP.Q");
        });
        container.on("message", (context) => {
            received.push(context.message);
            if (received.length < messages.length) return;
            const [first, second, third, fourth, fifth] = received;
            assert.strictEqual(first.body, "hello");
            assert.strictEqual(first.durable, true);
            assert.strictEqual(first.priority, 7);
            assert.strictEqual(first.subject, "greeting");
            assert.strictEqual(first.correlation_id, "mine");
            assert.strictEqual(first.reply_to, "REPLY.Q");
            assert.strictEqual(first.group_id, "g");
            assert.deepStrictEqual(first.application_properties,
                { colour: "red", n: 5, "a-b": true });
            assert.deepStrictEqual(second.body, { k: [1, 2.5, null, true] });
            assert.deepStrictEqual(third.body.content, Buffer.from([0, 1, 2]));
            assert.deepStrictEqual(fourth.body.content, [1, "two"]);
            assert.strictEqual(fifth.body, 7);
            assert.strictEqual(fifth.message_id, 77);
            context.connection.close();
        });
        container.on("connection_close", done);
        connect(container).open_sender("APP.Q");
    },

    // What is released comes again, what is modified with a count, what is rejected no more.
    fates(done) {
        const container = rhea.create_container();
        const counts = [];
        container.once("sendable", (context) => context.sender.send({ body: "one" }));
        container.once("accepted", (context) => {
            context.connection.open_receiver({
                source: "APP.Q", autoaccept: false, credit_window: 0,
            }).add_credit(3);
        });
        container.on("message", (context) => {
            counts.push(context.message.delivery_count || 0);
            if (counts.length === 1) context.delivery.release();
            if (counts.length === 2) context.delivery.modified({ delivery_failed: true });
            if (counts.length === 3) {
                assert.deepStrictEqual(counts, [0, 0, 1]);
                context.delivery.reject({ condition: "app:no", description: "not wanted" });
                context.connection.close();
            }
        });
        container.on("connection_close", done);
        connect(container).open_sender("APP.Q");
    },

    // A request is answered over a queue that was made for it, by a sender that goes anywhere.
    requests(done) {
        const container = rhea.create_container();
        const connection = connect(container);
        const server = connection.open_receiver("APP.Q");
        const anywhere = connection.open_sender({ target: { address: null } });
        const answers = connection.open_receiver({ source: { dynamic: true } });
        server.on("message", (context) => {
            anywhere.send({ to: context.message.reply_to, body: `re: ${context.message.body}`,
                correlation_id: context.message.message_id });
        });
        answers.once("receiver_open", () => {
            const address = answers.source.address;
            assert.match(address, /^AMQP\./);
            connection.open_sender("APP.Q").once("sendable", (context) => {
                context.sender.send({ reply_to: address, body: "question", message_id: "q1" });
            });
        });
        answers.on("message", (context) => {
            assert.strictEqual(context.message.body, "re: question");
            assert.strictEqual(context.message.correlation_id, "q1");
            connection.close();
        });
        container.on("connection_close", done);
    },

    // Only what a selector says; browsing; a topic; a durable subscription by its link's name.
    sources(done) {
        const container = rhea.create_container({ id: "rhea-client" });
        const connection = connect(container);
        const seen = [];
        const durable = () => connection.open_receiver({
            name: "sub", source: { address: "news/today", durable: 2, expiry_policy: "never" },
        });
        const first = durable();
        const next = (what, message) => {
            seen.push(what);
            if (message) assert.strictEqual(message.body, what.split(" ").pop());
        };
        first.once("receiver_open", () => {
            const sender = connection.open_sender("news/today");
            sender.once("sendable", () => sender.send({ body: "one" }));
            first.once("message", (context) => {
                next("durable one", context.message);
                first.detach();
                // Only then is the name free for another link.
                first.once("receiver_close", () => setImmediate(() => {
                    sender.send({ body: "missed" });
                    const again = durable();
                    again.once("message", (context) => {
                        next("durable missed", context.message);
                        again.close();
                        select();
                    });
                }));
            });
        });
        const select = () => {
            const sender = connection.open_sender("APP.Q");
            sender.once("sendable", () => {
                for (const colour of ["red", "green"]) {
                    sender.send({ body: colour, application_properties: { colour } });
                }
            });
            let accepted = 0;
            sender.on("accepted", () => {
                accepted += 1;
                if (accepted < 2) return;
                const looker = connection.open_receiver({
                    source: { address: "APP.Q", distribution_mode: "copy" },
                });
                let looked = 0;
                looker.on("message", () => {
                    looked += 1;
                    if (looked < 2) return;
                    looker.close();
                    const filter = rhea.filter.selector("colour = 'green'");
                    connection.open_receiver({ source: { address: "APP.Q", filter } })
                        .on("message", (context) => {
                            next("selected green", context.message);
                            connection.close();
                        });
                });
            });
        };
        container.on("connection_close", () => {
            assert.deepStrictEqual(seen, ["durable one", "durable missed", "selected green"]);
            done();
        });
    },

    // What cannot be is refused, and the connection goes on.
    refusals(done) {
        const container = rhea.create_container();
        const connection = connect(container);
        const none = connection.open_sender("NO.SUCH.Q");
        none.once("sender_error", () => {
            assert.strictEqual(none.error.condition, "amqp:not-found");
            const full = connection.open_sender("FULL.Q");
            full.once("sendable", () => {
                full.send({ body: "fits" });
                full.send({ body: "does not" });
            });
            full.once("rejected", (context) => {
                const error = context.delivery.remote_state.error;
                assert.strictEqual(error.condition, "amqp:resource-limit-exceeded");
                connection.close();
            });
        });
        container.on("connection_close", done);
    },

    // Users and their passwords, and those who have none.
    users(done) {
        const right = rhea.create_container();
        right.on("connection_open", (context) => context.connection.close());
        right.on("connection_close", () => {
            const wrong = rhea.create_container();
            wrong.on("connection_open", () => { throw new Error("let in"); });
            wrong.on("connection_error", () => {});
            wrong.on("disconnected", () => done());
            connect(wrong, { username: "joe", password: "wrong" });
        });
        connect(right, { username: "joe", password: "secret" });
    },

    // A message of ten megabytes.
    large(done) {
        const container = rhea.create_container();
        const body = Buffer.alloc(10 << 20, "0123456789abcdef");
        container.once("sendable", (context) => {
            context.sender.send({ durable: true, body: rhea.message.data_section(body) });
        });
        container.once("accepted", (context) => context.connection.open_receiver("APP.Q"));
        container.on("message", (context) => {
            assert.ok(body.equals(context.message.body.content));
            context.connection.close();
        });
        container.on("connection_close", done);
        connect(container).open_sender("APP.Q");
    },
};

rhea.on("error", fail);
process.on("uncaughtException", (error) => {
    console.error(error);
    process.exit(1);
});
scenarios[scenario](() => {
    console.log("ok");
    process.exit(0);
});
