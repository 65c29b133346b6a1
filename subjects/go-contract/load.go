package contract

import (
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longestLatency = time.Hour // The histograms' range: only what is above it would be an error.
	drainTime      = 2 * time.Second
	// How long a caller waits before it calls a server again that is not there.
	retryPause = 100 * time.Millisecond
)

// The phases of a run. A call belongs to the one in which it ended.
const (
	warming = iota
	measuring
	over
)

// A Caller makes one call. If it connects first, it tells how long the call took without that.
type Caller func() (withoutSetup time.Duration, err error)

type load struct {
	sync.Mutex
	phase, left, inFlight                    int
	warmup, ok, drained, unfinished, refused int
	errors                                   map[string]int
	latencies, withoutSetup                  *hdr.Histogram
	code                                     func(error) string
	starts                                   []time.Time // Of the call in flight of each caller.
	cutOff                                   cutOff
}

// Calls in flight when the window ended, and how long they had been.
type cutOff struct {
	calls    int
	sum, max time.Duration
}

// Run lets every caller make call after call, and prints what came of it. What connect does is
// outside of all clocks. An error counts under the name that code gives it, a gRPC status's.
func Run(connect func() []Caller, code func(error) string) {
	go func() {
		awaitEndOfInput()
		log.Fatal("standard input was closed before the end of the run")
	}()
	l := newLoad(code)
	warmup, window := Milliseconds("WARMUP_MS", 0), Milliseconds("MEASURE_MS", 1000)
	l.run(connect(), warmup, window, Number("CALLS", 0))
	l.print(os.Stdout)
}

func newLoad(code func(error) string) *load {
	histogram := func() *hdr.Histogram { return hdr.New(1, int64(longestLatency), 3) }
	return &load{left: math.MaxInt, errors: map[string]int{}, code: code,
		latencies: histogram(), withoutSetup: histogram()}
}

// run measures for `calls` calls if that is not 0, else for `window`.
func (l *load) run(callers []Caller, warmup, window time.Duration, calls int) {
	var working sync.WaitGroup
	l.starts = make([]time.Time, len(callers))
	begin := func() {
		for caller, call := range callers {
			working.Go(func() { l.work(caller, call) })
		}
	}
	if warmup > 0 {
		begin()
		time.Sleep(warmup)
	}
	l.enter(measuring, calls)
	fmt.Println("window start")
	if warmup == 0 {
		begin()
	}
	ended := make(chan struct{})
	go func() {
		working.Wait()
		close(ended)
	}()
	if calls > 0 {
		<-ended
	} else {
		time.Sleep(window)
	}
	l.enter(over, 0)
	fmt.Println("window end")
	select {
	case <-ended:
	case <-time.After(drainTime):
	}
}

// enter begins a phase. Calls in flight end in it, so that as many fewer need to begin.
func (l *load) enter(phase, calls int) {
	l.Lock()
	defer l.Unlock()
	l.phase = phase
	if calls > 0 || phase == over {
		l.left = calls - l.inFlight
	}
	if phase == over {
		l.cutOff = ages(l.starts)
	}
}

func ages(starts []time.Time) (cut cutOff) {
	for _, start := range starts {
		if !start.IsZero() {
			age := time.Since(start)
			cut = cutOff{cut.calls + 1, cut.sum + age, max(cut.max, age)}
		}
	}
	return cut
}

func (l *load) work(caller int, call Caller) {
	for l.begins(caller) {
		start := time.Now()
		withoutSetup, err := call()
		l.ends(caller, time.Since(start), withoutSetup, err)
		if err != nil && l.code(err) == "UNAVAILABLE" {
			time.Sleep(retryPause)
		}
	}
}

func (l *load) begins(caller int) bool {
	l.Lock()
	defer l.Unlock()
	if l.left <= 0 {
		return false
	}
	l.left--
	l.inFlight++
	l.starts[caller] = time.Now()
	return true
}

func (l *load) ends(caller int, latency, withoutSetup time.Duration, err error) {
	l.Lock()
	defer l.Unlock()
	l.inFlight--
	l.starts[caller] = time.Time{}
	if err != nil && strings.Contains(err.Error(), "refused") {
		l.refused++
	}
	switch {
	case err != nil && l.phase == measuring:
		l.errors[l.code(err)]++
	case err != nil:
		l.unfinished++
	case l.phase == warming:
		l.warmup++
	case l.phase == over:
		l.drained++
	default:
		l.ok++
		_ = l.latencies.RecordValue(int64(min(latency, longestLatency)))
		if withoutSetup > 0 {
			_ = l.withoutSetup.RecordValue(int64(min(withoutSetup, longestLatency)))
		}
	}
}

func (l *load) print(out io.Writer) {
	l.Lock()
	defer l.Unlock()
	for _, bar := range l.latencies.Distribution() {
		if bar.Count > 0 {
			fmt.Fprintln(out, (bar.From+bar.To)/2, bar.Count)
		}
	}
	fmt.Fprintf(out, "warmup %d\nok %d\ndrained %d\nunfinished %d\nnote connections_refused %d\n",
		l.warmup, l.ok, l.drained, l.unfinished+l.inFlight, l.refused)
	if cut := l.cutOff; cut.calls > 0 {
		fmt.Fprintln(out, "in_flight", cut.calls, int64(cut.sum)/int64(cut.calls), int64(cut.max))
	}
	for code, count := range l.errors {
		fmt.Fprintln(out, "error", code, count)
	}
	if calls := l.withoutSetup; calls.TotalCount() > 0 {
		fmt.Fprintln(out, "note latency_without_setup_mean_ns", int64(calls.Mean()))
		fmt.Fprintln(out, "note latency_without_setup_p50_ns", calls.ValueAtPercentile(50))
		fmt.Fprintln(out, "note latency_without_setup_p99_ns", calls.ValueAtPercentile(99))
	}
}
