package main

import (
	"fmt"
	"log"
	"os"
	"time"

	"github.com/golang/protobuf/proto"
	"golang.org/x/net/context"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"bookend-contract-go"

	"go-grpc-oldest/generated/benchmark"
	"go-grpc-oldest/generated/helloworld"
)

// What the clients call: the bytes of a request become a call, which is the same each time.
var methods = map[string]func(request []byte) call{
	"main.Hello/Say":              say,
	"helloworld.Greeter/SayHello": sayHello,
}

type call func(context.Context, *grpc.ClientConn) error

type client struct {
	target   string
	deadline time.Duration
	call     call
}

func measure(connectionPerCall bool) {
	contract.Transport("h2c")
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
		target:   contract.Text("TARGET", ""),
		deadline: contract.Milliseconds("DEADLINE_MS", 0),
		call:     prepare(request),
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
		connection, err := dial(context.Background(), c.target)
		if err != nil {
			log.Fatal(err)
		}
		connections[i] = connection
	}
	for i := range callers {
		connection := connections[i%len(connections)]
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
	connection, err := dial(ctx, c.target)
	switch {
	case err == context.DeadlineExceeded:
		return 0, grpc.Errorf(codes.DeadlineExceeded, "%v", err)
	case err != nil:
		return 0, grpc.Errorf(codes.Unavailable, "%v", err)
	}
	defer connection.Close()
	start := time.Now()
	err = c.call(ctx, connection)
	return time.Since(start), err
}

func (c client) context() (context.Context, context.CancelFunc) {
	if c.deadline == 0 {
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), c.deadline)
}

// dial returns once the connection is there. Without the last option it would try again for ever
// what was refused.
func dial(ctx context.Context, target string) (*grpc.ClientConn, error) {
	return grpc.DialContext(
		ctx, target, grpc.WithInsecure(), grpc.WithBlock(), grpc.FailOnNonTempDialError(true))
}

// The statuses that this version's library makes, which writes names as Go does.
var names = map[codes.Code]string{
	codes.Canceled:          "CANCELLED",
	codes.InvalidArgument:   "INVALID_ARGUMENT",
	codes.DeadlineExceeded:  "DEADLINE_EXCEEDED",
	codes.ResourceExhausted: "RESOURCE_EXHAUSTED",
	codes.Unimplemented:     "UNIMPLEMENTED",
	codes.Internal:          "INTERNAL",
	codes.Unavailable:       "UNAVAILABLE",
	codes.DataLoss:          "DATA_LOSS",
}

func code(err error) string {
	if name, isKnown := names[grpc.Code(err)]; isKnown {
		return name
	}
	return "UNKNOWN"
}

func say(encoded []byte) call {
	request := &message{}
	decode(encoded, request)
	return func(ctx context.Context, connection *grpc.ClientConn) error {
		reply, err := benchmark.NewHelloClient(connection).Say(ctx, request)
		return check(err, reply.GetField1(), "OK")
	}
}

func sayHello(encoded []byte) call {
	request := &helloworld.HelloRequest{}
	decode(encoded, request)
	greeting := fmt.Sprintf("Hello %s!", request.GetName())
	return func(ctx context.Context, connection *grpc.ClientConn) error {
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
		return grpc.Errorf(codes.DataLoss, "the reply is %q, not %q", replied, expected)
	}
	return err
}
