package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"
)

// text reads a variable of the contract; one that is set to nothing is not set.
func text(name, otherwise string) string {
	if value := os.Getenv("BOOKEND_" + name); value != "" {
		return value
	}
	return otherwise
}

func number(name string, otherwise int) int {
	value, err := strconv.ParseUint(text(name, strconv.Itoa(otherwise)), 10, 31)
	if err != nil {
		log.Fatalf("BOOKEND_%s: %v", name, err)
	}
	return int(value)
}

func milliseconds(name string, otherwise int) time.Duration {
	return time.Duration(number(name, otherwise)) * time.Millisecond
}

// unsupported ends the process in the way that means: not by design.
func unsupported(reason string, details ...any) {
	fmt.Fprintf(os.Stderr, reason+"\n", details...)
	os.Exit(89)
}

// awaitEndOfInput returns when the lab closes standard input; without a lab, never.
func awaitEndOfInput() {
	if text("CONTRACT", "0") != "1" {
		select {}
	}
	// A read that fails ends the process as the end of the input does.
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// A watch samples what the runtime forgets: its most goroutines, and pauses before the last 256.
type watch struct {
	lock           sync.Mutex
	goroutinesPeak int
	collections    debug.GCStats
	pauseMax       time.Duration
}

func startWatch() *watch {
	w := &watch{}
	go func() {
		for range time.Tick(100 * time.Millisecond) {
			w.sample()
		}
	}()
	return w
}

func (w *watch) sample() {
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

func (w *watch) print() {
	w.sample()
	fmt.Println("note goroutines_peak", w.goroutinesPeak)
	fmt.Println("note gc_cycles", w.collections.NumGC)
	fmt.Println("note gc_pause_total_ns", w.collections.PauseTotal.Nanoseconds())
	fmt.Println("note gc_pause_max_ns", w.pauseMax.Nanoseconds())
}
