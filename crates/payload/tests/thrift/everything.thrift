// Every type, every kind of definition, and an included file.
include "shared.thrift"

namespace go everything

const i32 SEVEN = 7
const string GREETING = "hello"

typedef i64 Count
typedef list<shared.Point> Path

enum Color { RED = 1, GREEN, BLUE = 3 }

union Shape {
  1: i32 edges
  2: string name
}

struct Everything {
  1: bool yes
  2: bool no
  3: byte tiny
  4: i16 small
  5: i32 middle
  6: Count large
  7: double exact
  8: string text
  9: binary raw
  10: Color color
  11: list<bool> truths
  12: list<i32> numbers
  13: set<string> words
  14: map<string, Count> counts
  15: map<i32, string> names
  40: optional shared.Point point
  41: Path path
  42: Shape shape
  43: uuid id
  300: bool last
}

struct Defaults {
  1: required string name
  2: i32 count = SEVEN
  3: string greeting = GREETING
  4: Color color = Color.GREEN
  5: shared.Unit unit = shared.Unit.METRE
  6: list<i16> sizes = [1, 2]
  7: map<string, double> weights = {"a": 0.5}
  8: shared.Point origin = {"x": 1}
  9: optional i64 given
  10: optional Defaults inner
}

exception NotFound {
  1: string what
  2: Color color
}

service Base {
  void ping()
}

service Everywhere extends Base {
  Everything echo(1: Everything value) throws (1: NotFound missing),
  i32 add(1: i32 left, 2: i32 right = 2),
  Defaults fill(1: Defaults value),
  oneway void note(1: string text),
  shared.Point origin(),
}
