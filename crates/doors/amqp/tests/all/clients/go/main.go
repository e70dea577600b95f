// Scenarios of a client with go-amqp. Called with the address and the name of a scenario.
package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	amqp "github.com/Azure/go-amqp"
)

var url string

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func same(expected, found any) {
	if expected != found {
		panic(fmt.Sprintf("expected %v, found %v", expected, found))
	}
}

func connect(ctx context.Context, options *amqp.ConnOptions) (*amqp.Conn, *amqp.Session) {
	connection, err := amqp.Dial(ctx, url, options)
	check(err)
	session, err := connection.NewSession(ctx, nil)
	check(err)
	return connection, session
}

func send(ctx context.Context, session *amqp.Session, to string, messages ...*amqp.Message) {
	sender, err := session.NewSender(ctx, to, nil)
	check(err)
	for _, message := range messages {
		check(sender.Send(ctx, message, nil))
	}
	check(sender.Close(ctx))
}

func receiver(ctx context.Context, s *amqp.Session, from string, o *amqp.ReceiverOptions) *amqp.Receiver {
	made, err := s.NewReceiver(ctx, from, o)
	check(err)
	return made
}

// kinds: what is sent comes back with all that it says of itself.
func kinds(ctx context.Context) {
	connection, session := connect(ctx, nil)
	defer connection.Close()
	subject, reply, group := "greeting", "REPLY.Q", "g"
	sequence := uint32(3)
	full := &amqp.Message{
		Header: &amqp.MessageHeader{Durable: true, Priority: 7, TTL: time.Minute},
		Properties: &amqp.MessageProperties{
			MessageID: uint64(77), Subject: &subject, ReplyTo: &reply,
			CorrelationID: "mine", GroupID: &group, GroupSequence: &sequence,
		},
		ApplicationProperties: map[string]any{"colour": "red", "n": int64(5), "u": uint64(1 << 63)},
		Annotations:           amqp.Annotations{"x-opt-mine": "kept"},
		Value:                 "hello",
	}
	data := amqp.NewMessage([]byte{0, 1, 2})
	send(ctx, session, "APP.Q", full, data)
	from := receiver(ctx, session, "APP.Q", nil)
	got, err := from.Receive(ctx, nil)
	check(err)
	same("hello", got.Value)
	same(true, got.Header.Durable)
	same(uint8(7), got.Header.Priority)
	same(uint64(77), got.Properties.MessageID)
	same("mine", got.Properties.CorrelationID)
	same("greeting", *got.Properties.Subject)
	same("REPLY.Q", *got.Properties.ReplyTo)
	same("g", *got.Properties.GroupID)
	same(uint32(3), *got.Properties.GroupSequence)
	same("red", got.ApplicationProperties["colour"])
	same(int64(5), got.ApplicationProperties["n"])
	same(uint64(1<<63), got.ApplicationProperties["u"])
	same("kept", got.Annotations["x-opt-mine"])
	check(from.AcceptMessage(ctx, got))
	got, err = from.Receive(ctx, nil)
	check(err)
	same(true, bytes.Equal(got.GetData(), []byte{0, 1, 2}))
	check(from.AcceptMessage(ctx, got))
}

// fates: what is released comes again, what is modified with a count, what is rejected no more.
func fates(ctx context.Context) {
	connection, session := connect(ctx, nil)
	defer connection.Close()
	send(ctx, session, "APP.Q", amqp.NewMessage([]byte("one")))
	second := amqp.ReceiverSettleModeSecond
	from := receiver(ctx, session, "APP.Q", &amqp.ReceiverOptions{SettlementMode: &second})
	next := func(count uint32) *amqp.Message {
		message, err := from.Receive(ctx, nil)
		check(err)
		same(count, message.Header.DeliveryCount)
		return message
	}
	check(from.ReleaseMessage(ctx, next(0)))
	check(from.ModifyMessage(ctx, next(0), &amqp.ModifyMessageOptions{DeliveryFailed: true}))
	check(from.RejectMessage(ctx, next(1), &amqp.Error{Condition: "app:no"}))
}

// sources: selectors, topics, durable subscriptions, addresses that are made.
func sources(ctx context.Context) {
	options := &amqp.ConnOptions{ContainerID: "go-client"}
	connection, session := connect(ctx, options)
	defer connection.Close()
	red, green := amqp.NewMessage([]byte("red")), amqp.NewMessage([]byte("green"))
	red.ApplicationProperties = map[string]any{"colour": "red"}
	green.ApplicationProperties = map[string]any{"colour": "green"}
	send(ctx, session, "APP.Q", red, green)
	selector := amqp.NewSelectorFilter("colour = 'green'")
	from := receiver(ctx, session, "APP.Q",
		&amqp.ReceiverOptions{Filters: []amqp.LinkFilter{selector}})
	got, err := from.Receive(ctx, nil)
	check(err)
	same("green", string(got.GetData()))
	check(from.AcceptMessage(ctx, got))
	check(from.Close(ctx))

	durable := &amqp.ReceiverOptions{
		Name: "sub", SourceDurability: amqp.DurabilityUnsettledState,
		SourceExpiryPolicy: amqp.ExpiryPolicyNever, SourceCapabilities: []string{"topic"},
	}
	receiver(ctx, session, "news/today", durable)
	check(connection.Close())
	connection, session = connect(ctx, options)
	defer connection.Close()
	target := &amqp.SenderOptions{TargetCapabilities: []string{"topic"}}
	sender, err := session.NewSender(ctx, "news/today", target)
	check(err)
	check(sender.Send(ctx, amqp.NewMessage([]byte("missed")), nil))
	from = receiver(ctx, session, "news/today", durable)
	got, err = from.Receive(ctx, nil)
	check(err)
	same("missed", string(got.GetData()))
	check(from.AcceptMessage(ctx, got))
	check(from.Close(ctx))

	from = receiver(ctx, session, "", &amqp.ReceiverOptions{DynamicAddress: true})
	send(ctx, session, from.Address(), amqp.NewMessage([]byte("answer")))
	got, err = from.Receive(ctx, nil)
	check(err)
	same("answer", string(got.GetData()))
}

// refusals: what cannot be is refused, and the connection goes on.
func refusals(ctx context.Context) {
	connection, session := connect(ctx, nil)
	defer connection.Close()
	_, err := session.NewSender(ctx, "NO.SUCH.Q", nil)
	var refused *amqp.Error
	if !errors.As(err, &refused) {
		panic(fmt.Sprintf("%T %v", err, err))
	}
	same(amqp.ErrCondNotFound, refused.Condition)
	full, err := session.NewSender(ctx, "FULL.Q", nil)
	check(err)
	check(full.Send(ctx, amqp.NewMessage([]byte("fits")), nil))
	err = full.Send(ctx, amqp.NewMessage([]byte("does not")), nil)
	if !errors.As(err, &refused) {
		panic(err)
	}
	same(amqp.ErrCondResourceLimitExceeded, refused.Condition)
	_, err = amqp.Dial(ctx, url, &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("joe", "wrong")})
	same(true, err != nil)
	right := &amqp.ConnOptions{SASLType: amqp.SASLTypePlain("joe", "secret")}
	known, _ := connect(ctx, right)
	check(known.Close())
}

// secured: over TLS, by a password or by a certificate; not without.
func secured(ctx context.Context) {
	folder := os.Args[3]
	read := func(name string) []byte {
		content, err := os.ReadFile(folder + "/" + name)
		check(err)
		return content
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(read("ca.pem"))
	own, err := tls.X509KeyPair(read("client.pem"), read("client.key"))
	check(err)
	plain := &tls.Config{RootCAs: roots, ServerName: "localhost"}
	certified := &tls.Config{
		RootCAs: roots, ServerName: "localhost", Certificates: []tls.Certificate{own},
	}
	url = strings.Replace(url, "amqp://", "amqps://", 1)
	for _, options := range []*amqp.ConnOptions{
		{TLSConfig: certified, SASLType: amqp.SASLTypeExternal("")},
		{TLSConfig: plain, SASLType: amqp.SASLTypePlain("joe", "secret")},
	} {
		connection, session := connect(ctx, options)
		send(ctx, session, "APP.Q", amqp.NewMessage([]byte("one")))
		check(connection.Close())
	}
	for _, options := range []*amqp.ConnOptions{
		{TLSConfig: plain, SASLType: amqp.SASLTypeExternal("")},
		{TLSConfig: plain, SASLType: amqp.SASLTypePlain("joe", "wrong")},
		{TLSConfig: plain, SASLType: amqp.SASLTypeAnonymous()},
		{TLSConfig: plain},
	} {
		_, err := amqp.Dial(ctx, url, options)
		same(true, err != nil)
	}
}

// large: a message of ten megabytes.
func large(ctx context.Context) {
	connection, session := connect(ctx, nil)
	defer connection.Close()
	body := bytes.Repeat([]byte("0123456789abcdef"), 10<<16)
	message := amqp.NewMessage(body)
	message.Header = &amqp.MessageHeader{Durable: true}
	send(ctx, session, "APP.Q", message)
	from := receiver(ctx, session, "APP.Q", nil)
	got, err := from.Receive(ctx, nil)
	check(err)
	same(true, bytes.Equal(body, got.GetData()))
	check(from.AcceptMessage(ctx, got))
}

func main() {
	url = os.Args[1]
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	scenarios := map[string]func(context.Context){
		"kinds": kinds, "fates": fates, "sources": sources, "refusals": refusals, "large": large,
		"secured": secured,
	}
	scenarios[os.Args[2]](ctx)
	fmt.Println("ok")
}
