package main

import (
	"strings"
	"testing"

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
