package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/golang/protobuf/proto"
	"golang.org/x/net/context"
	"google.golang.org/grpc"

	"bookend-contract-go/trial"

	"go-grpc-oldest/generated/benchmark"
	"go-grpc-oldest/generated/complex"
	"go-grpc-oldest/generated/helloworld"
)

func TestMain(m *testing.M) { trial.Main(m, main) }

func TestEveryServiceAnswers(t *testing.T) {
	server := trial.Start(t, "ROLE=server", "VARIANT=oldest")
	_, address, _ := strings.Cut(server.Target(), "=")
	connection, err := grpc.Dial(address, grpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()

	say, err := benchmark.NewHelloClient(connection).Say(context.Background(), &message{})
	if err != nil || say.Field1 != "OK" || say.Field2 != 100 {
		t.Error(say, err)
	}
	hello, err := helloworld.NewGreeterClient(connection).SayHello(
		context.Background(), &helloworld.HelloRequest{Name: "world"})
	if err != nil || hello.Message != "Hello world!" {
		t.Error(hello, err)
	}
	sent := &complex.Hello{Name: "a name"}
	echo, err := complex.NewGreeterClient(connection).SayHello(
		context.Background(), &complex.HelloRequest{Request: sent})
	if err != nil || echo.Response.Name != sent.Name {
		t.Error(echo, err)
	}
	counts := server.End()
	if counts["served"] != 3 || counts["note connections_accepted"] != 1 {
		t.Error(counts)
	}
}

func requestFile(t *testing.T, request proto.Message) string {
	file := filepath.Join(t.TempDir(), "request.bin")
	encoded, err := proto.Marshal(request)
	if err == nil {
		err = os.WriteFile(file, encoded, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "REQUEST_FILE=" + file
}

func TestBothEndsCountTheSameCallsAndConnections(t *testing.T) {
	server := trial.Start(t, "ROLE=server")
	to := []string{"ROLE=client", server.Target(), requestFile(t, &message{Field9: "nine"})}
	long := trial.Run(t, append(to, "VARIANT=oldest-long",
		"CONNECTIONS=3", "CONCURRENCY=7", "WARMUP_MS=20", "MEASURE_MS=50")...)
	short := trial.Run(t, append(to, "VARIANT=oldest-short",
		"CONNECTIONS=4", "CALLS=40", "DEADLINE_MS=10000")...)
	perCall := trial.Run(t, append(to, "VARIANT=oldest-long", "CONNECTION_PER_CALL=1",
		"CONNECTIONS=4", "CALLS=30")...)
	counts := server.End()

	calls := long["warmup"] + long["ok"] + long["drained"] + 70
	if counts["served"] != calls || counts["note connections_accepted"] != 3+40+30 {
		t.Errorf("%d calls: %v", calls, counts)
	}
	if long["ok"] == 0 || long["latencies"] != long["ok"] || long["unfinished"] != 0 {
		t.Errorf("long: %v", long)
	}
	if short["ok"] != 40 || perCall["ok"] != 30 || short["note latency_without_setup_p50_ns"] == 0 {
		t.Errorf("%v and %v", short, perCall)
	}
}

func TestTheGreeterIsCalledAsWell(t *testing.T) {
	server := trial.Start(t, "ROLE=server")
	client := trial.Run(t, "ROLE=client", "VARIANT=oldest-long", server.Target(), "CALLS=50",
		requestFile(t, &helloworld.HelloRequest{Name: "world"}), "METHOD=helloworld.Greeter/SayHello")
	if counts := server.End(); client["ok"] != 50 || counts["served"] != 50 {
		t.Errorf("%v, %v", client, counts)
	}
}

func TestAServerThatIsNotThereIsUnavailableAndASilentOneLate(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	short := []string{"ROLE=client", "VARIANT=oldest-short", "CALLS=1", "DEADLINE_MS=50",
		"TARGET=" + listener.Addr().String(), requestFile(t, &message{})}
	late := trial.Run(t, short...)
	listener.Close()
	refused := trial.Run(t, short...)
	if late["error DEADLINE_EXCEEDED"] != 1 || refused["error UNAVAILABLE"] != 1 {
		t.Errorf("%v, then %v", late, refused)
	}
	if refused["note connections_refused"] != 1 {
		t.Error(refused)
	}
}

func TestAReplyToSomethingElseIsNoSuccess(t *testing.T) {
	if err := check(nil, "Hello you!", "Hello world!"); code(err) != "DATA_LOSS" {
		t.Error(err)
	}
}
