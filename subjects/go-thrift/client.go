package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go"

	"go-thrift/generated/benchmark"
)

// measure calls Greeter.say whatever BOOKEND_METHOD says, since a suite names gRPC's methods.
func measure(connectionPerCall bool) {
	connections := contract.Number("CONNECTIONS", 1)
	concurrency := contract.Number("CONCURRENCY", connections)
	if concurrency != connections {
		contract.Unsupported("a connection of Thrift carries one call at a time, not %d on %d",
			concurrency, connections)
	}
	connect := func() []contract.Caller { return callers(connections, connectionPerCall) }
	contract.Run(connect, code)
}

func callers(connections int, connectionPerCall bool) []contract.Caller {
	deadline := contract.Milliseconds("DEADLINE_MS", 0)
	limits := &thrift.TConfiguration{ConnectTimeout: deadline, SocketTimeout: deadline}
	callers := make([]contract.Caller, connections)
	for i := range callers {
		c := &connection{socket: thrift.NewTSocketConf(contract.Text("TARGET", ""), limits)}
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
	socket *thrift.TSocket
	client *benchmark.GreeterClient
}

func (c *connection) connect() error {
	if err := c.socket.Open(); err != nil {
		return err
	}
	transport, err := framed.GetTransport(c.socket)
	if err == nil {
		c.client = benchmark.NewGreeterClientFactory(transport, binary)
	}
	return err
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
	reply, err := c.client.Say(context.Background(), request)
	if err != nil {
		c.socket.Close()
	} else if reply.GetField1() != "OK" {
		err = fmt.Errorf("%w: field1 is %q", errWrongReply, reply.GetField1())
	}
	return 0, err
}

var errWrongReply = errors.New("wrong reply")

// code names an error as gRPC would. The deadline is one of each read and write.
func code(err error) string {
	var network net.Error
	var transport thrift.TTransportException
	switch {
	case errors.As(err, &network) && network.Timeout():
		return "DEADLINE_EXCEEDED"
	case errors.As(err, &transport):
		return "UNAVAILABLE"
	case errors.Is(err, errWrongReply):
		return "DATA_LOSS"
	default:
		return "UNKNOWN"
	}
}
