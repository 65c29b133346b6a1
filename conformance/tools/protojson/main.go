// The reference of JSON as protobuf defines it: Go's protojson, asked line by line.
//
// It compiles the .proto files of a folder. Each line of standard input is a question, its words
// separated by spaces and whatever may have any bytes in hexadecimal digits; each line of standard
// output is the answer:
//
//	set                  the compiled files as a FileDescriptorSet
//	message TYPE SEED    a random message: its JSON and its bytes
//	read TYPE JSON       the bytes of a message in JSON, or "refused" and why
//	same TYPE A B        whether two encodings are one message: "yes" or "no"
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Schema is what was compiled.
type Schema struct {
	set   *descriptorpb.FileDescriptorSet
	types *dynamicpb.Types
	// All of the top level.
	extensions []protoreflect.ExtensionType
}

func main() {
	schema, err := compile(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	out := bufio.NewWriter(os.Stdout)
	for lines.Scan() {
		answer, err := schema.answer(strings.Fields(lines.Text()))
		if err != nil {
			answer = "refused " + strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Fprintln(out, answer)
		out.Flush()
	}
}

func compile(folder string) (*Schema, error) {
	paths, err := filepath.Glob(filepath.Join(folder, "*.proto"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	compiler := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{
			ImportPaths: []string{folder},
		}),
	}
	compiled, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	set := &descriptorpb.FileDescriptorSet{}
	seen := map[string]bool{}
	for _, file := range compiled {
		collect(file, seen, set)
	}
	// Go's own descriptors instead of the compiler's: those are what a generated client has.
	files, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, err
	}
	schema := &Schema{set: set, types: dynamicpb.NewTypes(files)}
	for _, file := range compiled {
		declared := file.Extensions()
		for i := 0; i < declared.Len(); i++ {
			extension, err := schema.types.FindExtensionByName(declared.Get(i).FullName())
			if err != nil {
				return nil, err
			}
			schema.extensions = append(schema.extensions, extension)
		}
	}
	return schema, nil
}

// collect adds a file behind its imports.
func collect(
	file protoreflect.FileDescriptor, seen map[string]bool, set *descriptorpb.FileDescriptorSet,
) {
	if seen[file.Path()] {
		return
	}
	seen[file.Path()] = true
	for i := 0; i < file.Imports().Len(); i++ {
		collect(file.Imports().Get(i).FileDescriptor, seen, set)
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(file))
}

func (s *Schema) answer(words []string) (string, error) {
	if len(words) == 1 && words[0] == "set" {
		bytes, err := proto.Marshal(s.set)
		return hex.EncodeToString(bytes), err
	}
	if len(words) < 3 {
		return "", fmt.Errorf("no question: %q", words)
	}
	found, err := s.types.FindMessageByName(protoreflect.FullName(words[1]))
	if err != nil {
		return "", err
	}
	switch words[0] {
	case "message":
		return s.random(found, words[2])
	case "read":
		return s.read(found, words[2])
	case "same":
		return s.same(found, words[2], words[3])
	}
	return "", fmt.Errorf("no question: %q", words)
}

func (s *Schema) random(of protoreflect.MessageType, seed string) (string, error) {
	number, err := strconv.ParseInt(seed, 10, 64)
	if err != nil {
		return "", err
	}
	generator := generator{
		random: rand.New(rand.NewSource(number)), types: s.types, extensions: s.extensions,
	}
	message := of.New()
	generator.fill(message, 0)
	json, err := protojson.MarshalOptions{Resolver: s.types}.Marshal(message.Interface())
	if err != nil {
		return "", err
	}
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message.Interface())
	return hex.EncodeToString(json) + " " + hex.EncodeToString(bytes), err
}

func (s *Schema) read(of protoreflect.MessageType, text string) (string, error) {
	json, err := hex.DecodeString(text)
	if err != nil {
		return "", err
	}
	message := of.New().Interface()
	if err := (protojson.UnmarshalOptions{Resolver: s.types}).Unmarshal(json, message); err != nil {
		return "", err
	}
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	return "bytes " + hex.EncodeToString(bytes), err
}

// same compares messages by their JSON: proto.Equal does not tell -0.0 from 0.0, and compares what is
// in an Any byte by byte, where fields may be in another order.
func (s *Schema) same(of protoreflect.MessageType, texts ...string) (string, error) {
	var written []string
	for _, text := range texts {
		// An empty message has no digits.
		bytes, err := hex.DecodeString(strings.TrimPrefix(text, "x"))
		if err != nil {
			return "", err
		}
		message := of.New().Interface()
		if err := (proto.UnmarshalOptions{Resolver: s.types}).Unmarshal(bytes, message); err != nil {
			return "", err
		}
		json, err := protojson.MarshalOptions{Resolver: s.types}.Marshal(message)
		if err != nil {
			return "", err
		}
		written = append(written, string(json))
	}
	if written[0] == written[1] {
		return "yes", nil
	}
	return "no", nil
}
