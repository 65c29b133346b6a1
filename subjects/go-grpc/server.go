package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/reflection"

	"bookend-contract-go"

	"go-grpc/generated/benchmark"
	"go-grpc/generated/complex"
	"go-grpc/generated/helloworld"
)

// By how many percent a heap may grow before it is collected, a variant; 100 is Go's default.
var collection = map[string]int{"default": 100, "gogc-50": 50, "gogc-400": 400, "gogc-off": -1}

// Without collections memory would end within seconds: above this they come back. No other variant
// comes near.
const memoryLimitBytes = 2 << 30

var served atomic.Int64

func serve(growthPercent int) {
	debug.SetGCPercent(growthPercent)
	debug.SetMemoryLimit(memoryLimitBytes)
	contract.Serve(newServer().Serve, &served)
}

func newServer() *grpc.Server {
	server := grpc.NewServer(grpc.Creds(serverCredentials()))
	benchmark.RegisterHelloServer(server, hello{})
	helloworld.RegisterGreeterServer(server, greeter{})
	complex.RegisterGreeterServer(server, complexGreeter{})
	reflection.Register(server)
	return server
}

type message = benchmark.BenchmarkMessage

type hello struct {
	benchmark.UnimplementedHelloServer
}

func (hello) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}

type greeter struct {
	helloworld.UnimplementedGreeterServer
}

func (greeter) SayHello(
	_ context.Context, request *helloworld.HelloRequest,
) (*helloworld.HelloReply, error) {
	served.Add(1)
	return &helloworld.HelloReply{Message: fmt.Sprintf("Hello %s!", request.GetName())}, nil
}

type complexGreeter struct {
	complex.UnimplementedGreeterServer
}

func (complexGreeter) SayHello(
	_ context.Context, request *complex.HelloRequest,
) (*complex.HelloReply, error) {
	served.Add(1)
	return &complex.HelloReply{Response: request.GetRequest()}, nil
}
