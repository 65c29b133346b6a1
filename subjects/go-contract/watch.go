package contract

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"
)

// A Watch samples what the runtime forgets: its most goroutines, and pauses before the last 256.
type Watch struct {
	lock           sync.Mutex
	goroutinesPeak int
	collections    debug.GCStats
	pauseMax       time.Duration
}

// StartWatch begins to sample, ten times a second.
func StartWatch() *Watch {
	w := &Watch{}
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			w.sample()
		}
	}()
	return w
}

func (w *Watch) sample() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.goroutinesPeak = max(w.goroutinesPeak, runtime.NumGoroutine())
	seen := w.collections.NumGC
	debug.ReadGCStats(&w.collections)
	pauses := w.collections.Pause
	for _, pause := range pauses[:min(len(pauses), int(w.collections.NumGC-seen))] {
		w.pauseMax = max(w.pauseMax, pause)
	}
}

// Print prints notes on the life of the process so far.
func (w *Watch) Print() {
	w.sample()
	w.lock.Lock()
	defer w.lock.Unlock()
	fmt.Println("note goroutines_peak", w.goroutinesPeak)
	fmt.Println("note gc_cycles", w.collections.NumGC)
	fmt.Printf("note gc_pause_total_ns %d\n", w.collections.PauseTotal)
	fmt.Printf("note gc_pause_max_ns %d\n", w.pauseMax)
}
