package main

import (
	"context"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go/trial"

	"go-thrift-oldest/generated/benchmark"
)

func TestMain(m *testing.M) { trial.Main(m, main) }

func TestAConnectionHasOneGoroutine(t *testing.T) {
	server := trial.Start(t, "ROLE=server", "VARIANT=oldest")
	_, address, _ := strings.Cut(server.Target(), "=")
	const connections = 20
	for range connections {
		socket, err := thrift.NewTSocket(address)
		if err == nil {
			err = socket.Open()
		}
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
		client := benchmark.NewGreeterClientFactory(
			thrift.NewTFramedTransport(socket), thrift.NewTBinaryProtocolFactoryDefault())
		reply, err := client.Say(context.Background(), &message{Field9: "nine"})
		if err != nil || reply.Field1 != "OK" || reply.Field2 != 100 || reply.Field9 != "nine" {
			t.Fatal(reply, err)
		}
	}
	counts := server.End()
	if counts["served"] != connections || counts["note connections_accepted"] != connections {
		t.Error(counts)
	}
	// A few are the process's own; two a connection would be forty.
	if peak := counts["note goroutines_peak"]; peak < connections || peak >= 2*connections {
		t.Errorf("%d goroutines at most", peak)
	}
}
