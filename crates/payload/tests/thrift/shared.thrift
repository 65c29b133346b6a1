# Types that other files use.
enum Unit { METRE, MILE }

struct Point {
  1: required i32 x
}

service Shared {
  void stay(),
}
