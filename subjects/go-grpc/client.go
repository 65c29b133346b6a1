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
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"bookend-contract-go"

	"go-grpc/generated/benchmark"
)

const method = "main.Hello/Say"

type client struct {
	target      string
	credentials grpc.DialOption
	deadline    time.Duration
	request     *message
}

func measure(connectionPerCall bool) {
	if asked := contract.Text("METHOD", method); asked != method {
		contract.Unsupported("the client of go-grpc calls %s, not %s", method, asked)
	}
	c := client{
		target:      contract.Text("TARGET", ""),
		credentials: grpc.WithTransportCredentials(clientCredentials()),
		deadline:    contract.Milliseconds("DEADLINE_MS", 0),
		request:     readRequest(),
	}
	contract.Run(func() []contract.Caller { return c.callers(connectionPerCall) }, code)
}

func readRequest() *message {
	request := &message{}
	encoded, err := os.ReadFile(contract.Text("REQUEST_FILE", ""))
	if err == nil {
		err = proto.Unmarshal(encoded, request)
	}
	if err != nil {
		log.Fatal("BOOKEND_REQUEST_FILE: ", err)
	}
	return request
}

// callers returns one for every call in flight, spread evenly over connections that are there.
func (c client) callers(connectionPerCall bool) []contract.Caller {
	connections := make([]*grpc.ClientConn, contract.Number("CONNECTIONS", 1))
	callers := make([]contract.Caller, contract.Number("CONCURRENCY", len(connections)))
	if connectionPerCall {
		for i := range callers {
			callers[i] = c.connectAndSay
		}
		return callers
	}
	for i := range connections {
		connections[i] = c.dial()
	}
	for i := range callers {
		connection := connections[i%len(connections)]
		awaitConnection(context.Background(), connection)
		stub := benchmark.NewHelloClient(connection)
		callers[i] = func() (time.Duration, error) {
			ctx, cancel := c.context()
			defer cancel()
			return 0, c.say(ctx, stub)
		}
	}
	return callers
}

func (c client) connectAndSay() (time.Duration, error) {
	ctx, cancel := c.context()
	defer cancel()
	connection := c.dial()
	defer connection.Close()
	awaitConnection(ctx, connection)
	start := time.Now()
	err := c.say(ctx, benchmark.NewHelloClient(connection))
	return time.Since(start), err
}

func (c client) say(ctx context.Context, stub benchmark.HelloClient) error {
	reply, err := stub.Say(ctx, c.request)
	if err == nil && reply.GetField1() != "OK" {
		return status.Errorf(codes.DataLoss, "field1 of the reply is %q", reply.GetField1())
	}
	return err
}

func (c client) context() (context.Context, context.CancelFunc) {
	if c.deadline == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), c.deadline)
}

// dial begins to connect. Whether that goes well is seen by the calls.
func (c client) dial() *grpc.ClientConn {
	connection, err := grpc.NewClient(c.target, c.credentials)
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
