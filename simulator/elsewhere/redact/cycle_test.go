package redact_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/elsewhere/redact"
)

// TestNoTextOfADecisionStays fills every text of a decision with a word of its own. Only the names of plugins may stay.
func TestNoTextOfADecisionStays(t *testing.T) {
	cycle := &result.Cycle{}
	f := filler{}
	f.fill(reflect.ValueOf(cycle).Elem(), "")
	if f.words < 150 {
		t.Fatalf("the decision has only %d texts", f.words)
	}
	before, err := json.Marshal(cycle)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(string(before), secret); got < 150 {
		t.Fatalf("the public form has only %d of %d texts", got, f.words)
	}
	redacted, err := redact.New(nil).Cycle(cycle)
	if err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(redacted)
	if err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(string(after), secret); at >= 0 {
		t.Errorf("a text stays: …%s…", after[max(0, at-80):min(len(after), at+40)])
	}
	for _, stays := range []string{`"plugin":"NodeName"`, `"weight":7`, `"states":["R","R"]`, `"totals":[7,7]`} {
		if !strings.Contains(string(after), stays) {
			t.Errorf("%s does not stay: %s", stays, after)
		}
	}
}

// secret is in all texts of a filled decision.
const secret = "secret"

// filler fills values, each list with one item.
type filler struct{ words int }

func (f *filler) fill(v reflect.Value, field string) {
	switch of := v.Addr().Interface().(type) {
	case *time.Time:
		*of = time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
		return
	case *result.NodeList:
		*of = result.NewNodeList(f.word(), f.word()) // two, so that they are tied
		return
	case *result.Column:
		*of = result.NewColumn([]int64{7, 7})
		return
	case *result.Verdict:
		*of = result.Verdict{States: "R", Plugin: "NodeName", Reasons: []string{f.word()}}
		return
	case *result.ScorePlugin:
		*of = result.ScorePlugin{Name: "NodeName", Weight: 7}
		return
	case *[]uint16:
		*of = []uint16{0, 0}
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), field)
	case reflect.Struct:
		for i := range v.NumField() {
			if of := v.Type().Field(i); of.IsExported() {
				f.fill(v.Field(i), of.Name)
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), field)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf("NodeName"), reflect.ValueOf(int64(7)))
	case reflect.String:
		v.SetString(f.word())
		switch field {
		case "Plugin", "Plugins", "RejectedBy", "ChangedBy", "RemovedBy", "Skipped":
			v.SetString("NodeName")
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(7)
	default:
		v.SetInt(7)
	}
}

func (f *filler) word() string {
	f.words++
	return fmt.Sprintf("%s %d", secret, f.words)
}

// TestARedactedDecisionSaysTheSame: what Kubernetes defines stays, and a name is replaced alike wherever it stands.
func TestARedactedDecisionSaysTheSame(t *testing.T) {
	cycle := &result.Cycle{}
	if err := json.Unmarshal([]byte(`{
		"pod": {"namespace": "shop", "name": "web-3", "uid": "u"}, "owner": {"kind": "StatefulSet", "name": "web"}, "attempt": 2, "profile": "default-scheduler", "outcome": "unschedulable",
		"message": "0/2 nodes are available to shop", "nodes": {"total": 2, "evaluated": 2, "feasible": 0},
		"queue": {"addedTime": "2026-11-23T10:00:00Z", "attempts": 2, "requeuedBy": {"time": "2026-11-23T10:00:00Z", "event": "NodeAdd", "kind": "Node", "name": "eu-1", "plugin": "NodeResourcesFit"}},
		"extensionPoints": [{"name": "preFilter", "durationSeconds": 0.5}],
		"filter": {"plugins": ["NodeResourcesFit", "Ours"], "nodes": ["eu-1", "eu-2"], "states": ["RN", "PR"],
			"reasons": [{"node": "eu-1", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu", "Insufficient acme.com/card"]}, {"node": "eu-2", "plugin": "Ours", "reasons": ["no room for acme"]}],
			"comparisons": [{"node": "eu-1", "plugin": "InterPodAffinity", "podTerms": [{"rule": "antiAffinity", "topologyKey": "topology.kubernetes.io/zone", "domain": "eu", "selector": "app=web,tier in (a,b)"}]}]},
		"facts": [{"plugin": "Ours", "key": "acme", "value": "acme"}],
		"extenders": [{"plugin": "https://acme.example/filter", "verb": "filter", "status": "Success", "request": "acme", "nodes": 2, "rejected": [{"node": "eu-2", "reason": "full"}]}]
	}`), cycle); err != nil {
		t.Fatal(err)
	}
	r := redact.New([]byte("salt"))
	redacted, err := r.Cycle(cycle)
	if err != nil {
		t.Fatal(err)
	}
	node := redacted.Filter.Comparisons[0].Node
	got := map[string]any{
		"pod": strings.HasPrefix(redacted.Pod.Name, "app-") && strings.HasSuffix(redacted.Pod.Name, "-3"), "owner": redacted.Owner.Kind,
		"same node": redacted.Queue.RequeuedBy.Name == node && strings.HasPrefix(node, "node-"), "message": redacted.Message, "facts": len(redacted.Facts),
		"point": redacted.ExtensionPoints[0].Name, "event": redacted.Queue.RequeuedBy.Event, "counts": redacted.Nodes, "zone": redacted.Filter.Comparisons[0].PodTerms[0].TopologyKey,
		"request": redacted.Extenders[0].Request, "rejected": redacted.Extenders[0].Rejected.Nodes[0] != node,
	}
	want := map[string]any{
		"pod": true, "owner": "StatefulSet", "same node": true, "message": "", "facts": 0, "point": "preFilter", "event": "NodeAdd",
		"counts": result.NodeCounts{Total: 2, Evaluated: 2}, "zone": "topology.kubernetes.io/zone", "request": "", "rejected": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	states, reasons := map[string]bool{}, ""
	for i := range redacted.Filter.Nodes.Len() {
		v := redacted.Filter.Verdict(i)
		states[v.States] = true
		reasons += strings.Join(v.Reasons, ",") + ";"
	}
	if !states["RN"] || !states["PR"] || !strings.Contains(reasons, "Insufficient cpu,Insufficient example.com/resource-") || !strings.Contains(reasons, "reason-") {
		t.Errorf("the verdicts are %v with %s", states, reasons)
	}
	whole, err := json.Marshal(redacted)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{"acme", "eu-", "shop", "tier", `"web`} {
		if strings.Contains(string(whole), leak) {
			t.Errorf("%q is still in %s", leak, whole)
		}
	}
	summary, err := r.Summary(cycle.Summary)
	if diff := cmp.Diff(redacted.Summary, summary); diff != "" || err != nil {
		t.Errorf("%v, the summary differs: %s", err, diff)
	}
}
