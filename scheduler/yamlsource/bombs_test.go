package yamlsource_test

import (
	"context"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
)

// TestBombs: what is small is refused before it grows, and soon.
func TestBombs(t *testing.T) {
	for name, text := range bombs.Texts(3 << 20) {
		t.Run(name, func(t *testing.T) {
			allocated, took := bombs.Measure(func() {
				if data, m := yamlsource.ToJSON(context.Background(), []byte(text), yamlsource.Object); m == nil {
					t.Errorf("it became %d bytes", len(data))
				} else if !m.Reason.Exceeds() && m.Reason != yamlsource.Syntax {
					t.Error(m)
				}
			})
			t.Logf("%d MB in %s of processor time", allocated>>20, took)
			if allocated > bombs.Slowdown*100<<20 || took > bombs.Slowdown*time.Second {
				t.Errorf("it took %d MB and %s", allocated>>20, took)
			}
		})
	}
}

// TestWithinBounds: a text that just passes takes little, too.
func TestWithinBounds(t *testing.T) {
	for _, size := range []int{100 << 10, 300 << 10, 440 << 10} {
		for name, text := range bombs.Texts(size) {
			allocated, took := bombs.Measure(func() { yamlsource.ToJSON(context.Background(), []byte(text), yamlsource.Object) })
			t.Logf("%s of %d kB: %d MB in %s", name, size>>10, allocated>>20, took)
			if allocated > bombs.Slowdown*200<<20 || took > bombs.Slowdown*2*time.Second {
				t.Errorf("%s of %d kB took %d MB and %s", name, size>>10, allocated>>20, took)
			}
		}
	}
}
