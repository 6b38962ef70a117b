package transfer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest/manifesttest"
)

// failing is a Configuration with a bug.
type failing struct{}

func (failing) Current() ([]byte, error) { panic("no current one") }

func (failing) Adopt(context.Context, []byte) (Adopted, error) { panic("nothing to adopt") }

// TestAPanicEndsTheImportOnly: the import reports a panic, and the program keeps running.
func TestAPanicEndsTheImportOnly(t *testing.T) {
	s := New(Options{Config: &rest.Config{Host: "http://willing", Transport: newWilling()}, Configuration: failing{}})
	const configuration = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	run, err := s.Begin(manifest.NewSource(manifesttest.Part("f", onePod+"---\n"+configuration)), ImportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	<-run.Done()
	if _, err := run.Result(); run.State() != Failed || !errors.Is(err, errPanicked) || !strings.Contains(err.Error(), "nothing to adopt") {
		t.Errorf("it is %s, with %v", run.State(), err)
	}
	if run, err = s.Begin(manifest.NewSource(manifesttest.Part("f", onePod)), ImportOptions{}); err != nil {
		t.Fatal("the next one:", err)
	}
	<-run.Done()
	if report, err := run.Result(); err != nil || report.Created != 1 {
		t.Errorf("the next one: %+v, %v", report, err)
	}
}

// TestAPanicOverAnObject: a panic while importing an object fails that object only.
func TestAPanicOverAnObject(t *testing.T) {
	s := New(Options{Config: &rest.Config{Host: "http://willing", Transport: newWilling()}})
	i := s.newImporter(ImportOptions{Progress: func(Progress) {}})
	i.maxHeld = manifest.MaxHeld
	var err error
	if i.client, err = newClient(s.opts.Config); err != nil {
		t.Fatal(err)
	}
	if err := i.client.discover(); err != nil {
		t.Fatal(err)
	}
	err = manifest.Read(t.Context(), manifest.NewSource(manifesttest.Part("f", strings.ReplaceAll(onePod, "Pod", "Service"))), manifest.Content{Object: i.add})
	if err != nil {
		t.Fatal(err)
	}
	i.put(t.Context(), i.objects[0], func(*write) { panic("no") })
	if report := i.rec.finish(s.opts.now()); report.FailedTotal != 1 || report.Failed[0].Name != "a" || !strings.Contains(report.Failed[0].Message, "see the simulator's log (no)") {
		t.Errorf("it reports %+v", report)
	}
}

const onePod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"

// bomb is a small document that is huge with its aliases expanded.
func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\na0: &a0 " + strings.Repeat("x", 1000) + "\n")
	for i := range 6 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String()
}

// TestExportsHoldNoKeys: exports are passed on, and extenders may have private keys.
func TestExportsHoldNoKeys(t *testing.T) {
	const document = `{"extenders":[{"tlsConfig":{"certData":"Y2VydA==","keyData":"c2VjcmV0","keyFile":"/key"},"urlPrefix":"https://a"},{"urlPrefix":"https://b"}],"parallelism":16,"profiles":null}`
	const want = `{"extenders":[{"tlsConfig":{"certData":"Y2VydA==","keyFile":"/key"},"urlPrefix":"https://a"},{"urlPrefix":"https://b"}],"parallelism":16,"profiles":null}`
	if got, err := withoutKeys([]byte(document)); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	for _, other := range []string{`{"parallelism": 3}`, `{"extenders":"keyData"}`} {
		if got, err := withoutKeys([]byte(other)); err != nil || strings.ReplaceAll(string(got), " ", "") != strings.ReplaceAll(other, " ", "") {
			t.Errorf("%s: %s, %v", other, got, err)
		}
	}
}

// TestProgressIsWhatIsLeft: while objects are written, what is left never grows, whatever the order of the phases is, and at the end nothing is.
func TestProgressIsWhatIsLeft(t *testing.T) {
	const pods = `
apiVersion: v1
kind: Node
metadata: {name: node}
---
apiVersion: v1
kind: Pod
metadata: {name: bound}
spec: {nodeName: node}
---
apiVersion: v1
kind: Pod
metadata: {name: waits}
---
apiVersion: v1
kind: Pod
metadata: {name: waits-too}
---
`
	const owned = `
apiVersion: v1
kind: Pod
metadata: {name: owned, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: set, controller: true, uid: x}]}
---
apiVersion: v1
kind: Pod
metadata: {name: orphan, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: gone, controller: true, uid: y}]}
---
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: set}
`
	for name, input := range map[string]string{"without a gate": pods, "behind a gate": pods + owned} {
		t.Run(name, func(t *testing.T) {
			s := New(Options{Config: &rest.Config{Host: "http://willing", Transport: newWilling()}})
			var clock atomic.Int64
			s.opts.now = func() time.Time { return time.Unix(clock.Add(1), 0) } // so that each step is told
			var told []Progress
			report, err := s.Import(t.Context(), manifest.NewSource(manifesttest.Part("f", input)), ImportOptions{Progress: func(p Progress) {
				if p.Phase == Applying || p.Phase == Settling {
					told = append(told, p)
				}
			}})
			if err != nil || report.FailedTotal > 0 || report.Created != strings.Count(input, "kind: ")-strings.Count(input, "uid: ") {
				t.Fatalf("%+v, %v", report, err)
			}
			for i, p := range told[1:] {
				if before := told[i]; p.Done < before.Done || p.Total < before.Total || float64(p.Done)/float64(p.Total) < float64(before.Done)/float64(before.Total)-0.1 {
					t.Errorf("%+v follows %+v", p, before)
				}
			}
			if last := told[len(told)-1]; last.Done != last.Total || last.Phase != Settling {
				t.Errorf("the last is %+v", last)
			}
		})
	}
}
