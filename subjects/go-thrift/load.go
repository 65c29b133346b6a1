package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

const (
	longest    = time.Hour
	drainTime  = 5 * time.Second
	retryPause = 100 * time.Millisecond
)

// The phases of a run. A call belongs to the one in which it ended.
const (
	warming = iota
	measuring
	over
)

// A caller makes one call. It tells how long that took without the set-up of a connection, if it
// set one up.
type caller func() (alone time.Duration, err error)

type load struct {
	sync.Mutex
	phase, left, inFlight                    int
	warmup, ok, drained, unfinished, refused int
	errors                                   map[string]int
	latencies, alone                         *hdr.Histogram
}

// run lets every caller make call after call, and prints what came of it.
func run(callers []caller) {
	l := &load{left: math.MaxInt, errors: map[string]int{}}
	l.latencies, l.alone = hdr.New(1, int64(longest), 3), hdr.New(1, int64(longest), 3)
	calls, warmup := number("CALLS", 0), milliseconds("WARMUP_MS", 0)
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
		time.Sleep(milliseconds("MEASURE_MS", 1000))
	}
	l.enter(over, 0)
	fmt.Println("window end")
	select {
	case <-ended:
	case <-time.After(drainTime):
	}
	l.print()
}

// enter begins a phase. Calls in flight end in it, so that so many fewer need to begin.
func (l *load) enter(phase, calls int) {
	l.Lock()
	defer l.Unlock()
	l.phase = phase
	if calls > 0 || phase == over {
		l.left = calls - l.inFlight
	}
}

func (l *load) work(call caller) {
	for l.begins() {
		start := time.Now()
		alone, err := call()
		l.ends(time.Since(start), alone, err)
		if err != nil && code(err) == "UNAVAILABLE" {
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

func (l *load) ends(latency, alone time.Duration, err error) {
	l.Lock()
	defer l.Unlock()
	l.inFlight--
	if err != nil && strings.Contains(err.Error(), "refused") {
		l.refused++
	}
	switch {
	case err != nil && l.phase == measuring:
		l.errors[code(err)]++
	case err != nil:
		l.unfinished++
	case l.phase == warming:
		l.warmup++
	case l.phase == over:
		l.drained++
	default:
		l.ok++
		record(l.latencies, latency)
		record(l.alone, alone)
	}
}

func record(histogram *hdr.Histogram, duration time.Duration) {
	if duration > 0 {
		_ = histogram.RecordValue(int64(min(duration, longest)))
	}
}

func (l *load) print() {
	l.Lock()
	defer l.Unlock()
	for _, bar := range l.latencies.Distribution() {
		if bar.Count > 0 {
			fmt.Println(bar.To, bar.Count)
		}
	}
	for code, count := range l.errors {
		fmt.Println("error", code, count)
	}
	fmt.Println("warmup", l.warmup)
	fmt.Println("ok", l.ok)
	fmt.Println("drained", l.drained)
	fmt.Println("unfinished", l.unfinished+l.inFlight)
	fmt.Println("note connections_refused", l.refused)
	if l.alone.TotalCount() > 0 {
		fmt.Println("note latency_without_setup_mean_ns", int64(l.alone.Mean()))
		fmt.Println("note latency_without_setup_p50_ns", l.alone.ValueAtPercentile(50))
		fmt.Println("note latency_without_setup_p99_ns", l.alone.ValueAtPercentile(99))
	}
}
