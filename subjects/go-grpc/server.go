package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"runtime/debug"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"go-grpc/generated/benchmark"
	"go-grpc/generated/complex"
	"go-grpc/generated/helloworld"
)

// Without collections memory ends within seconds; above this they come back.
const memoryLimitBytes = 2 << 30

var served, accepted atomic.Int64

func collectGarbage(variant string) {
	switch variant {
	case "gogc-50":
		debug.SetGCPercent(50)
	case "gogc-400":
		debug.SetGCPercent(400)
	case "gogc-off":
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(memoryLimitBytes)
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(newServer().Serve(countingListener{listener})) }()
	fmt.Println("ready", listener.Addr().(*net.TCPAddr).Port)
	awaitEndOfInput()
	fmt.Println("served", served.Load())
	fmt.Println("note connections_accepted", accepted.Load())
}

func newServer() *grpc.Server {
	server := grpc.NewServer()
	benchmark.RegisterHelloServer(server, hello{})
	helloworld.RegisterGreeterServer(server, greeter{})
	complex.RegisterGreeterServer(server, complexGreeter{})
	reflection.Register(server)
	return server
}

type countingListener struct{ net.Listener }

func (l countingListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err == nil {
		accepted.Add(1)
	}
	return connection, err
}

type hello struct {
	benchmark.UnimplementedHelloServer
}

type message = benchmark.BenchmarkMessage

func (hello) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}

type greeter struct {
	helloworld.UnimplementedGreeterServer
}

func (greeter) SayHello(_ context.Context, request *helloworld.HelloRequest) (*helloworld.HelloReply, error) {
	served.Add(1)
	return &helloworld.HelloReply{Message: fmt.Sprintf("Hello %s!", request.GetName())}, nil
}

type complexGreeter struct {
	complex.UnimplementedGreeterServer
}

func (complexGreeter) SayHello(_ context.Context, request *complex.HelloRequest) (*complex.HelloReply, error) {
	served.Add(1)
	return &complex.HelloReply{Response: request.GetRequest()}, nil
}
