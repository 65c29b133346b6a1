package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"go-thrift/generated/benchmark"
)

var (
	framed = thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
	binary = thrift.NewTBinaryProtocolFactoryConf(nil)
)

func measure(connectionPerCall bool) {
	if method := text("METHOD", "Greeter/say"); method != "Greeter/say" {
		unsupported("the client of go-thrift calls Greeter/say, not %s", method)
	}
	connections := number("CONNECTIONS", 1)
	if concurrency := number("CONCURRENCY", connections); concurrency != connections {
		unsupported("a connection of Thrift carries one call at a time: %d connections for %d calls",
			connections, concurrency)
	}
	run(callers(connections, connectionPerCall))
}

func callers(connections int, connectionPerCall bool) []caller {
	deadline := milliseconds("DEADLINE_MS", 0)
	limits := &thrift.TConfiguration{ConnectTimeout: deadline, SocketTimeout: deadline}
	callers := make([]caller, connections)
	for i := range callers {
		c := &connection{socket: thrift.NewTSocketConf(text("TARGET", ""), limits)}
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

// code names an error as gRPC would.
func code(err error) string {
	var transport thrift.TTransportException
	switch {
	case errors.As(err, &transport) && transport.TypeId() == thrift.TIMED_OUT:
		return "DEADLINE_EXCEEDED"
	case errors.As(err, &transport):
		return "UNAVAILABLE"
	case errors.Is(err, errWrongReply):
		return "DATA_LOSS"
	default:
		return "UNKNOWN"
	}
}
