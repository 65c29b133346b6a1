// The echo of forty fields on Apache Thrift, and a client of it.
package main

import (
	"os"
	"runtime"

	"bookend-contract-go"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		contract.PrintVersion("thrift-go", "github.com/apache/thrift")
		return
	}
	runtime.GOMAXPROCS(contract.Number("CPUS", runtime.NumCPU()))
	watch := contract.StartWatch()
	switch role, variant := contract.Text("ROLE", "server"), contract.Text("VARIANT", "default"); role + " " + variant {
	case "server default":
		serve()
	case "client long", "client default":
		measure(contract.Text("CONNECTION_PER_CALL", "0") == "1")
	case "client short":
		measure(true)
	default:
		contract.Unsupported("go-thrift has no variant %s as %s", variant, role)
	}
	watch.Print()
}
