// Package generated holds what Thrift's compiler 0.12.0 made of benchmark_message.thrift. It is
// committed, so that building needs no compiler; that one's sources are in the module's own archive,
// under compiler/cpp.
package generated

//go:generate thrift --gen go -out . ../../benchmark_message.thrift
//go:generate rm -r benchmark/greeter-remote
//go:generate gofmt -w benchmark
