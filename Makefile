# Two commands are all a newcomer needs. What each does stands in its script, which runs without make too.
.PHONY: bench test

bench:
	@/bin/sh scripts/bench

test:
	@/bin/sh scripts/test
