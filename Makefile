# Two commands are all a newcomer needs. What each does stands in its script, which runs without make too.
.PHONY: bench test

bench:
	@sh scripts/bench

test:
	@sh scripts/test
