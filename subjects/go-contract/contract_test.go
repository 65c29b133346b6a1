package contract

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

var errGone = errors.New("connection refused")

func nameOf(error) string { return "UNAVAILABLE" }

func callers(count int, call Caller) []Caller {
	callers := make([]Caller, count)
	for i := range callers {
		callers[i] = call
	}
	return callers
}

func TestThatManyCallsEndInTheWindow(t *testing.T) {
	for _, warmup := range []time.Duration{0, 10 * time.Millisecond} {
		var made atomic.Int64
		call := func() (time.Duration, error) {
			made.Add(1)
			return 0, nil
		}
		l := newLoad(nameOf)
		l.run(callers(7, call), warmup, 0, 1000)
		if l.ok != 1000 || l.latencies.TotalCount() != 1000 || l.inFlight != 0 {
			t.Errorf("%d calls, %d latencies, %d in flight", l.ok, l.latencies.TotalCount(), l.inFlight)
		}
		if int64(l.warmup+l.ok) != made.Load() || (warmup == 0) != (l.warmup == 0) {
			t.Errorf("%d in the warm-up, %d in the window, %d made", l.warmup, l.ok, made.Load())
		}
	}
}

func TestNoCallIsCountedTwiceOrLost(t *testing.T) {
	var made atomic.Int64
	call := func() (time.Duration, error) {
		made.Add(1)
		time.Sleep(time.Duration(rand.IntN(int(time.Millisecond))))
		return 0, nil
	}
	l := newLoad(nameOf)
	l.run(callers(50, call), 20*time.Millisecond, 50*time.Millisecond, 0)
	if counted := l.warmup + l.ok + l.drained; int64(counted) != made.Load() || l.unfinished != 0 {
		t.Errorf("%d counted and %d unfinished of %d", counted, l.unfinished, made.Load())
	}
	if l.warmup == 0 || l.ok == 0 || l.drained == 0 || l.drained > 50 {
		t.Errorf("%d, then %d, then %d", l.warmup, l.ok, l.drained)
	}
}

func TestWhatTheEndOfTheWindowCutsOffIsCountedWithItsAge(t *testing.T) {
	l := newLoad(nameOf)
	end := make(chan struct{})
	go func() {
		for isOver := false; !isOver; time.Sleep(time.Millisecond) {
			l.Lock()
			isOver = l.phase == over
			l.Unlock()
		}
		close(end)
	}()
	call := func() (time.Duration, error) {
		<-end
		return 0, nil
	}
	l.run(callers(4, call), 0, 20*time.Millisecond, 0)
	cut := l.cutOff
	if cut.calls == 0 || cut.calls != l.drained || cut.max <= 0 || cut.max > cut.sum {
		t.Errorf("%v in flight, %d drained", cut, l.drained)
	}
	var printed bytes.Buffer
	l.print(&printed)
	if !strings.Contains(printed.String(), fmt.Sprintf("in_flight %d ", cut.calls)) {
		t.Error(printed.String())
	}
	again := newLoad(nameOf)
	again.run(callers(4, func() (time.Duration, error) { return 0, nil }), 0, 0, 8)
	if again.cutOff.calls != 0 {
		t.Errorf("%v in flight after the last call", again.cutOff)
	}
}

func TestErrorsAreNamedAndRefusalsCounted(t *testing.T) {
	l := newLoad(nameOf)
	l.run(callers(5, func() (time.Duration, error) { return 0, errGone }), 0, 0, 5)
	if l.errors["UNAVAILABLE"] != 5 || l.refused != 5 || l.ok != 0 || l.latencies.TotalCount() != 0 {
		t.Errorf("%v, %d refused, %d ok", l.errors, l.refused, l.ok)
	}
}

func TestLatenciesKeepThreeDigits(t *testing.T) {
	l := newLoad(nameOf)
	l.starts = make([]time.Time, 1)
	l.enter(measuring, 1)
	l.begins(0)
	l.ends(0, 123_456_789*time.Nanosecond, time.Second, nil)
	var printed bytes.Buffer
	l.print(&printed)
	var ns, count int
	if _, err := fmt.Sscan(printed.String(), &ns, &count); err != nil || count != 1 {
		t.Fatal(err, printed.String())
	}
	if ns < 123_400_000 || ns > 123_500_000 {
		t.Errorf("%d ns", ns)
	}
	for _, line := range []string{
		"ok 1\n", "warmup 0\n", "unfinished 0\n", "without_setup_p99_ns 1000",
	} {
		if !strings.Contains(printed.String(), line) {
			t.Errorf("%q is not in %s", line, printed.String())
		}
	}
}
