package main

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"bookend-contract-go/trial"

	"go-grpc/generated/complex"
	"go-grpc/generated/helloworld"
)

func TestMain(m *testing.M) { trial.Main(m, main) }

func encoded(t *testing.T, file string, request proto.Message) []byte {
	text, err := os.ReadFile(filepath.Join("../../proto", file))
	if err == nil {
		err = protojson.Unmarshal(text, request)
	}
	bytes, marshalError := proto.Marshal(request)
	if err != nil || marshalError != nil {
		t.Fatal(err, marshalError)
	}
	return bytes
}

func TestTheMessageHasThePublishedSize(t *testing.T) {
	for file, bytes := range map[string]int{
		"benchmark_message.json":       581,
		"benchmark_message_equal.json": 591,
	} {
		if length := len(encoded(t, file, &message{})); length != bytes {
			t.Errorf("%s: %d bytes, not %d", file, length, bytes)
		}
	}
}

func requestFile(t *testing.T) string {
	return write(t, encoded(t, "benchmark_message.json", &message{}))
}

func write(t *testing.T, request []byte) string {
	file := filepath.Join(t.TempDir(), "request.bin")
	if err := os.WriteFile(file, request, 0o600); err != nil {
		t.Fatal(err)
	}
	return "REQUEST_FILE=" + file
}

func TestBothEndsCountTheSameCallsAndConnections(t *testing.T) {
	server := trial.Start(t, "ROLE=server", "VARIANT=gogc-400")
	target, request := server.Target(), requestFile(t)
	long := trial.Run(t, "ROLE=client", "VARIANT=long", target, request,
		"CONNECTIONS=3", "CONCURRENCY=7", "WARMUP_MS=20", "MEASURE_MS=50")
	short := trial.Run(t, "ROLE=client", "VARIANT=short", target, request,
		"CONNECTIONS=4", "CALLS=40", "DEADLINE_MS=10000")
	perCall := trial.Run(t, "ROLE=client", "VARIANT=long", "CONNECTION_PER_CALL=1", target, request,
		"CONNECTIONS=4", "CALLS=30")
	counts := server.End()

	calls := long["warmup"] + long["ok"] + long["drained"] + 70
	if counts["served"] != calls || counts["note connections_accepted"] != 3+40+30 {
		t.Errorf("%d calls: %v", calls, counts)
	}
	if long["ok"] == 0 || long["latencies"] != long["ok"] || long["unfinished"] != 0 {
		t.Errorf("long: %v", long)
	}
	for _, client := range []map[string]int{short, perCall} {
		alone := client["note latency_without_setup_p50_ns"]
		if client["ok"] != client["latencies"] || alone == 0 || client["note connections_refused"] != 0 {
			t.Errorf("a connection for every call: %v", client)
		}
	}
	if short["ok"] != 40 || perCall["ok"] != 30 {
		t.Errorf("%d and %d calls", short["ok"], perCall["ok"])
	}
}

func TestTheGreeterIsCalledAsWell(t *testing.T) {
	server := trial.Start(t, "ROLE=server")
	request := write(t, encoded(t, "helloworld.json", &helloworld.HelloRequest{}))
	to := []string{server.Target(), request, "METHOD=helloworld.Greeter/SayHello", "ROLE=client"}
	long := trial.Run(t, append(to, "VARIANT=long", "CONNECTIONS=2", "CONCURRENCY=5", "CALLS=50")...)
	short := trial.Run(t, append(to, "VARIANT=short", "CALLS=20")...)
	counts := server.End()
	if long["ok"] != 50 || short["ok"] != 20 || counts["served"] != 70 {
		t.Errorf("%v, %v, %v", long, short, counts)
	}
}

func TestAReplyToSomethingElseIsNoSuccess(t *testing.T) {
	if err := check(nil, "Hello you!", "Hello world!"); code(err) != "DATA_LOSS" {
		t.Error(err)
	}
}

func TestEveryTransportCarriesTheSameCalls(t *testing.T) {
	for _, transport := range [][]string{secured(t), sock(t)} {
		server := trial.Start(t, append(transport, "ROLE=server")...)
		to := append(transport, server.Target(), requestFile(t), "ROLE=client", "CALLS=20")
		long := trial.Run(t, append(to, "VARIANT=long")...)
		short := trial.Run(t, append(to, "VARIANT=short")...)
		counts := server.End()
		if long["ok"] != 20 || short["ok"] != 20 || counts["served"] != 40 {
			t.Errorf("%s: %v, %v, %v", transport[0], long, short, counts)
		}
		if counts["note connections_accepted"] != 1+20 {
			t.Errorf("%s: %v", transport[0], counts)
		}
	}
}

func TestACertificateOfNobodyIsRefused(t *testing.T) {
	server := trial.Start(t, append(secured(t), "ROLE=server")...)
	stranger := append(secured(t), server.Target(), requestFile(t), "ROLE=client", "CALLS=1")
	client := trial.Run(t, stranger...)
	if client["ok"] != 0 || client["error UNAVAILABLE"] != 1 {
		t.Errorf("%v", client)
	}
	if counts := server.End(); counts["served"] != 0 {
		t.Errorf("%v", counts)
	}
}

func TestAServerThatIsNotThereIsUnavailable(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := "TARGET=" + free.Addr().String()
	free.Close()
	for _, variant := range []string{"VARIANT=long", "VARIANT=short"} {
		client := trial.Run(t, "ROLE=client", variant, target, requestFile(t), "CALLS=1")
		if client["error UNAVAILABLE"] != 1 || client["note connections_refused"] != 1 {
			t.Errorf("%s: %v", variant, client)
		}
	}
}

func TestEveryServiceAnswers(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := newServer()
	defer server.Stop()
	go func() { _ = server.Serve(listener) }()
	plaintext := grpc.WithTransportCredentials(clientCredentials())
	connection := client{target: listener.Addr().String(), credentials: plaintext}.dial()
	defer connection.Close()

	hello, err := helloworld.NewGreeterClient(connection).SayHello(
		context.Background(), &helloworld.HelloRequest{Name: "world"})
	if err != nil || hello.GetMessage() != "Hello world!" {
		t.Error(hello, err)
	}
	sent := &complex.Hello{Name: "a name", Pets: []*complex.Pet{{Name: "Bof"}}}
	echo, err := complex.NewGreeterClient(connection).SayHello(
		context.Background(), &complex.HelloRequest{Request: sent})
	if err != nil || !proto.Equal(echo.GetResponse(), sent) {
		t.Error(echo, err)
	}
	for name, prepare := range methods {
		if err := prepare(nil)(context.Background(), connection); err != nil {
			t.Error(name, err)
		}
	}
}
