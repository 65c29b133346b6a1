// The echo of forty fields on Apache Thrift, and a client of it.
package main

import (
	"fmt"
	"log"
	"os"
	"runtime"
	"runtime/debug"
)

const library = "github.com/apache/thrift"

func main() {
	if len(os.Args) > 1 && os.Args[1] == "--version" {
		printVersion()
		return
	}
	runtime.GOMAXPROCS(number("CPUS", runtime.NumCPU()))
	watch := startWatch()
	switch role, variant := text("ROLE", "server"), text("VARIANT", "default"); role + " " + variant {
	case "server default":
		serve()
	case "client default", "client long", "client short":
		go func() {
			awaitEndOfInput()
			log.Fatal("standard input was closed before the end of the run")
		}()
		measure(variant == "short" || text("CONNECTION_PER_CALL", "0") == "1")
	default:
		unsupported("go-thrift has no variant %s as %s", variant, role)
	}
	watch.print()
}

func printVersion() {
	build, _ := debug.ReadBuildInfo()
	for _, dependency := range build.Deps {
		if dependency.Path == library {
			fmt.Println("thrift-go", dependency.Version[1:], build.GoVersion)
		}
	}
}
