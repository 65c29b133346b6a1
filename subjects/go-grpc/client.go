package main

import (
	"context"
	"log"
	"os"
	"time"

	rpc "google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"go-grpc/generated/benchmark"
)

type client struct {
	request  *message
	deadline time.Duration
}

func measure(connectionPerCall bool) {
	if method := text("METHOD", "main.Hello/Say"); method != "main.Hello/Say" {
		unsupported("the client of go-grpc calls main.Hello/Say, not %s", method)
	}
	c := client{request: &message{}, deadline: milliseconds("DEADLINE_MS", 0)}
	encoded, err := os.ReadFile(text("REQUEST_FILE", ""))
	if err == nil {
		err = proto.Unmarshal(encoded, c.request)
	}
	if err != nil {
		log.Fatal("BOOKEND_REQUEST_FILE: ", err)
	}
	run(c.callers(connectionPerCall))
}

// callers returns one for every call in flight, spread evenly over connections that are there.
func (c client) callers(connectionPerCall bool) []caller {
	connections := make([]*grpc.ClientConn, number("CONNECTIONS", 1))
	callers := make([]caller, number("CONCURRENCY", len(connections)))
	if connectionPerCall {
		for i := range callers {
			callers[i] = c.connectAndSay
		}
		return callers
	}
	for i := range connections {
		connections[i] = dial()
	}
	for i := range callers {
		connection := connections[i%len(connections)]
		awaitConnection(context.Background(), connection)
		callers[i] = func() (time.Duration, error) {
			ctx, cancel := c.context()
			defer cancel()
			return 0, c.say(ctx, connection)
		}
	}
	return callers
}

func (c client) connectAndSay() (time.Duration, error) {
	ctx, cancel := c.context()
	defer cancel()
	connection := dial()
	defer connection.Close()
	awaitConnection(ctx, connection)
	start := time.Now()
	err := c.say(ctx, connection)
	return time.Since(start), err
}

func (c client) say(ctx context.Context, connection *grpc.ClientConn) error {
	reply, err := benchmark.NewHelloClient(connection).Say(ctx, c.request)
	if err == nil && reply.GetField1() != "OK" {
		return status.Errorf(codes.DataLoss, "field1 of the reply is %q", reply.GetField1())
	}
	return err
}

func (c client) context() (context.Context, context.CancelFunc) {
	if c.deadline == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), c.deadline)
}

// dial begins to connect; whether that goes well is seen by the calls.
func dial() *grpc.ClientConn {
	plaintext := grpc.WithTransportCredentials(insecure.NewCredentials())
	connection, err := grpc.NewClient(text("TARGET", ""), plaintext)
	if err != nil {
		log.Fatal(err)
	}
	connection.Connect()
	return connection
}

func awaitConnection(ctx context.Context, connection *grpc.ClientConn) {
	for {
		state := connection.GetState()
		connecting := state == connectivity.Idle || state == connectivity.Connecting
		if !connecting || !connection.WaitForStateChange(ctx, state) {
			return
		}
	}
}

func code(err error) string {
	return rpc.Code(status.Code(err)).String()
}
