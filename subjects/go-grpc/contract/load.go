package contract

import (
	"bufio"
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
	longestLatency = time.Hour
	drainTime      = 5 * time.Second
	// So long a caller waits before it calls a server again that is not there.
	retryPause = 100 * time.Millisecond
)

// The phases of a run. A call belongs to the one in which it ended.
const (
	warming = iota
	measuring
	over
)

// A Caller makes one call. If it makes a connection first, it tells how long the call took without
// that.
type Caller func() (withoutSetup time.Duration, err error)

type load struct {
	sync.Mutex
	phase, left, inFlight                    int
	warmup, ok, drained, unfinished, refused int
	errors                                   map[string]int
	latencies, withoutSetup                  *hdr.Histogram
	code                                     func(error) string
}

// Run lets every caller make call after call, and prints what came of it. An error counts under
// the name that code gives it, which is that of a gRPC status.
func Run(callers []Caller, code func(error) string) {
	go func() {
		AwaitEndOfInput()
		log.Fatal("standard input was closed before the end of the run")
	}()
	l := newLoad(code)
	warmup, window := Milliseconds("WARMUP_MS", 0), Milliseconds("MEASURE_MS", 1000)
	l.run(callers, warmup, window, Number("CALLS", 0))
	l.print(os.Stdout)
}

func newLoad(code func(error) string) *load {
	l := &load{left: math.MaxInt, errors: map[string]int{}, code: code}
	l.latencies = hdr.New(1, int64(longestLatency), 3)
	l.withoutSetup = hdr.New(1, int64(longestLatency), 3)
	return l
}

// run measures for so many calls if there are any, else for so long.
func (l *load) run(callers []Caller, warmup, window time.Duration, calls int) {
	var working sync.WaitGroup
	begin := func() {
		for _, call := range callers {
			working.Go(func() { l.work(call) })
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
}

func (l *load) work(call Caller) {
	for l.begins() {
		start := time.Now()
		withoutSetup, err := call()
		l.ends(time.Since(start), withoutSetup, err)
		if err != nil && l.code(err) == "UNAVAILABLE" {
			time.Sleep(retryPause)
		}
	}
}

func (l *load) begins() bool {
	l.Lock()
	defer l.Unlock()
	if l.left <= 0 {
		return false
	}
	l.left--
	l.inFlight++
	return true
}

func (l *load) ends(latency, withoutSetup time.Duration, err error) {
	l.Lock()
	defer l.Unlock()
	l.inFlight--
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
		record(l.latencies, latency)
		if withoutSetup > 0 {
			record(l.withoutSetup, withoutSetup)
		}
	}
}

func record(histogram *hdr.Histogram, duration time.Duration) {
	// What is out of range would be an error, so the range is kept.
	_ = histogram.RecordValue(int64(min(max(duration, 1), longestLatency)))
}

func (l *load) print(to io.Writer) {
	l.Lock()
	defer l.Unlock()
	out := bufio.NewWriter(to)
	defer out.Flush()
	for _, bar := range l.latencies.Distribution() {
		if bar.Count > 0 {
			fmt.Fprintln(out, (bar.From+bar.To)/2, bar.Count)
		}
	}
	fmt.Fprintln(out, "warmup", l.warmup)
	fmt.Fprintln(out, "ok", l.ok)
	for code, count := range l.errors {
		fmt.Fprintln(out, "error", code, count)
	}
	fmt.Fprintln(out, "drained", l.drained)
	fmt.Fprintln(out, "unfinished", l.unfinished+l.inFlight)
	fmt.Fprintln(out, "note connections_refused", l.refused)
	if calls := l.withoutSetup; calls.TotalCount() > 0 {
		fmt.Fprintln(out, "note latency_without_setup_mean_ns", int64(calls.Mean()))
		fmt.Fprintln(out, "note latency_without_setup_p50_ns", calls.ValueAtPercentile(50))
		fmt.Fprintln(out, "note latency_without_setup_p99_ns", calls.ValueAtPercentile(99))
	}
}
