// Package trial starts a subject as the lab does, from within its own tests.
package trial

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// Main is the TestMain of a subject: started by the functions below, the test's binary is the
// subject itself.
func Main(m *testing.M, subject func()) {
	if os.Getenv("BOOKEND_CONTRACT") == "1" {
		subject()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// A Process is a subject that runs.
type Process struct {
	t      *testing.T
	input  io.Closer
	output *bufio.Scanner
	*exec.Cmd
}

// Start starts the subject with variables as NAME=VALUE, without their BOOKEND_.
func Start(t *testing.T, variables ...string) *Process {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), "BOOKEND_CONTRACT=1")
	for _, variable := range variables {
		command.Env = append(command.Env, "BOOKEND_"+variable)
	}
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return &Process{t, input, bufio.NewScanner(output), command}
}

// Target waits until the server is ready, and returns the variable that leads a client to it.
func (p *Process) Target() string {
	if p.output.Scan() {
		port, ready := strings.CutPrefix(p.output.Text(), "ready ")
		if socket := p.variable("UNIX_SOCKET"); ready && port == "0" && socket != "" {
			return "TARGET=unix:" + socket
		}
		if ready {
			return "TARGET=127.0.0.1:" + port
		}
	}
	p.t.Fatalf("not ready: %q", p.output.Text())
	return ""
}

func (p *Process) variable(name string) string {
	value := ""
	for _, variable := range p.Env {
		if found, ok := strings.CutPrefix(variable, "BOOKEND_"+name+"="); ok {
			value = found
		}
	}
	return value
}

// Run lets a client run to its end, and returns its counts by their names; see End.
func Run(t *testing.T, variables ...string) map[string]int {
	p := Start(t, variables...)
	defer p.input.Close()
	return p.counts()
}

// End closes a server's standard input, and returns the numbers that it prints then by their
// names. The counts of a client's latencies add up under the name "latencies".
func (p *Process) End() map[string]int {
	p.input.Close()
	return p.counts()
}

func (p *Process) counts() map[string]int {
	counts := map[string]int{}
	for p.output.Scan() {
		name, value := "", p.output.Text()
		if space := strings.LastIndexByte(value, ' '); space >= 0 {
			name, value = value[:space], value[space+1:]
		}
		number, err := strconv.Atoi(value)
		if err != nil {
			continue
		}
		if _, err := strconv.Atoi(name); err == nil {
			name = "latencies"
		}
		counts[name] += number
	}
	if err := p.Wait(); err != nil {
		p.t.Fatal(err)
	}
	return counts
}
