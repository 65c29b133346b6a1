// The echo of forty fields on Apache Thrift, and a client of it.
package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"bookend-contract-go"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		printVersion()
		return
	}
	runtime.GOMAXPROCS(contract.Number("CPUS", runtime.NumCPU()))
	contract.Transport("h2c")
	watch := contract.StartWatch()
	role, variant := contract.Text("ROLE", "server"), contract.Text("VARIANT", "default")
	switch role + " " + variant {
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

// printVersion looks into the build, since the library does not tell.
func printVersion() {
	build, _ := debug.ReadBuildInfo()
	for _, module := range build.Deps {
		if module.Path == "github.com/apache/thrift" {
			fmt.Println("thrift-go", module.Version[1:], runtime.Version())
		}
	}
}
