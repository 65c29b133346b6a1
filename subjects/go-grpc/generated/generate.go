// Package generated holds what protoc made of proto/. It is committed, so that building needs no
// protoc: go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12 and
// google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.6.2 bring what "go generate" needs besides.
package generated

//go:generate -command protoc protoc -I ../../../proto --go_out=. --go-grpc_out=.
//go:generate protoc --go_opt=Mbenchmark_message.proto=./benchmark --go-grpc_opt=Mbenchmark_message.proto=./benchmark benchmark_message.proto
//go:generate protoc --go_opt=Mcomplex_proto.proto=./complex --go-grpc_opt=Mcomplex_proto.proto=./complex complex_proto.proto
//go:generate protoc --go_opt=Mhelloworld.proto=./helloworld --go-grpc_opt=Mhelloworld.proto=./helloworld helloworld.proto
