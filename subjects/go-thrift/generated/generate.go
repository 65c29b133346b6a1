// Package generated holds what Debian's thrift-compiler 0.17 made of benchmark_message.thrift. It is
// committed, so that building needs no compiler.
package generated

//go:generate thrift --gen go:skip_remote -out . ../benchmark_message.thrift
//go:generate gofmt -w benchmark
