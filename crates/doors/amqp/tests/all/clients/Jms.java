// Scenarios of a client with Qpid JMS. Called with the address and the name of a scenario.

import jakarta.jms.*;
import jakarta.jms.Queue;
import java.util.*;
import org.apache.qpid.jms.JmsConnectionFactory;

public class Jms {
    static String url;
    static final long WAIT = 10_000;
    /// Long enough to see that nothing comes.
    static final long NOTHING = 400;

    static void check(boolean holds, Object what) {
        if (!holds) throw new AssertionError(String.valueOf(what));
    }

    static void same(Object expected, Object found) {
        check(Objects.equals(expected, found), "expected " + expected + ", found " + found);
    }

    static Connection connect(String clientId) throws JMSException {
        Connection connection = new JmsConnectionFactory(url).createConnection();
        if (clientId != null) connection.setClientID(clientId);
        connection.start();
        return connection;
    }

    static String text(Message message) throws JMSException {
        check(message != null, "a message was expected");
        return ((TextMessage) message).getText();
    }

    static void send(Session session, Destination to, String... texts) throws JMSException {
        MessageProducer producer = session.createProducer(to);
        for (String one : texts) producer.send(session.createTextMessage(one));
        producer.close();
    }

    /// Messages of every kind come back with all that they say of themselves.
    static void kinds() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            MessageProducer producer = session.createProducer(queue);
            TextMessage text = session.createTextMessage("gr\u00fc\u00dfe");
            text.setJMSCorrelationID("mine");
            text.setJMSType("greeting");
            text.setJMSReplyTo(session.createTopic("answers/here"));
            text.setStringProperty("colour", "red");
            text.setBooleanProperty("b", true);
            text.setByteProperty("y", (byte) 7);
            text.setShortProperty("s", (short) -300);
            text.setIntProperty("i", 70_000);
            text.setLongProperty("l", 1L << 40);
            text.setFloatProperty("f", 1.5f);
            text.setDoubleProperty("d", -2.5);
            text.setStringProperty("JMSXGroupID", "g1");
            text.setIntProperty("JMSXGroupSeq", 3);
            producer.send(text, DeliveryMode.PERSISTENT, 7, 60_000);
            BytesMessage bytes = session.createBytesMessage();
            bytes.writeInt(42);
            bytes.writeUTF("forty-two");
            producer.send(bytes, DeliveryMode.NON_PERSISTENT, 4, 0);
            MapMessage map = session.createMapMessage();
            map.setString("name", "widget");
            map.setInt("count", 3);
            map.setBytes("raw", new byte[] {1, 2, 3});
            producer.send(map);
            StreamMessage stream = session.createStreamMessage();
            stream.writeString("one");
            stream.writeLong(2);
            producer.send(stream);
            producer.send(session.createObjectMessage(new ArrayList<>(List.of("a", "b"))));
            producer.send(session.createMessage());
            MessageConsumer consumer = session.createConsumer(queue);
            TextMessage got = (TextMessage) consumer.receive(WAIT);
            same("gr\u00fc\u00dfe", got.getText());
            same(text.getJMSMessageID(), got.getJMSMessageID());
            same("mine", got.getJMSCorrelationID());
            same("greeting", got.getJMSType());
            same(session.createTopic("answers/here"), got.getJMSReplyTo());
            same(queue, got.getJMSDestination());
            same(DeliveryMode.PERSISTENT, got.getJMSDeliveryMode());
            same(7, got.getJMSPriority());
            same(text.getJMSTimestamp(), got.getJMSTimestamp());
            same(text.getJMSExpiration(), got.getJMSExpiration());
            same(false, got.getJMSRedelivered());
            same(1, got.getIntProperty("JMSXDeliveryCount"));
            same("red", got.getStringProperty("colour"));
            same(true, got.getObjectProperty("b"));
            same((byte) 7, got.getObjectProperty("y"));
            same((short) -300, got.getObjectProperty("s"));
            same(70_000, got.getObjectProperty("i"));
            same(1L << 40, got.getObjectProperty("l"));
            same(1.5f, got.getObjectProperty("f"));
            same(-2.5, got.getObjectProperty("d"));
            same("g1", got.getStringProperty("JMSXGroupID"));
            same(3, got.getIntProperty("JMSXGroupSeq"));
            BytesMessage raw = (BytesMessage) consumer.receive(WAIT);
            same(DeliveryMode.NON_PERSISTENT, raw.getJMSDeliveryMode());
            same(42, raw.readInt());
            same("forty-two", raw.readUTF());
            MapMessage table = (MapMessage) consumer.receive(WAIT);
            same("widget", table.getString("name"));
            same(3, table.getInt("count"));
            check(Arrays.equals(new byte[] {1, 2, 3}, table.getBytes("raw")), "bytes in a map");
            StreamMessage row = (StreamMessage) consumer.receive(WAIT);
            same("one", row.readString());
            same(2L, row.readLong());
            ObjectMessage object = (ObjectMessage) consumer.receive(WAIT);
            same(List.of("a", "b"), object.getObject());
            check(consumer.receive(WAIT) != null, "a message without a body");
        }
    }

    /// What is not acknowledged comes again, and says so.
    static void acknowledge() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.CLIENT_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            send(session, queue, "1", "2", "3", "4");
            MessageConsumer consumer = session.createConsumer(queue);
            same("1", text(consumer.receive(WAIT)));
            same("2", text(consumer.receive(WAIT)));
            session.recover();
            Message again = consumer.receive(WAIT);
            same("1", text(again));
            same(true, again.getJMSRedelivered());
            same(2, again.getIntProperty("JMSXDeliveryCount"));
            again.acknowledge();
            session.close();
            Session other = connection.createSession(false, Session.DUPS_OK_ACKNOWLEDGE);
            MessageConsumer rest = other.createConsumer(queue);
            Set<String> left = new TreeSet<>();
            for (int i = 0; i < 3; i++) left.add(text(rest.receive(WAIT)));
            same(new TreeSet<>(List.of("2", "3", "4")), left);
            same(null, rest.receive(NOTHING));
            other.close();
        }
    }

    /// What fails too often is a dead letter.
    static void poison() throws Exception {
        url += "?jms.redeliveryPolicy.maxRedeliveries=1";
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Queue queue = session.createQueue("APP.Q");
            send(session, queue, "bad", "good");
            session.commit();
            MessageConsumer consumer = session.createConsumer(queue);
            for (int i = 0; i < 2; i++) {
                same("bad", text(consumer.receive(WAIT)));
                session.rollback();
            }
            same("good", text(consumer.receive(WAIT)));
            session.commit();
        }
    }

    /// What was fetched ahead and not used is there for others at once.
    static void ahead() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            send(session, queue, "1", "2", "3");
            MessageConsumer first = session.createConsumer(queue);
            same("1", text(first.receive(WAIT)));
            first.close();
            MessageConsumer second = session.createConsumer(queue);
            Message next = second.receive(WAIT);
            same("2", text(next));
            same(false, next.getJMSRedelivered());
            same("3", text(second.receive(WAIT)));
        }
    }

    /// A session's sends and receipts are committed together, or not at all.
    static void transacted() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Queue from = session.createQueue("APP.Q");
            Queue to = session.createQueue("MOVED.Q");
            send(session, from, "a", "b");
            session.rollback();
            Session plain = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            MessageConsumer probe = plain.createConsumer(from);
            same(null, probe.receive(NOTHING));
            probe.close();
            send(session, from, "a", "b");
            session.commit();
            MessageConsumer consumer = session.createConsumer(from);
            same("a", text(consumer.receive(WAIT)));
            send(session, to, "a moved");
            session.rollback();
            Message again = consumer.receive(WAIT);
            same("a", text(again));
            same(true, again.getJMSRedelivered());
            same(2, again.getIntProperty("JMSXDeliveryCount"));
            same("b", text(consumer.receive(WAIT)));
            send(session, to, "both moved");
            session.commit();
            session.close();
            MessageConsumer moved = plain.createConsumer(to);
            same("both moved", text(moved.receive(WAIT)));
            same(null, moved.receive(NOTHING));
        }
    }

    /// Two that take from a queue at the same time in transactions never get in each other's way.
    static void rivals() throws Exception {
        final int messages = 200;
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            for (int i = 0; i < messages; i++) send(session, queue, "m" + i);
            List<String> seen = Collections.synchronizedList(new ArrayList<>());
            List<Throwable> wrong = Collections.synchronizedList(new ArrayList<>());
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Thread thread = new Thread(() -> {
                    try (Connection own = connect(null)) {
                        Session mine = own.createSession(true, Session.SESSION_TRANSACTED);
                        MessageConsumer consumer = mine.createConsumer(queue);
                        MessageProducer producer = mine.createProducer(mine.createQueue("MOVED.Q"));
                        while (seen.size() < messages) {
                            Message message = consumer.receive(NOTHING);
                            if (message == null) continue;
                            producer.send(message);
                            mine.commit();
                            seen.add(text(message));
                        }
                    } catch (Throwable error) {
                        wrong.add(error);
                    }
                });
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) thread.join();
            same(List.of(), wrong);
            same(messages, new HashSet<>(seen).size());
        }
    }

    /// Selectors choose by properties and headers, and browsing takes nothing away.
    static void selectors() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            MessageProducer producer = session.createProducer(queue);
            for (int i = 0; i < 6; i++) {
                TextMessage message = session.createTextMessage("m" + i);
                message.setIntProperty("n", i);
                message.setJMSCorrelationID("c" + i);
                message.setJMSType(i % 2 == 0 ? "even" : "odd");
                producer.send(message, DeliveryMode.PERSISTENT, i == 5 ? 9 : 4, 0);
            }
            List<String> seen = new ArrayList<>();
            QueueBrowser browser = session.createBrowser(queue, "JMSType = 'even' AND n < 4");
            for (Object one : Collections.list(browser.getEnumeration())) {
                seen.add(text((Message) one));
            }
            same(List.of("m0", "m2"), seen);
            browser.close();
            int all = Collections.list(session.createBrowser(queue).getEnumeration()).size();
            same(6, all);
            String[] selectors = {
                "JMSCorrelationID = 'c3'", "JMSPriority > 5", "n BETWEEN 1 AND 1",
                "JMSType LIKE 'ev%' AND JMSDeliveryMode = 'PERSISTENT' AND n = 4",
            };
            String[] chosen = {"m3", "m5", "m1", "m4"};
            for (int i = 0; i < selectors.length; i++) {
                MessageConsumer consumer = session.createConsumer(queue, selectors[i]);
                same(chosen[i], text(consumer.receive(WAIT)));
                consumer.close();
            }
            try {
                session.createConsumer(queue, "this is no ( selector");
                throw new AssertionError("a selector that is none was taken");
            } catch (InvalidSelectorException expected) {
            }
            try {
                session.createConsumer(session.createQueue("NO.SUCH.Q"));
                throw new AssertionError("a queue that is not there was taken from");
            } catch (InvalidDestinationException expected) {
            }
        }
    }

    /// A message that others have put is selected by the identifiers that it shows.
    static void identifiers() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            List<Message> all = new ArrayList<>();
            for (Object one : Collections.list(session.createBrowser(queue).getEnumeration())) {
                all.add((Message) one);
            }
            same(4, all.size());
            for (int i = 0; i < all.size(); i++) {
                String id = all.get(i).getJMSMessageID(), other = all.get(i).getJMSCorrelationID();
                check(id.equals("ID:" + id.substring(3).toLowerCase()), id);
                String digits = id.substring(3).toUpperCase();
                String selector = switch (i) {
                    case 0 -> "JMSMessageID = '" + id + "'";
                    case 1 -> "JMSMessageID = 'ID:" + digits + "'";
                    case 2 -> "JMSMessageID IN ('x', 'ID:" + digits + "')";
                    default -> "JMSCorrelationID = '" + other + "'";
                };
                MessageConsumer consumer = session.createConsumer(queue, selector);
                Message found = consumer.receive(WAIT);
                check(found != null, selector);
                same(id, found.getJMSMessageID());
                consumer.close();
            }
        }
    }

    /// What is sent and settled without waiting is done, however little a unit of work takes.
    static void pipelined() throws Exception {
        List<Exception> wrong = Collections.synchronizedList(new ArrayList<>());
        JmsConnectionFactory factory = new JmsConnectionFactory(url + "?jms.forceAsyncSend=true"
            + "&jms.forceAsyncAcks=true&jms.prefetchPolicy.all=100");
        int most = 200;
        try (Connection connection = factory.createConnection()) {
            connection.setExceptionListener(wrong::add);
            connection.start();
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            MessageProducer producer = session.createProducer(queue);
            for (int i = 0; i < most; i++) producer.send(session.createTextMessage("m" + i));
            MessageConsumer consumer = session.createConsumer(queue);
            for (int i = 0; i < most; i++) same("m" + i, text(consumer.receive(WAIT)));
            same(null, consumer.receive(NOTHING));
        }
        same(List.of(), wrong);
    }

    /// Requests are answered on temporary queues, by producers that go anywhere.
    static void requests() throws Exception {
        try (Connection connection = connect(null); Connection other = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session server = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            server.createConsumer(queue).setMessageListener(request -> {
                try {
                    TextMessage answer = server.createTextMessage("re: " + text(request));
                    answer.setJMSCorrelationID(request.getJMSMessageID());
                    server.createProducer(null).send(request.getJMSReplyTo(), answer);
                } catch (JMSException error) {
                    error.printStackTrace();
                }
            });
            TemporaryQueue answers = session.createTemporaryQueue();
            TemporaryTopic spread = session.createTemporaryTopic();
            for (Destination to : new Destination[] {answers, spread}) {
                MessageConsumer consumer = session.createConsumer(to);
                TextMessage request = session.createTextMessage("question");
                request.setJMSReplyTo(to);
                session.createProducer(null).send(queue, request);
                Message answer = consumer.receive(WAIT);
                same("re: question", text(answer));
                same(request.getJMSMessageID(), answer.getJMSCorrelationID());
                consumer.close();
            }
            answers.delete();
            try {
                session.createProducer(answers).send(session.createTextMessage("late"));
                throw new AssertionError("a queue that was deleted took a message");
            } catch (JMSException expected) {
            }
            try {
                Queue nowhere = session.createQueue("NO.SUCH.Q");
                session.createProducer(null).send(nowhere, session.createTextMessage("lost"));
                throw new AssertionError("a queue that is not there took a message");
            } catch (JMSException expected) {
            }
        }
    }

    /// Subscribers get what is published, those that are durable also what they have missed.
    static void topics() throws Exception {
        try (Connection connection = connect("reader"); Connection other = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session publisher = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic topic = session.createTopic("news/today");
            MessageConsumer plain = session.createConsumer(topic);
            TopicSubscriber durable = session.createDurableSubscriber(topic, "sub");
            TopicSubscriber others = session.createDurableSubscriber(topic, "others", null, true);
            send(publisher, topic, "one");
            send(session, topic, "own");
            for (MessageConsumer consumer : new MessageConsumer[] {plain, durable}) {
                same("one", text(consumer.receive(WAIT)));
                same("own", text(consumer.receive(WAIT)));
            }
            same("one", text(others.receive(WAIT)));
            same(null, others.receive(NOTHING));
            durable.close();
            plain.close();
            send(publisher, topic, "missed");
            durable = session.createDurableSubscriber(topic, "sub");
            same("missed", text(durable.receive(WAIT)));
            durable.close();
            TextMessage red = publisher.createTextMessage("red");
            red.setStringProperty("colour", "red");
            durable = session.createDurableSubscriber(topic, "sub", "colour = 'red'", false);
            publisher.createProducer(topic).send(publisher.createTextMessage("pale"));
            publisher.createProducer(topic).send(red);
            same("red", text(durable.receive(WAIT)));
            try {
                connect("reader").close();
                throw new AssertionError("two clients have one name");
            } catch (InvalidClientIDException expected) {
            }
            durable.close();
            session.unsubscribe("sub");
            try {
                session.unsubscribe("sub");
                throw new AssertionError("a subscription that is gone was ended");
            } catch (InvalidDestinationException expected) {
            }
            others.close();
            session.unsubscribe("others");
        }
    }

    /// A durable subscription is there after its client was away; its messages, too.
    static void away() throws Exception {
        try (Connection connection = connect("away")) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            session.createDurableSubscriber(session.createTopic("news/today"), "kept");
        }
        try (Connection other = connect(null)) {
            Session session = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            send(session, session.createTopic("news/today"), "while away");
        }
        try (Connection connection = connect("away")) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Topic topic = session.createTopic("news/today");
            TopicSubscriber durable = session.createDurableSubscriber(topic, "kept");
            same("while away", text(durable.receive(WAIT)));
            session.rollback();
            same("while away", text(durable.receive(WAIT)));
            session.commit();
            durable.close();
            session.unsubscribe("kept");
        }
    }

    /// Those who share a subscription share its messages.
    static void shared() throws Exception {
        try (Connection connection = connect("sharer"); Connection other = connect(null);
             Connection third = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session publisher = other.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Session reader = third.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Topic topic = session.createTopic("news/today");
            List<List<MessageConsumer>> pairs = List.of(
                List.of(session.createSharedConsumer(topic, "s1"),
                        session.createSharedConsumer(topic, "s1")),
                List.of(session.createSharedDurableConsumer(topic, "s2"),
                        session.createSharedDurableConsumer(topic, "s2")),
                List.of(reader.createSharedDurableConsumer(topic, "s3"),
                        publisher.createSharedDurableConsumer(topic, "s3")));
            String[] texts = {"1", "2", "3", "4", "5", "6"};
            send(publisher, topic, texts);
            for (List<MessageConsumer> pair : pairs) {
                Set<String> seen = new TreeSet<>();
                long end = System.currentTimeMillis() + WAIT;
                while (seen.size() < texts.length && System.currentTimeMillis() < end) {
                    for (MessageConsumer consumer : pair) {
                        Message message = consumer.receive(20);
                        if (message != null) check(seen.add(text(message)), "twice " + message);
                    }
                }
                same(new TreeSet<>(List.of(texts)), seen);
                for (MessageConsumer consumer : pair) consumer.close();
            }
            send(publisher, topic, "missed");
            MessageConsumer back = session.createSharedDurableConsumer(topic, "s2");
            same("missed", text(back.receive(WAIT)));
            back.close();
            session.unsubscribe("s2");
            MessageConsumer all = reader.createSharedDurableConsumer(topic, "s3");
            same("missed", text(all.receive(WAIT)));
            all.close();
            reader.unsubscribe("s3");
        }
    }

    /// A message of ten megabytes, whose bytes come back as they were.
    static void large() throws Exception {
        byte[] body = new byte[10 << 20];
        new Random(7).nextBytes(body);
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(true, Session.SESSION_TRANSACTED);
            Queue queue = session.createQueue("APP.Q");
            BytesMessage message = session.createBytesMessage();
            message.writeBytes(body);
            session.createProducer(queue).send(message);
            session.commit();
            BytesMessage got = (BytesMessage) session.createConsumer(queue).receive(60_000);
            byte[] back = new byte[(int) got.getBodyLength()];
            got.readBytes(back);
            check(Arrays.equals(body, back), "the bytes differ");
            session.commit();
        }
    }

    /// What is more urgent comes first, and what is too late never.
    static void order() throws Exception {
        try (Connection connection = connect(null)) {
            Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
            Queue queue = session.createQueue("APP.Q");
            MessageProducer producer = session.createProducer(queue);
            int[] priorities = {1, 9, 4, 9, 0};
            for (int i = 0; i < priorities.length; i++) {
                TextMessage message = session.createTextMessage(priorities[i] + "/" + i);
                producer.send(message, DeliveryMode.NON_PERSISTENT, priorities[i], 0);
            }
            TextMessage late = session.createTextMessage("late");
            producer.send(late, DeliveryMode.PERSISTENT, 5, 1);
            Thread.sleep(250);
            MessageConsumer consumer = session.createConsumer(queue);
            for (String expected : new String[] {"9/1", "9/3", "4/2", "1/0", "0/4"}) {
                same(expected, text(consumer.receive(WAIT)));
            }
            same(null, consumer.receive(NOTHING));
        }
    }

    /// Sends until the door is closed, and tells how many were acknowledged.
    static void load() throws Exception {
        int sent = 0;
        Connection connection = connect(null);
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer producer = session.createProducer(session.createQueue("APP.Q"));
        try {
            while (true) {
                producer.send(session.createTextMessage("m" + sent));
                sent++;
            }
        } catch (JMSException error) {
            check(error.toString().contains("forced"), error);
            System.out.println("sent " + sent);
        }
    }

    public static void main(String[] arguments) throws Exception {
        url = arguments[0];
        try {
            Jms.class.getDeclaredMethod(arguments[1]).invoke(null);
        } catch (java.lang.reflect.InvocationTargetException error) {
            error.getCause().printStackTrace();
            System.exit(1);
        }
        System.out.println("ok");
        System.exit(0);
    }
}
