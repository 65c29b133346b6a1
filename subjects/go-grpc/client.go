package main

import (
	"context"
	"fmt"
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
	"go-grpc/generated/helloworld"
)

// What the clients call: the bytes of a request become a call, which is the same each time.
var methods = map[string]func(request []byte) call{
	"main.Hello/Say":              say,
	"helloworld.Greeter/SayHello": sayHello,
}

type call func(context.Context, grpc.ClientConnInterface) error

type client struct {
	target      string
	credentials grpc.DialOption
	deadline    time.Duration
	call        call
}

func measure(connectionPerCall bool) {
	name := contract.Text("METHOD", "main.Hello/Say")
	prepare, isKnown := methods[name]
	if !isKnown {
		contract.Unsupported("the clients of go-grpc do not call %s", name)
	}
	request, err := os.ReadFile(contract.Text("REQUEST_FILE", ""))
	if err != nil {
		log.Fatal("BOOKEND_REQUEST_FILE: ", err)
	}
	c := client{
		target:      contract.Text("TARGET", ""),
		credentials: grpc.WithTransportCredentials(clientCredentials()),
		deadline:    contract.Milliseconds("DEADLINE_MS", 0),
		call:        prepare(request),
	}
	contract.Run(func() []contract.Caller { return c.callers(connectionPerCall) }, code)
}

// callers returns one for every call in flight, spread evenly over connections that are there.
func (c client) callers(connectionPerCall bool) []contract.Caller {
	connections := make([]*grpc.ClientConn, contract.Number("CONNECTIONS", 1))
	callers := make([]contract.Caller, contract.Number("CONCURRENCY", len(connections)))
	if connectionPerCall {
		for i := range callers {
			callers[i] = c.connectAndCall
		}
		return callers
	}
	for i := range connections {
		connections[i] = c.dial()
	}
	for i := range callers {
		connection := connections[i%len(connections)]
		awaitConnection(context.Background(), connection)
		callers[i] = func() (time.Duration, error) {
			ctx, cancel := c.context()
			defer cancel()
			return 0, c.call(ctx, connection)
		}
	}
	return callers
}

func (c client) connectAndCall() (time.Duration, error) {
	ctx, cancel := c.context()
	defer cancel()
	connection := c.dial()
	defer connection.Close()
	awaitConnection(ctx, connection)
	start := time.Now()
	err := c.call(ctx, connection)
	return time.Since(start), err
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

func say(encoded []byte) call {
	request := &message{}
	decode(encoded, request)
	return func(ctx context.Context, connection grpc.ClientConnInterface) error {
		reply, err := benchmark.NewHelloClient(connection).Say(ctx, request)
		return check(err, reply.GetField1(), "OK")
	}
}

func sayHello(encoded []byte) call {
	request := &helloworld.HelloRequest{}
	decode(encoded, request)
	greeting := fmt.Sprintf("Hello %s!", request.GetName())
	return func(ctx context.Context, connection grpc.ClientConnInterface) error {
		reply, err := helloworld.NewGreeterClient(connection).SayHello(ctx, request)
		return check(err, reply.GetMessage(), greeting)
	}
}

func decode(encoded []byte, request proto.Message) {
	if err := proto.Unmarshal(encoded, request); err != nil {
		log.Fatal("BOOKEND_REQUEST_FILE: ", err)
	}
}

func check(err error, replied, expected string) error {
	if err == nil && replied != expected {
		return status.Errorf(codes.DataLoss, "the reply is %q, not %q", replied, expected)
	}
	return err
}
