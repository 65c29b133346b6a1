package main

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go"

	"go-thrift/generated/benchmark"
)

// Framed transport, binary protocol: as published, with the library's own limits.
var (
	framed = thrift.NewTFramedTransportFactoryConf(thrift.NewTTransportFactory(), nil)
	binary = thrift.NewTBinaryProtocolFactoryConf(nil)
)

var served atomic.Int64

func serve() {
	contract.Serve(serveOn, &served)
}

func serveOn(listener net.Listener) error {
	listen := func(net.Addr) (net.Listener, error) { return listener, nil }
	socket := thrift.NewTServerSocketFromFactoryTimeout(listen, listener.Addr(), 0)
	processor := benchmark.NewGreeterProcessor(greeter{})
	server := thrift.NewTSimpleServer4(processor, socket, framed, binary)
	// What Serve does, which keeps to itself why no more connections are accepted.
	server.SetLogContext(context.Background())
	if err := server.Listen(); err != nil {
		return err
	}
	return server.AcceptLoop()
}

type message = benchmark.BenchmarkMessage

type greeter struct{}

func (greeter) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}
