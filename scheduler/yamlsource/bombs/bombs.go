// Package bombs makes texts that are small and become large when they are read or executed, and measures what becomes of them. It is
// for tests: every reader of texts from outside must survive them.
package bombs

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"
)

// Texts returns a bomb of each kind, by its name, of at most so many bytes.
func Texts(size int) map[string]string {
	out := map[string]string{
		"aliases of long texts": aliases("a: &a "+strings.Repeat("A", size*2/3)+"\n", "*a,", size),
		"many aliases":          aliases("a: &a {x: {}}\n", "*a,", size),
		"nested aliases":        nested(size),
		"deep nesting":          strings.Repeat("[", size),
		"deep JSON":             `{"a":` + strings.Repeat("[", size/2-10) + strings.Repeat("]", size/2-10) + "}",
		"many empty maps":       "a: [" + strings.Repeat("{},", (size-10)/3) + "{}]",
		"many empty maps, JSON": `{"a":[` + strings.Repeat("{},", (size-10)/3) + `{}]}`,
		"long keys":             longKeys(size),
		"long keys, JSON":       `{"` + strings.Repeat("k", size*2/3) + `":{` + strings.TrimSuffix(fields(size/3-20, `"%d":{},`), ",") + "}}",
	}
	return out
}

func aliases(anchor, alias string, size int) string {
	const before, after = "b: [", "a]\n"
	return anchor + before + strings.Repeat(alias, max(1, (size-len(anchor)-len(before)-len(after))/len(alias))) + after
}

// nested returns what grows tenfold with each line, and is filled with a comment.
func nested(size int) string {
	var b strings.Builder
	b.WriteString("a0: &a0 {x: y}\n")
	for i := range 9 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	if b.Len() < size {
		b.WriteString("#" + strings.Repeat("x", size-b.Len()-2) + "\n")
	}
	return b.String()
}

// longKeys nests keys of the length that YAML permits for simple ones, with many fields below them.
func longKeys(size int) string {
	var b strings.Builder
	indent := ""
	for b.Len() < size/3 && len(indent) < 80 {
		b.WriteString(indent + strings.Repeat("k", 1000) + ":\n")
		indent += " "
	}
	b.WriteString(indent + "? " + strings.Repeat("K", max(1, size/3)) + "\n" + indent + ": x\n")
	for i := 0; b.Len() < size-100; i++ {
		fmt.Fprintf(&b, "%sf%d: {}\n", indent, i)
	}
	return b.String()
}

func fields(size int, format string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Measure returns what do allocates and the processor time that it takes.
func Measure(do func()) (allocated uint64, took time.Duration) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := ProcessorTime()
	do()
	took = ProcessorTime() - began
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, took
}

// Growth returns the processor time that do takes, and how far the memory in use grows meanwhile.
func Growth(do func()) (took time.Duration, grown int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	runtime.GC()
	before := inUse()
	done, ended := make(chan struct{}), make(chan struct{})
	most := before
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, inUse())
			}
		}
	}()
	began := ProcessorTime()
	do()
	took = ProcessorTime() - began
	close(done)
	<-ended
	return took, max(most, inUse()) - before
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// ProcessorTime is that of this process.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
