package main

import (
	"context"
	"net"
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

// inSubjectFolder is where the lab starts subjects.
func inSubjectFolder(t *testing.T) { t.Chdir("..") }

func TestTheMessageHasThePublishedSize(t *testing.T) {
	inSubjectFolder(t)
	buffer := thrift.NewTMemoryBuffer()
	protocol := thrift.NewTBinaryProtocolFactoryDefault().GetProtocol(buffer)
	if err := readRequest().Write(protocol); err != nil || buffer.Len() != 691 {
		t.Errorf("%v, %d bytes", err, buffer.Len())
	}
}

func TestBothEndsCountTheSameCallsAndConnections(t *testing.T) {
	inSubjectFolder(t)
	server := trial.Start(t, "ROLE=server")
	target := server.Target()
	long := trial.Run(t, "ROLE=client", "VARIANT=oldest-long", target,
		"CONNECTIONS=5", "CONCURRENCY=5", "WARMUP_MS=20", "MEASURE_MS=50")
	short := trial.Run(t, "ROLE=client", "VARIANT=oldest-short", target,
		"CONNECTIONS=4", "CALLS=40", "DEADLINE_MS=10000")
	perCall := trial.Run(t, "ROLE=client", "VARIANT=oldest-long", "CONNECTION_PER_CALL=1", target,
		"CONNECTIONS=4", "CALLS=30")
	counts := server.End()

	calls := long["warmup"] + long["ok"] + long["drained"] + 70
	if counts["served"] != calls || counts["note connections_accepted"] != 5+40+30 {
		t.Errorf("%d calls: %v", calls, counts)
	}
	if long["ok"] == 0 || long["latencies"] != long["ok"] || long["unfinished"] != 0 {
		t.Errorf("long: %v", long)
	}
	if short["ok"] != 40 || perCall["ok"] != 30 || short["note latency_without_setup_p50_ns"] == 0 {
		t.Errorf("%v and %v", short, perCall)
	}
}

func TestASilentServerExceedsTheDeadlineAndNoneIsUnavailable(t *testing.T) {
	inSubjectFolder(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := []string{"ROLE=client", "TARGET=" + listener.Addr().String(), "CALLS=1", "DEADLINE_MS=20"}
	late := trial.Run(t, append(to, "VARIANT=oldest-long")...)
	listener.Close()
	if late["error DEADLINE_EXCEEDED"] != 1 {
		t.Error(late)
	}
	for _, variant := range []string{"VARIANT=oldest-long", "VARIANT=oldest-short"} {
		refused := trial.Run(t, append(to, variant)...)
		if refused["error UNAVAILABLE"] != 1 || refused["note connections_refused"] != 1 {
			t.Errorf("%s: %v", variant, refused)
		}
	}
}
