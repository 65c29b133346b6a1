// Package generated holds what protoc made of proto/ for the grpc-go of 2017, whose generator is
// installed by: go install github.com/golang/protobuf/protoc-gen-go@v1.0.0
package generated

//go:generate protoc -I ../../../../proto --go_out=plugins=grpc,import_path=benchmark:benchmark benchmark_message.proto
//go:generate protoc -I ../../../../proto --go_out=plugins=grpc,import_path=complex:complex complex_proto.proto
//go:generate protoc -I ../../../../proto --go_out=plugins=grpc,import_path=helloworld:helloworld helloworld.proto
