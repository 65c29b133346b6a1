# Two commands are all a newcomer needs, and one more whoever changes something. What each does stands in its script,
# which runs without make too.
.PHONY: bench check test

bench:
	@/bin/sh scripts/bench

check:
	@/bin/sh scripts/test --quick

test:
	@/bin/sh scripts/test
