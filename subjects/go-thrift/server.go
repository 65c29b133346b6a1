package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"sync/atomic"

	"github.com/apache/thrift/lib/go/thrift"

	"go-thrift/generated/benchmark"
)

var served, accepted atomic.Int64

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(newServer(listener).Serve()) }()
	fmt.Println("ready", listener.Addr().(*net.TCPAddr).Port)
	awaitEndOfInput()
	fmt.Println("served", served.Load())
	fmt.Println("note connections_accepted", accepted.Load())
}

// newServer returns what was published about: TSimpleServer with a goroutine a connection.
func newServer(listener net.Listener) *thrift.TSimpleServer {
	listen := func(net.Addr) (net.Listener, error) { return countingListener{listener}, nil }
	socket := thrift.NewTServerSocketFromFactoryTimeout(listen, listener.Addr(), 0)
	return thrift.NewTSimpleServer4(
		benchmark.NewGreeterProcessor(greeter{}), socket, framed, binary)
}

type countingListener struct{ net.Listener }

func (l countingListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err == nil {
		accepted.Add(1)
	}
	return connection, err
}

type greeter struct{}

type message = benchmark.BenchmarkMessage

func (greeter) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}
