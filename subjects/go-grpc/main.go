// The greeters and the echo of forty fields on grpc-go, and a client of the latter.
package main

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
)

const library = "google.golang.org/grpc"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		printVersion()
		return
	}
	runtime.GOMAXPROCS(number("CPUS", runtime.NumCPU()))
	watch := startWatch()
	switch role, variant := text("ROLE", "server"), text("VARIANT", "default"); role + " " + variant {
	case "server default", "server gogc-50", "server gogc-400", "server gogc-off":
		collectGarbage(variant)
		serve()
	case "client default", "client long", "client short":
		go func() {
			awaitEndOfInput()
			log.Fatal("standard input was closed before the end of the run")
		}()
		measure(variant == "short" || text("CONNECTION_PER_CALL", "0") == "1")
	default:
		unsupported("go-grpc has no variant %s as %s", variant, role)
	}
	watch.print()
}

func printVersion() {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == library {
			fmt.Println("grpc-go", dependency.Version[1:], build.GoVersion)
		}
	}
}
