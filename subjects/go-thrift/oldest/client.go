package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go"

	"go-thrift-oldest/generated/benchmark"
)

// measure calls Greeter.say whatever BOOKEND_METHOD says, since a suite names gRPC's methods.
func measure(connectionPerCall bool) {
	connections := contract.Number("CONNECTIONS", 1)
	concurrency := contract.Number("CONCURRENCY", connections)
	if concurrency != connections {
		contract.Unsupported("a connection of Thrift carries one call at a time, not %d on %d",
			concurrency, connections)
	}
	request := readRequest()
	connect := func() []contract.Caller { return callers(request, connections, connectionPerCall) }
	contract.Run(connect, code)
}

// readRequest has the file next to subject.toml, which is that of bookend-load as well: the one
// of the contract holds the message in protobuf.
func readRequest() *message {
	arguments := struct{ Name message }{}
	text, err := os.ReadFile("benchmark_message.json")
	if err == nil {
		err = json.Unmarshal(text, &arguments)
	}
	if err != nil {
		log.Fatal(err)
	}
	return &arguments.Name
}

func callers(request *message, connections int, connectionPerCall bool) []contract.Caller {
	deadline := contract.Milliseconds("DEADLINE_MS", 0)
	callers := make([]contract.Caller, connections)
	for i := range callers {
		socket, err := thrift.NewTSocketTimeout(contract.Text("TARGET", ""), deadline)
		if err != nil {
			log.Fatal(err)
		}
		c := &connection{socket: socket, request: request}
		callers[i] = c.say
		if connectionPerCall {
			callers[i] = c.connectAndSay
			continue
		}
		// Whether that goes well is seen by the calls.
		_ = c.connect()
	}
	return callers
}

type connection struct {
	socket  *thrift.TSocket
	client  *benchmark.GreeterClient
	request *message
}

func (c *connection) connect() error {
	if err := c.socket.Open(); err != nil {
		return err
	}
	c.client = benchmark.NewGreeterClientFactory(
		thrift.NewTFramedTransport(c.socket), thrift.NewTBinaryProtocolFactoryDefault())
	return nil
}

func (c *connection) connectAndSay() (time.Duration, error) {
	if err := c.connect(); err != nil {
		return 0, err
	}
	defer c.socket.Close()
	start := time.Now()
	_, err := c.say()
	return time.Since(start), err
}

// say connects anew after an error, since the answer to an earlier call could still come.
func (c *connection) say() (time.Duration, error) {
	if !c.socket.IsOpen() {
		if err := c.connect(); err != nil {
			return 0, err
		}
	}
	reply, err := c.client.Say(context.Background(), c.request)
	if err != nil {
		c.socket.Close()
	} else if reply.GetField1() != "OK" {
		err = fmt.Errorf("%w: field1 is %q", errWrongReply, reply.GetField1())
	}
	return 0, err
}

var errWrongReply = errors.New("wrong reply")

// code names an error as gRPC would. The deadline is one of each read and write; this version of the
// library keeps no more of an error than its text.
func code(err error) string {
	_, isOfTransport := err.(thrift.TTransportException)
	switch {
	case strings.Contains(err.Error(), "i/o timeout"):
		return "DEADLINE_EXCEEDED"
	case isOfTransport:
		return "UNAVAILABLE"
	case errors.Is(err, errWrongReply):
		return "DATA_LOSS"
	default:
		return "UNKNOWN"
	}
}
