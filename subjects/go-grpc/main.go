// The greeters and the echo of forty fields on grpc-go, and clients of the echo and the plain greeter.
package main

import (
	"fmt"
	"os"
	"runtime"

	"google.golang.org/grpc"

	"bookend-contract-go"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		fmt.Println("grpc-go", grpc.Version, runtime.Version())
		return
	}
	runtime.GOMAXPROCS(contract.Number("CPUS", runtime.NumCPU()))
	watch := contract.StartWatch()
	role, variant := contract.Text("ROLE", "server"), contract.Text("VARIANT", "default")
	growth, isServer := collection[variant]
	switch {
	case role == "server" && isServer:
		serve(growth)
	case role == "client" && (variant == "long" || variant == "default"):
		measure(contract.Text("CONNECTION_PER_CALL", "0") == "1")
	case role == "client" && variant == "short":
		measure(true)
	default:
		contract.Unsupported("go-grpc has no variant %s as %s", variant, role)
	}
	watch.Print()
}
