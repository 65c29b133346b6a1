package main

import (
	"math"
	"math/rand"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// Deeper messages have no messages in them.
const deepest = 3

type generator struct {
	random     *rand.Rand
	types      *dynamicpb.Types
	extensions []protoreflect.ExtensionType
}

func (g *generator) oneOf(n int) bool { return g.random.Intn(n) == 0 }

// fill sets some of a message's fields, and all that are required.
func (g *generator) fill(m protoreflect.Message, depth int) {
	if g.fillWellKnown(m, depth) {
		return
	}
	fields := m.Descriptor().Fields()
	for i := 0; i < fields.Len(); i++ {
		field := fields.Get(i)
		if field.Cardinality() == protoreflect.Required || g.oneOf(6) {
			g.set(m, field, depth)
		}
	}
	for _, extension := range g.extensions {
		field := extension.TypeDescriptor()
		if field.ContainingMessage().FullName() == m.Descriptor().FullName() && g.oneOf(3) {
			g.set(m, field, depth)
		}
	}
}

func (g *generator) set(m protoreflect.Message, field protoreflect.FieldDescriptor, depth int) {
	isMessage := field.Message() != nil && !field.IsMap()
	if isMessage && depth >= deepest && field.Cardinality() != protoreflect.Required {
		return
	}
	switch {
	case field.IsMap():
		g.setMap(m.Mutable(field).Map(), field, depth)
	case field.IsList():
		list := m.Mutable(field).List()
		for i := g.random.Intn(4); i > 0; i-- {
			if isMessage {
				g.fill(list.AppendMutable().Message(), depth+1)
			} else {
				list.Append(g.scalar(field))
			}
		}
	case isMessage:
		g.fill(m.Mutable(field).Message(), depth+1)
	default:
		m.Set(field, g.scalar(field))
	}
}

func (g *generator) setMap(entries protoreflect.Map, field protoreflect.FieldDescriptor, depth int) {
	if field.MapValue().Message() != nil && depth >= deepest {
		return
	}
	for count := g.random.Intn(4); count > 0; count-- {
		key := g.scalar(field.MapKey()).MapKey()
		value := entries.NewValue()
		if field.MapValue().Message() != nil {
			g.fill(value.Message(), depth+1)
		} else {
			value = g.scalar(field.MapValue())
		}
		entries.Set(key, value)
	}
}

var numbers = []int64{
	0, 1, -1, 2, 127, 128, 300, math.MaxInt32, math.MinInt32, math.MaxUint32, math.MaxInt64,
	math.MinInt64, 1<<53 + 1, -(1<<53 + 1), 1 << 63 >> 20,
}

var reals = []float64{
	0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e-7, 1e21, 123456789.125, math.MaxFloat32,
	math.SmallestNonzeroFloat32, math.MaxFloat64, math.SmallestNonzeroFloat64, 1<<53 + 2,
	math.Inf(1), math.Inf(-1), math.NaN(), 16777217, 1.00000017881393432617187499,
}

var texts = []string{
	"", "a", "Hello, world", "\"\\/\b\f\n\r\t", "\x00\x1f\x7f", "\u8c37\u6b4c", "\U0001f601", "null",
	"true", "1e3", "@type", "[x]", "<&>\u2028", strings.Repeat("long ", 30),
}

func (g *generator) scalar(field protoreflect.FieldDescriptor) protoreflect.Value {
	number := numbers[g.random.Intn(len(numbers))]
	if g.oneOf(2) {
		number = g.random.Int63() >> g.random.Intn(63)
	}
	real := reals[g.random.Intn(len(reals))]
	if g.oneOf(2) {
		real = math.Float64frombits(g.random.Uint64())
	}
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(number&1 == 1)
	case protoreflect.Int32Kind, protoreflect.Sint32Kind, protoreflect.Sfixed32Kind:
		return protoreflect.ValueOfInt32(int32(number))
	case protoreflect.Int64Kind, protoreflect.Sint64Kind, protoreflect.Sfixed64Kind:
		return protoreflect.ValueOfInt64(number)
	case protoreflect.Uint32Kind, protoreflect.Fixed32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Uint64Kind, protoreflect.Fixed64Kind:
		return protoreflect.ValueOfUint64(uint64(number))
	case protoreflect.FloatKind:
		return protoreflect.ValueOfFloat32(float32(real))
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(real)
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(texts[g.random.Intn(len(texts))])
	case protoreflect.BytesKind:
		bytes := make([]byte, g.random.Intn(9))
		g.random.Read(bytes)
		return protoreflect.ValueOfBytes(bytes)
	}
	values := field.Enum().Values()
	// All of them are null in JSON.
	isNull := field.Enum().FullName() == "google.protobuf.NullValue"
	if !isNull && g.oneOf(8) && !field.Enum().IsClosed() {
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(int32(number)))
	}
	return protoreflect.ValueOfEnum(values.Get(g.random.Intn(values.Len())).Number())
}

// fillWellKnown fills a message that has a form of its own with what has one in JSON.
func (g *generator) fillWellKnown(m protoreflect.Message, depth int) bool {
	fields := m.Descriptor().Fields()
	set := func(name protoreflect.Name, value any) {
		m.Set(fields.ByName(name), protoreflect.ValueOf(value))
	}
	switch m.Descriptor().FullName() {
	case "google.protobuf.Timestamp":
		const first, last = -62135596800, 253402300799
		set("seconds", first+g.random.Int63n(last-first+1))
		set("nanos", g.nanos())
	case "google.protobuf.Duration":
		seconds, nanos := g.random.Int63n(315576000001)>>g.random.Intn(39), g.nanos()
		if g.oneOf(2) {
			seconds, nanos = -seconds, -nanos
		}
		set("seconds", seconds)
		set("nanos", nanos)
	case "google.protobuf.FieldMask":
		paths := m.Mutable(fields.ByName("paths")).List()
		for i := g.random.Intn(4); i > 0; i-- {
			path := []string{"a", "foo_bar", "a.b_c.d1", "_x"}[g.random.Intn(4)]
			paths.Append(protoreflect.ValueOfString(path))
		}
	case "google.protobuf.Value":
		g.fillValue(m, depth)
	case "google.protobuf.Any":
		g.fillAny(m, depth)
	default:
		return false
	}
	return true
}

func (g *generator) nanos() int32 {
	return []int32{0, 1, 500000000, 10, 1000, 999999999, 120000000}[g.random.Intn(7)]
}

func (g *generator) fillValue(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	field := fields.Get(g.random.Intn(fields.Len()))
	if field.Message() != nil && depth >= deepest {
		field = fields.ByName("string_value")
	}
	switch {
	case field.Message() != nil:
		g.fill(m.Mutable(field).Message(), depth+1)
	case field.Kind() == protoreflect.EnumKind:
		m.Set(field, protoreflect.ValueOfEnum(0))
	case field.Kind() == protoreflect.DoubleKind:
		m.Set(field, protoreflect.ValueOfFloat64([]float64{0, math.Copysign(0, -1), 1.5, 1e300}[g.random.Intn(4)]))
	default:
		m.Set(field, g.scalar(field))
	}
}

func (g *generator) fillAny(m protoreflect.Message, depth int) {
	names := []protoreflect.FullName{
		"google.protobuf.Empty", "google.protobuf.Duration", "google.protobuf.Timestamp",
		"google.protobuf.Any", "google.protobuf.Int64Value", "google.protobuf.Value",
		"google.protobuf.Struct", "google.protobuf.FieldMask", "json3.Nested", "json3.All", "json2.Nested",
	}
	// An Any may be empty.
	choice := g.random.Intn(len(names) + 1)
	if choice == len(names) {
		return
	}
	of, err := g.types.FindMessageByName(names[choice])
	if err != nil {
		panic(err)
	}
	inner := of.New()
	g.fill(inner, depth+1)
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(inner.Interface())
	if err != nil {
		panic(err)
	}
	fields := m.Descriptor().Fields()
	url := "type.googleapis.com/" + string(names[choice])
	m.Set(fields.ByName("type_url"), protoreflect.ValueOfString(url))
	m.Set(fields.ByName("value"), protoreflect.ValueOfBytes(bytes))
}
