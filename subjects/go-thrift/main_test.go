package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/thrift/lib/go/thrift"

	"bookend-contract-go/trial"
)

func TestMain(m *testing.M) { trial.Main(m, main) }

func TestTheMessageHasThePublishedSize(t *testing.T) {
	buffer := thrift.NewTMemoryBuffer()
	if err := request.Write(context.Background(), binary.GetProtocol(buffer)); err != nil {
		t.Fatal(err)
	}
	if buffer.Len() != 691 || len(sentence) != 54 {
		t.Errorf("%d bytes, of which a sentence has %d", buffer.Len(), len(sentence))
	}
}

func TestTheMessageIsThatOfTheOtherSubjects(t *testing.T) {
	text, err := os.ReadFile("../../proto/benchmark_message_equal.json")
	fields := map[string]any{}
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil || len(fields) != 40 {
		t.Fatal(len(fields), err)
	}
	for name, value := range fields {
		own := reflect.ValueOf(request).Elem().FieldByName("F" + name[1:])
		// field5 is a list of one there.
		if theirs := strings.Trim(fmt.Sprint(value), "[]"); fmt.Sprint(own) != theirs {
			t.Errorf("%s is %v, not %s", name, own, theirs)
		}
	}
}

func TestBothEndsCountTheSameCallsAndConnections(t *testing.T) {
	server := trial.Start(t, "ROLE=server")
	target := server.Target()
	long := trial.Run(t, "ROLE=client", "VARIANT=long", target,
		"CONNECTIONS=5", "CONCURRENCY=5", "WARMUP_MS=20", "MEASURE_MS=50")
	short := trial.Run(t, "ROLE=client", "VARIANT=short", target,
		"CONNECTIONS=4", "CALLS=40", "DEADLINE_MS=10000")
	perCall := trial.Run(t, "ROLE=client", "VARIANT=long", "CONNECTION_PER_CALL=1", target,
		"CONNECTIONS=4", "CALLS=30")
	counts := server.End()

	calls := long["warmup"] + long["ok"] + long["drained"] + 70
	if counts["served"] != calls || counts["note connections_accepted"] != 5+40+30 {
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

func TestAServerThatIsNotThereIsUnavailable(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := "TARGET=" + free.Addr().String()
	free.Close()
	for _, variant := range []string{"VARIANT=long", "VARIANT=short"} {
		client := trial.Run(t, "ROLE=client", variant, target, "CALLS=1")
		if client["error UNAVAILABLE"] != 1 || client["note connections_refused"] != 1 {
			t.Errorf("%s: %v", variant, client)
		}
	}
}

func TestASilentServerExceedsTheDeadline(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	client := trial.Run(t, "ROLE=client", "VARIANT=long", "TARGET="+silent.Addr().String(),
		"CALLS=1", "DEADLINE_MS=20")
	if client["error DEADLINE_EXCEEDED"] != 1 {
		t.Error(client)
	}
}
