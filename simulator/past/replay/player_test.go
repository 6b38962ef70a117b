package replay

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/json"

	"kube-scheduler-simulator/scheduler/result"
)

// simulated is a cluster whose scheduler decides at once, with decide.
type simulated struct {
	mu     sync.Mutex
	begin  time.Time
	lines  []string
	uids   int
	bound  map[string]string // pod → node
	decide func(pod string) (node string)
	cycles map[types.UID][]*result.Cycle
	notify func(*result.Cycle)
	// refuse makes a creation fail.
	refuse map[string]string
}

func newSimulated(decide func(pod string) string) *simulated {
	return &simulated{begin: time.Now(), bound: map[string]string{}, decide: decide, cycles: map[types.UID][]*result.Cycle{}, refuse: map[string]string{}}
}

func (s *simulated) line(format string, args ...any) {
	s.lines = append(s.lines, fmt.Sprintf("%v ", time.Since(s.begin).Round(time.Second))+fmt.Sprintf(format, args...))
}

func (s *simulated) Create(_ context.Context, kind Kind, o *unstructured.Unstructured) (Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.refuse[o.GetName()]; why != "" {
		return Written{}, fmt.Errorf("%s", why)
	}
	s.uids++
	w := Written{UID: types.UID(fmt.Sprint("uid-", s.uids))}
	node := text(o.Object, "spec", "nodeName")
	s.line("create %s %s %s", kind.Kind, o.GetName(), node)
	if kind != podKind {
		return w, nil
	}
	s.bound[o.GetName()] = node
	if node == "" {
		s.schedule(o.GetName(), w.UID)
	}
	return w, nil
}

func (s *simulated) schedule(pod string, uid types.UID) {
	c := &result.Cycle{Summary: result.Summary{Pod: result.Pod{Namespace: "default", Name: pod, UID: uid}, Attempt: 1, Outcome: result.Unschedulable, Message: "0/2 nodes are available."}}
	if node := s.decide(pod); node != "" {
		c.Outcome, c.SelectedNode = result.Scheduled, node
		s.bound[pod] = node
	}
	s.cycles[uid] = append(s.cycles[uid], c)
	s.notify(c)
}

func (s *simulated) Patch(_ context.Context, kind Kind, _, name, subresource string, patch []byte) (Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line("patch %s %s %s%s", kind.Kind, name, subresource, patch)
	return Written{UID: "patched"}, nil
}

func (s *simulated) Delete(_ context.Context, kind Kind, _, name string) (Written, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line("delete %s %s", kind.Kind, name)
	return Written{UID: "deleted", Deleted: true}, nil
}

func (s *simulated) Idle(_ context.Context, written []Written) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.line("idle after %d", len(written))
	return nil
}

func (s *simulated) Subscribe(fn func(*result.Cycle)) func() {
	s.notify = fn
	return func() {}
}

func (s *simulated) Attempts(uid types.UID) (out []result.Summary, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cycles[uid] {
		out = append(out, c.Summary)
	}
	return out, nil
}

func (s *simulated) Get(uid types.UID, attempt int) (*result.Cycle, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if attempt < 1 || attempt > len(s.cycles[uid]) {
		return nil, nil
	}
	return s.cycles[uid][attempt-1], nil
}

// take returns the lines since the last call.
func (s *simulated) take() []string {
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	lines := s.lines
	s.lines = nil
	return lines
}

func (s *simulated) without(prefix string) (lines []string) {
	for _, line := range s.take() {
		if _, what, _ := strings.Cut(line, " "); !strings.HasPrefix(what, prefix) {
			lines = append(lines, line)
		}
	}
	return lines
}

// afternoon is a recording: a pod that finishes fills n1, and web and db are created.
func afternoon(t *testing.T) *Recording {
	f := newFile(t)
	f.set(0, nodeKind, "", "n1", `{"metadata":{"name":"n1"}}`)
	f.set(0, podKind, "default", "old", `{"metadata":{"name":"old","namespace":"default","ownerReferences":[{"kind":"Job","controller":true}]},"spec":{"nodeName":"n1"},"status":{"phase":"Running"}}`)
	f.set(0, podKind, "default", "low", `{"metadata":{"name":"low","namespace":"default","creationTimestamp":"2026-03-03T13:00:00Z"},"spec":{"priority":1}}`)
	f.set(0, podKind, "default", "high", `{"metadata":{"name":"high","namespace":"default","creationTimestamp":"2026-03-03T13:30:00Z"},"spec":{"priority":9}}`)
	f.mark(0, Begun)
	f.set(10, podKind, "default", "web", `{"metadata":{"name":"web","namespace":"default"},"spec":{}}`)
	f.set(11, podKind, "default", "web", `{"metadata":{"name":"web","namespace":"default"},"spec":{"nodeName":"n1"}}`)
	f.set(20, podKind, "default", "old", `{"metadata":{"name":"old","namespace":"default"},"spec":{"nodeName":"n1"},"status":{"phase":"Succeeded"}}`)
	f.set(30, podKind, "default", "db", `{"metadata":{"name":"db","namespace":"default"},"spec":{}}`)
	f.set(30, nodeKind, "", "n2", `{"metadata":{"name":"n2"}}`)
	f.set(31, podKind, "default", "db", `{"metadata":{"name":"db","namespace":"default"},"spec":{"nodeName":"n2"}}`)
	f.set(40, podKind, "default", "others", `{"metadata":{"name":"others","namespace":"default"},"spec":{"schedulerName":"another"}}`)
	f.set(41, podKind, "default", "others", `{"metadata":{"name":"others","namespace":"default"},"spec":{"schedulerName":"another","nodeName":"n2"}}`)
	f.gone(50, podKind, "default", "web")
	f.mark(60, End)
	return f.recording()
}

// play runs test with a player that stops afterwards.
func play(t *testing.T, o PlayerOptions, decide func(string) string, test func(*testing.T, *Player, *simulated)) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulated(decide)
		o.Recording, o.Name, o.Cluster, o.Results = afternoon(t), "afternoon", s, s
		o.Profiles = func() []string { return []string{"default-scheduler"} }
		p := NewPlayer(o)
		p.Start(t.Context())
		defer p.Stop()
		test(t, p, s)
	})
}

func onN1(string) string { return "n1" }

func do(t *testing.T, p *Player, c Control) Status {
	t.Helper()
	status, err := p.Do(c)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

func playing() Control {
	state := Playing
	return Control{State: &state}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Earlier decisions are applied as recorded. Pending pods are created in queue order and without later
// decisions. Owners are left out.
func TestEveryChangeHappensButForDecisions(t *testing.T) {
	play(t, PlayerOptions{}, onN1, func(t *testing.T, p *Player, s *simulated) {
		wantLines(t, s.take()) // nothing before a request
		do(t, p, playing())
		wantLines(t, s.take(),
			"0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low ",
			"0s create Pod web ", `0s patch Pod old status{"status":{"phase":"Succeeded"}}`, "0s create Pod db ", "0s create Node n2 ",
			"0s create Pod others n2", "0s delete Pod web")
		if s := p.Status(); s.State != Finished || s.Applied != s.Changes || s.Failed != 0 || !s.Position.Equal(at(60)) {
			t.Errorf("%+v", s)
		}
	})
}

func TestChangesHappenAtTheirTime(t *testing.T) {
	for speed, want := range map[float64][]string{
		1:  {"0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low ", "10s create Pod web "},
		10: {"0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low ", "1s create Pod web ", `2s patch Pod old status{"status":{"phase":"Succeeded"}}`},
	} {
		play(t, PlayerOptions{Speed: speed}, onN1, func(t *testing.T, p *Player, s *simulated) {
			do(t, p, playing())
			time.Sleep(time.Duration(float64(11*time.Second) / min(speed, 5)))
			wantLines(t, s.take(), want...)
			if got := p.Status().Position; got.Before(at(11)) || got.After(at(30)) {
				t.Errorf("speed %v: the position is %v", speed, got.Sub(tuesday))
			}
		})
	}
}

func TestPauseStepAndAnotherSpeed(t *testing.T) {
	play(t, PlayerOptions{Speed: 1}, onN1, func(t *testing.T, p *Player, s *simulated) {
		for _, want := range [][]string{
			{"0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low "}, {"0s create Pod web "}, nil,
			{`0s patch Pod old status{"status":{"phase":"Succeeded"}}`}, {"0s create Pod db ", "0s create Node n2 "},
		} {
			if _, err := p.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
			wantLines(t, s.take(), want...)
		}
		do(t, p, playing())
		time.Sleep(5 * time.Second)
		paused := Paused
		if got := do(t, p, Control{State: &paused}); got.State != Paused {
			t.Errorf("the state is %s", got.State)
		}
		time.Sleep(time.Hour)
		wantLines(t, s.take())
		fast := 0.0
		c := playing()
		c.Speed = &fast
		do(t, p, c)
		wantLines(t, s.take(), "1h0m5s create Pod others n2", "1h0m5s delete Pod web")
	})
}

// A step in waiting mode ends when the scheduler has nothing to do, and a pod is created when the
// scheduler has seen all earlier changes.
func TestWaitingForTheScheduler(t *testing.T) {
	play(t, PlayerOptions{WaitForScheduler: true}, onN1, func(t *testing.T, p *Player, s *simulated) {
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s.take(), "0s create Node n1 ", "0s create Pod old n1", "0s idle after 2", "0s create Pod high ", "0s idle after 1", "0s create Pod low ", "0s idle after 1")
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s.take(), "0s create Pod web ", "0s idle after 1")
	})
}

func TestSeekingForwardsAndBack(t *testing.T) {
	resets := 0
	o := PlayerOptions{Speed: 1, Reset: func(context.Context) error { resets++; return nil }}
	play(t, o, onN1, func(t *testing.T, p *Player, s *simulated) {
		to := func(seconds int) {
			position := at(seconds)
			if got := do(t, p, Control{Position: &position}); got.State != Seeking {
				t.Errorf("the state is %s", got.State)
			}
			synctest.Wait()
			if got := p.Status(); got.State != Paused && seconds != 60 || !got.Position.Equal(position) {
				t.Errorf("%s at %v, want %v", got.State, got.Position, position)
			}
		}
		to(25)
		// Pods that were bound before the position are on their nodes, and finished pods do not exist.
		wantLines(t, s.take(), "0s create Node n1 ", "0s create Pod web n1", "0s create Pod high ", "0s create Pod low ")
		if _, err := p.Step(t.Context()); err != nil {
			t.Fatal(err)
		}
		wantLines(t, s.take(), "0s create Pod db ", "0s create Node n2 ")
		to(10)
		wantLines(t, sorted(s.take()), "0s create Node n1 ", "0s create Pod high ", "0s create Pod low ", "0s create Pod old n1", "0s create Pod web ")
		to(0)
		wantLines(t, s.take(), "0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low ")
		if resets != 2 {
			t.Errorf("%d resets", resets)
		}
		to(60)
		if got := p.Status(); got.Applied != got.Changes {
			t.Errorf("%d of %d are applied", got.Applied, got.Changes)
		}
	})
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// If the cluster must not be emptied, the player can only go forwards, change by change.
func TestSeekingWithoutAReset(t *testing.T) {
	play(t, PlayerOptions{Speed: 1}, onN1, func(t *testing.T, p *Player, s *simulated) {
		position := at(25)
		do(t, p, Control{Position: &position})
		wantLines(t, s.take(), "0s create Node n1 ", "0s create Pod old n1", "0s create Pod high ", "0s create Pod low ", "0s create Pod web ", `0s patch Pod old status{"status":{"phase":"Succeeded"}}`)
	})
}

// A failed seek leaves the cluster in an unknown state.
func TestSeekingAgainAfterAFailure(t *testing.T) {
	resets := 0
	o := PlayerOptions{Reset: func(context.Context) error {
		if resets++; resets == 1 {
			return errors.New("another reset is under way")
		}
		return nil
	}}
	play(t, o, onN1, func(t *testing.T, p *Player, s *simulated) {
		do(t, p, playing())
		s.take()
		position := at(10)
		do(t, p, Control{Position: &position})
		synctest.Wait()
		if got := p.Status(); got.State != Failed || !strings.Contains(got.Message, "another reset is under way") {
			t.Errorf("%s: %s", got.State, got.Message)
		}
		do(t, p, Control{Position: &position})
		wantLines(t, sorted(s.take()), "0s create Node n1 ", "0s create Pod high ", "0s create Pod low ", "0s create Pod old n1", "0s create Pod web ")
		if got := p.Status(); got.State != Paused {
			t.Errorf("%s: %s", got.State, got.Message)
		}
	})
}

func TestControlsThatCannotBeDoneAreRefused(t *testing.T) {
	play(t, PlayerOptions{}, onN1, func(t *testing.T, p *Player, s *simulated) {
		tooFast, seeking, before := -1.0, Seeking, at(-1)
		for _, c := range []Control{{Speed: &tooFast}, {State: &seeking}, {Position: &before}} {
			if _, err := p.Do(c); err == nil {
				t.Errorf("%+v: no error", c)
			}
		}
		do(t, p, playing())
		synctest.Wait()
		start := at(0)
		for _, c := range []Control{playing(), {Position: &start}} {
			if _, err := p.Do(c); err == nil {
				t.Errorf("%+v: no error at the end, and without a reset", c)
			}
		}
	})
}

// decisions renders a comparison, one line per decision.
func decisions(t *testing.T, p *Player, q ComparisonQuery) (lines []string) {
	t.Helper()
	c, err := p.Comparison(q)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Items {
		lines = append(lines, fmt.Sprintf("%s %s: %s", d.Outcome, d.Pod.Name, d.Why))
	}
	return lines
}

func TestPlacementsAreCompared(t *testing.T) {
	decide := func(pod string) string { return map[string]string{"web": "n1", "db": "n1"}[pod] }
	play(t, PlayerOptions{}, decide, func(t *testing.T, p *Player, s *simulated) {
		s.refuse["high"] = "its priority class is not there"
		do(t, p, playing())
		synctest.Wait()
		wantLines(t, decisions(t, p, ComparisonQuery{}),
			"notCompared high: The pod could not be created: its priority class is not there",
			"notCompared low: The recording ends before the pod was scheduled, and the simulated scheduler has not found a node either. 0/2 nodes are available.",
			"matching web: Both schedulers chose n1.",
			"different db: n1 was chosen: n2 was not evaluated.",
			"notCompared others: The pod is another scheduler’s.")
		wantLines(t, decisions(t, p, ComparisonQuery{Outcome: Different}), "different db: n1 was chosen: n2 was not evaluated.")
		got := p.Status()
		if diff := cmp.Diff(Counts{Compared: 2, Matching: 1, Different: 1}, got.Decisions); diff != "" {
			t.Error(diff)
		}
		if got.Failed != 1 || !strings.Contains(got.Message, "priority class") {
			t.Errorf("%d failed: %s", got.Failed, got.Message)
		}
	})
}

func TestPagesOfAComparison(t *testing.T) {
	play(t, PlayerOptions{}, onN1, func(t *testing.T, p *Player, s *simulated) {
		do(t, p, playing())
		synctest.Wait()
		var names []string
		for next := ""; ; {
			c, err := p.Comparison(ComparisonQuery{Limit: 2, Continue: next})
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range c.Items {
				names = append(names, d.Pod.Name)
			}
			if next = c.Continue; next == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"high", "low", "web", "db", "others"}, names); diff != "" {
			t.Error(diff)
		}
	})
}

// When following, the simulated scheduler decides when the recorded one did and in the same state, and
// its decisions do not affect later ones.
func TestFollowingTheRecording(t *testing.T) {
	decide := func(pod string) string { return map[string]string{"web": "n2", "db": "n2"}[pod] }
	play(t, PlayerOptions{FollowRecording: true}, decide, func(t *testing.T, p *Player, s *simulated) {
		do(t, p, playing())
		wantLines(t, s.without("idle"),
			"0s create Node n1 ", "0s create Pod old n1",
			"0s create Pod web ", "0s delete Pod web", "0s create Pod web n1",
			`0s patch Pod old status{"status":{"phase":"Succeeded"}}`,
			"0s create Node n2 ", "0s create Pod db ",
			"0s create Pod others n2", "0s delete Pod web")
		if diff := cmp.Diff(Counts{Compared: 2, Matching: 1, Different: 1}, p.Status().Decisions); diff != "" {
			t.Error(diff)
		}
	})
}

// Volume bindings that followed from a recorded decision are not applied.
func TestBindingsOfVolumesThatFollowFromDecisionsAreLeftOut(t *testing.T) {
	class := Kind{"storage.k8s.io/v1", "StorageClass", "storageclasses", false}
	claim := Kind{"v1", "PersistentVolumeClaim", "persistentvolumeclaims", true}
	volume := Kind{"v1", "PersistentVolume", "persistentvolumes", false}
	s := newStage()
	s.learn(Change{Kind: class, Name: "waits", Object: object(t, `{"volumeBindingMode":"WaitForFirstConsumer"}`)}, true)
	s.learn(Change{Kind: claim, Namespace: "default", Name: "data", Object: object(t, `{"spec":{"storageClassName":"waits"}}`)}, true)
	for name, c := range map[string]struct {
		kind           Kind
		recorded, want string
	}{
		"the claim":           {claim, `{"metadata":{"name":"data","namespace":"default","annotations":{"volume.kubernetes.io/selected-node":"n1"}},"spec":{"storageClassName":"waits","volumeName":"pv1"},"status":{"phase":"Bound"}}`, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"annotations":{},"name":"data","namespace":"default"},"spec":{"storageClassName":"waits"}}`},
		"a claim from before": {claim, `{"metadata":{"name":"old","namespace":"default"},"spec":{"storageClassName":"waits","volumeName":"pv0"}}`, `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"old","namespace":"default"},"spec":{"storageClassName":"waits","volumeName":"pv0"}}`},
		"its volume":          {volume, `{"metadata":{"name":"pv1","annotations":{"pv.kubernetes.io/provisioned-by":"csi"}},"spec":{"claimRef":{"namespace":"default","name":"data"}}}`, `null`},
		"a local volume":      {volume, `{"metadata":{"name":"pv2"},"spec":{"local":{},"claimRef":{"namespace":"default","name":"data"}}}`, `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv2"},"spec":{"local":{}}}`},
		"another's volume":    {volume, `{"metadata":{"name":"pv0"},"spec":{"claimRef":{"namespace":"default","name":"old","uid":"u"}}}`, `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"pv0"},"spec":{"claimRef":{"name":"old","namespace":"default"}}}`},
	} {
		got, _ := json.Marshal(s.staged(c.kind, object(t, c.recorded)))
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Initial allocations stay, including those of a pod's own claim; later allocations follow from a
// decision.
func TestAllocationsFromBeforeStay(t *testing.T) {
	claim := Kind{"resource.k8s.io/v1", "ResourceClaim", "resourceclaims", true}
	const recorded = `{"metadata":{"name":"web-gpu","namespace":"default","annotations":{"resource.kubernetes.io/pod-claim-name":"gpu"},"ownerReferences":[{"kind":"Pod","controller":true}]},` +
		`"spec":{"devices":{}},"status":{"allocation":{"devices":{}},"reservedFor":[{"name":"web"}]}}`
	for begun, want := range map[bool]string{
		false: `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"annotations":{},"name":"web-gpu","namespace":"default"},"spec":{"devices":{}},"status":{"allocation":{"devices":{}}}}`,
		true:  `null`,
	} {
		s := newStage()
		s.learn(Change{Kind: claim, Namespace: "default", Name: "web-gpu", Object: object(t, recorded)}, begun)
		got, _ := json.Marshal(s.staged(claim, object(t, recorded)))
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("begun %v: %s", begun, diff)
		}
	}
}

// Kinds are ordered so that an object exists before others refer to it.
func TestNodesComeBeforePods(t *testing.T) {
	kinds := RecordedKinds()
	if kinds[0] != namespaceKind || kinds[len(kinds)-1] != podKind || !slices.Contains(kinds, nodeKind) {
		t.Errorf("%v", kinds)
	}
}
