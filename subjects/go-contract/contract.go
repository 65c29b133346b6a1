// Package contract is docs/extend/subject-contract.md for subjects in Go: variables in, lines out. It
// knows nothing of any RPC library, and is a module of its own for those that measure another one.
package contract

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Text reads the variable BOOKEND_name. One that is set to nothing counts as not set.
func Text(name, otherwise string) string {
	if value := os.Getenv("BOOKEND_" + name); value != "" {
		return value
	}
	return otherwise
}

// Number reads a variable that is a whole number, and ends the process if it is not.
func Number(name string, otherwise int) int {
	value, err := strconv.ParseUint(Text(name, strconv.Itoa(otherwise)), 10, 31)
	if err != nil {
		log.Fatalf("BOOKEND_%s: %v", name, err)
	}
	return int(value)
}

// Milliseconds reads a variable that is a duration.
func Milliseconds(name string, otherwise int) time.Duration {
	return time.Duration(Number(name, otherwise)) * time.Millisecond
}

// Unsupported ends the process in the way that means: not by this library's design.
func Unsupported(reason string, details ...any) {
	fmt.Fprintf(os.Stderr, reason+"\n", details...)
	os.Exit(89)
}

// Transport tells what carries the connections, and ends the process if that is not supported.
func Transport(supported ...string) string {
	asked := Text("TRANSPORT", "h2c")
	if !slices.Contains(supported, asked) {
		Unsupported("no connections over %s here, only over %s", asked, strings.Join(supported, ", "))
	}
	return asked
}

// awaitEndOfInput returns when the lab closes standard input; without a lab, never.
func awaitEndOfInput() {
	if Text("CONTRACT", "0") != "1" {
		select {}
	}
	// A read that fails ends the process as the end of the input does.
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Serve runs a server until the lab ends it, and prints how many calls it answered.
func Serve(serve func(net.Listener) error, served *atomic.Int64) {
	network, address := "tcp", net.JoinHostPort(Text("LISTEN", "127.0.0.1"), "0")
	if Text("TRANSPORT", "") == "unix" {
		network, address = "unix", Text("UNIX_SOCKET", "")
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		log.Fatal(err)
	}
	counting := &countingListener{Listener: listener}
	go func() { log.Fatal(serve(counting)) }()
	fmt.Println("ready", port(listener.Addr()))
	awaitEndOfInput()
	fmt.Println("served", served.Load())
	fmt.Println("note connections_accepted", counting.accepted.Load())
}

// port is 0 for a socket with a path.
func port(address net.Addr) int {
	if tcp, ok := address.(*net.TCPAddr); ok {
		return tcp.Port
	}
	return 0
}

type countingListener struct {
	net.Listener
	accepted atomic.Int64
}

func (l *countingListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return connection, err
}
