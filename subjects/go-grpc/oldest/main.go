// The services of go-grpc on grpc-go 1.3.0, the version that was published about, and clients of the
// echo and the plain greeter.
package main

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"sync/atomic"

	"golang.org/x/net/context"
	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"bookend-contract-go"

	"go-grpc-oldest/generated/benchmark"
	"go-grpc-oldest/generated/complex"
	"go-grpc-oldest/generated/helloworld"
)

var served atomic.Int64

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("grpc-go", grpc.Version, runtime.Version())
		return
	}
	runtime.GOMAXPROCS(contract.Number("CPUS", runtime.NumCPU()))
	watch := contract.StartWatch()
	role, variant := contract.Text("ROLE", "server"), contract.Text("VARIANT", "oldest")
	switch role + " " + variant {
	case "server oldest":
		contract.Serve(serve, &served)
	case "client oldest-long":
		measure(contract.Text("CONNECTION_PER_CALL", "0") == "1")
	case "client oldest-short":
		measure(true)
	default:
		contract.Unsupported("go-grpc has no variant %s as %s", variant, role)
	}
	watch.Print()
}

func serve(listener net.Listener) error {
	server := grpc.NewServer()
	benchmark.RegisterHelloServer(server, hello{})
	helloworld.RegisterGreeterServer(server, greeter{})
	complex.RegisterGreeterServer(server, complexGreeter{})
	reflection.Register(server)
	return server.Serve(listener)
}

type message = benchmark.BenchmarkMessage

type hello struct{}

func (hello) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}

type greeter struct{}

func (greeter) SayHello(
	_ context.Context, request *helloworld.HelloRequest,
) (*helloworld.HelloReply, error) {
	served.Add(1)
	return &helloworld.HelloReply{Message: fmt.Sprintf("Hello %s!", request.GetName())}, nil
}

type complexGreeter struct{}

func (complexGreeter) SayHello(
	_ context.Context, request *complex.HelloRequest,
) (*complex.HelloReply, error) {
	served.Add(1)
	return &complex.HelloReply{Response: request.GetRequest()}, nil
}
