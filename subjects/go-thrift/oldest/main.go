// The echo of go-thrift on Apache Thrift 0.12.0, the oldest that is a module, and a client of it.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"sync/atomic"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go"

	"go-thrift-oldest/generated/benchmark"
)

var served atomic.Int64

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		printVersion()
		return
	}
	runtime.GOMAXPROCS(contract.Number("CPUS", runtime.NumCPU()))
	contract.Transport("h2c")
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
		contract.Unsupported("go-thrift has no variant %s as %s", variant, role)
	}
	watch.Print()
}

// printVersion looks into the build, since the library does not tell.
func printVersion() {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/apache/thrift" {
			fmt.Println("thrift-go", module.Version[1:], runtime.Version())
		}
	}
}

// serve has framed transport and binary protocol, as published.
func serve(listener net.Listener) error {
	framed := thrift.NewTFramedTransportFactory(thrift.NewTTransportFactory())
	binary := thrift.NewTBinaryProtocolFactoryDefault()
	processor := benchmark.NewGreeterProcessor(greeter{})
	server := thrift.NewTSimpleServer4(processor, accepting{listener}, framed, binary)
	// What Serve does, which keeps to itself why no more connections are accepted.
	if err := server.Listen(); err != nil {
		return err
	}
	return server.AcceptLoop()
}

// accepting is the library's server socket, but for a listener that listens already.
type accepting struct{ listener net.Listener }

func (a accepting) Listen() error { return nil }

func (a accepting) Accept() (thrift.TTransport, error) {
	connection, err := a.listener.Accept()
	if err != nil {
		return nil, err
	}
	return thrift.NewTSocketFromConnTimeout(connection, 0), nil
}

func (a accepting) Close() error { return a.listener.Close() }

func (a accepting) Interrupt() error { return a.listener.Close() }

type message = benchmark.BenchmarkMessage

type greeter struct{}

func (greeter) Say(_ context.Context, request *message) (*message, error) {
	served.Add(1)
	request.Field1 = "OK"
	request.Field2 = 100
	return request, nil
}
