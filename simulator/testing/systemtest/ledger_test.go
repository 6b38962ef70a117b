package systemtest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ledger records the acknowledged changes, and those with an unknown outcome.
type ledger struct {
	mu sync.Mutex
	// maps are ConfigMaps, and pods are pods, by name. Entries of pods have no value.
	maps, pods map[string]*entry
	// scheduled are the pods that were observed bound.
	scheduled map[types.UID]*binding
	// documents are configurations by revision. latest is in force, or one of tried, whose
	// outcome is unknown.
	documents map[int]string
	latest    string
	tried     []string
	imports   map[string]bool
	// emptying is the operation that may have emptied the cluster.
	emptying emptying
	// writes counts the observed writes of results to disk.
	writes int

	// next makes names and documents unique.
	next    int
	checked map[string]int
}

// entry is the state of an object. The ledger knows nothing of objects without an entry.
type entry struct {
	// is holds the acknowledged value. gone: the deletion was acknowledged.
	is   string
	gone bool
	// maybe is the requested state while there is no response yet.
	maybe *entry
}

func (e *entry) permits(there bool, value string) bool {
	return e.gone != there && (e.gone || e.is == value) || e.maybe != nil && e.maybe.permits(there, value)
}

// binding is an observed binding of a pod. seen and writes say when it was observed: the time, and
// the number of writes of results before. kept: no kill may lose its result.
type binding struct {
	pod, node string
	seen      time.Time
	writes    int
	kept      bool
}

func newLedger() *ledger {
	return &ledger{
		maps: map[string]*entry{}, pods: map[string]*entry{}, scheduled: map[types.UID]*binding{},
		documents: map[int]string{}, imports: map[string]bool{}, checked: map[string]int{},
	}
}

func (l *ledger) String() string {
	return fmt.Sprintf("checked %d objects, %d deletions, %d results, %d configurations, %d objects of imports; it was empty %d times",
		l.checked["object"], l.checked["deletion"], l.checked["result"], l.checked["configuration"], l.checked["import"], l.checked["empty"])
}

// number returns a different number each time.
func (l *ledger) number() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next++
	return l.next
}

// try records that a state is about to be requested.
func (l *ledger) try(of map[string]*entry, name string, to entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of[name] == nil {
		of[name] = &entry{gone: true}
	}
	of[name].maybe = &to
}

// acknowledge records that the program acknowledged the requested state.
func (l *ledger) acknowledge(of map[string]*entry, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of[name] = of[name].maybe
}

// write starts the writers. wait returns when all of them have noticed that the program is gone.
func (l *ledger) write(t *testing.T, h home, p *program) (wait func()) {
	ctx, cancel := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	l.ensureNodes(t, p)
	for _, job := range []func(context.Context, *program) error{
		l.writeMaps, l.writePods, l.seeBindings, l.writeConfigurations, l.writeImports,
		func(ctx context.Context, _ *program) error { return l.seeWrites(ctx, filepath.Join(h.data, "results")) },
	} {
		writing.Go(func() {
			for ctx.Err() == nil {
				if err := job(ctx, p); err != nil && !p.ended(ctx) {
					t.Errorf("writing: %v", err)
					return
				}
			}
		})
	}
	return func() {
		cancel()
		writing.Wait()
	}
}

// ended reports whether the process was killed, so that errors are expected. Connections may break
// before its exit code is known.
func (p *program) ended(ctx context.Context) bool {
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return true
	case <-time.After(5 * time.Second):
		return false
	}
}

const killNodes = 6

// ensureNodes creates nodes if the cluster has none.
func (l *ledger) ensureNodes(t *testing.T, p *program) {
	t.Helper()
	for i := range killNodes {
		_, err := p.client.CoreV1().Nodes().Create(t.Context(), newNode(fmt.Sprintf("kill-%d", i)), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Error(err)
		}
	}
}

// writeMaps creates a ConfigMap, applies a change to it, and deletes another.
func (l *ledger) writeMaps(ctx context.Context, p *program) error {
	n := l.number()
	name := fmt.Sprintf("map-%05d", n)
	maps := p.client.CoreV1().ConfigMaps(namespace)
	l.try(l.maps, name, entry{is: "created"})
	_, err := maps.Create(ctx, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"value": "created"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	l.acknowledge(l.maps, name)

	l.try(l.maps, name, entry{is: "applied"})
	apply := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{"value":"applied"}}`, name)
	force := true
	if _, err = maps.Patch(ctx, name, types.ApplyPatchType, []byte(apply), metav1.PatchOptions{FieldManager: "systemtest", Force: &force}); err != nil {
		return err
	}
	l.acknowledge(l.maps, name)
	if n%3 == 0 {
		return nil
	}
	l.try(l.maps, name, entry{gone: true})
	if err = maps.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	l.acknowledge(l.maps, name)
	return nil
}

// writePods creates a pod and, when there are many, deletes one.
func (l *ledger) writePods(ctx context.Context, p *program) error {
	name := fmt.Sprintf("pod-%05d", l.number())
	pods := p.client.CoreV1().Pods(namespace)
	l.try(l.pods, name, entry{})
	if _, err := pods.Create(ctx, newPod(name), metav1.CreateOptions{}); err != nil {
		return err
	}
	l.acknowledge(l.pods, name)
	old := l.anOldPod()
	if old == "" {
		return nil
	}
	l.try(l.pods, old, entry{gone: true})
	if err := pods.Delete(ctx, old, metav1.DeleteOptions{}); err != nil {
		return err
	}
	l.acknowledge(l.pods, old)
	return nil
}

// manyPods bounds the number of pods.
const manyPods = 60

func (l *ledger) anOldPod() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	oldest, there := "", 0
	for name, e := range l.pods {
		if e.gone || e.maybe != nil {
			continue
		}
		if there++; oldest == "" || name < oldest {
			oldest = name
		}
	}
	if there < manyPods {
		return ""
	}
	return oldest
}

// seeBindings records pods that become bound. It ignores pods that were bound when it starts: the
// last kill may have lost their results.
func (l *ledger) seeBindings(ctx context.Context, p *program) error {
	pods := p.client.CoreV1().Pods(namespace)
	before, err := pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	bound := map[types.UID]bool{}
	for _, pod := range before.Items {
		bound[pod.UID] = pod.Spec.NodeName != ""
	}
	watching, err := pods.Watch(ctx, metav1.ListOptions{ResourceVersion: before.ResourceVersion})
	if err != nil {
		return err
	}
	defer watching.Stop()
	for event := range watching.ResultChan() {
		pod, ok := event.Object.(*v1.Pod)
		if !ok || pod.Spec.NodeName == "" || bound[pod.UID] {
			continue
		}
		bound[pod.UID] = true
		l.mu.Lock()
		l.scheduled[pod.UID] = &binding{pod: pod.Name, node: pod.Spec.NodeName, seen: time.Now(), writes: l.writes}
		l.mu.Unlock()
	}
	return nil
}

func (l *ledger) writeConfigurations(_ context.Context, p *program) error {
	document := configurationWith(l.number())
	l.mu.Lock()
	l.tried = append(l.tried, document)
	l.mu.Unlock()
	number, err := p.apply(document)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.documents[number], l.latest, l.tried = document, document, nil
	return nil
}

// writeImports imports a list of objects.
func (l *ledger) writeImports(_ context.Context, p *program) error {
	n := l.number()
	var items, names []string
	for i := range 8 {
		name := fmt.Sprintf("import-%05d-%02d", n, i)
		names = append(names, name)
		items = append(items, fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"namespace":%q},"data":{"value":"imported"}}`, name, namespace))
	}
	list := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(items, ",") + `]}`
	a, err := p.request(http.MethodPost, "/api/v1/import", strings.NewReader(list), nil)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		return readRefusal(a)
	}
	var report struct{ Created int }
	if err := json.Unmarshal(a.body, &report); err != nil {
		return err
	}
	if report.Created != len(items) {
		return fmt.Errorf("the import answered %s", a.body)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		l.imports[name] = true
	}
	return nil
}

// killed forgets the bindings whose results a kill at that time may lose.
func (l *ledger) killed(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for uid, b := range l.scheduled {
		if b.kept = b.kept || at.Sub(b.seen) > resultsBehind && l.writes-b.writes >= writesBehind; !b.kept {
			delete(l.scheduled, uid)
		}
	}
}

// seeWrites counts the times when the files of results grow.
func (l *ledger) seeWrites(ctx context.Context, dir string) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	before, _, err := sizeOf(dir)
	grown := time.Now()
	for err == nil && ctx.Err() == nil {
		<-tick.C
		var size float64
		if size, _, err = sizeOf(dir); size == before {
			continue
		}
		// Growth in quick succession is one write.
		if now := time.Now(); now.Sub(grown) > writesApart {
			l.mu.Lock()
			l.writes++
			l.mu.Unlock()
		}
		before, grown = size, time.Now()
	}
	return err
}

// check compares the program with the ledger, and settles unknown outcomes.
func (l *ledger) check(t *testing.T, p *program) {
	t.Helper()
	l.checkEmptied(t, p)
	l.checkMaps(t, p)
	l.checkPods(t, p)
	l.checkResults(t, p)
	l.checkConfiguration(t, p)
}

func (l *ledger) checkMaps(t *testing.T, p *program) {
	t.Helper()
	maps, err := p.client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for _, m := range maps.Items {
		values[m.Name] = m.Data["value"]
	}
	l.settle(t, "ConfigMap", l.maps, values)
	for name := range l.imports {
		if values[name] != "imported" {
			t.Errorf("the program acknowledged the import of %s, and lost it", name)
		}
		l.checked["import"]++
	}
}

func (l *ledger) checkPods(t *testing.T, p *program) {
	t.Helper()
	pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]string{}
	for _, pod := range pods.Items {
		// A deletion ends when the pod has stopped, which takes time.
		if pod.DeletionTimestamp == nil {
			there[pod.Name] = ""
		}
	}
	l.settle(t, "pod", l.pods, there)
}

// settle compares the states, and then records the actual ones as acknowledged.
func (l *ledger) settle(t *testing.T, kind string, expected map[string]*entry, actual map[string]string) {
	t.Helper()
	for name, e := range expected {
		value, there := actual[name]
		if !e.permits(there, value) {
			t.Errorf("%s %s: exists: %t, with %q; acknowledged: %+v, requested: %+v", kind, name, there, value, *e, e.maybe)
		}
		if e.gone {
			l.checked["deletion"]++
		} else {
			l.checked["object"]++
		}
		expected[name] = &entry{is: value, gone: !there}
	}
}

// checkResults checks that every kept binding has its result.
func (l *ledger) checkResults(t *testing.T, p *program) {
	t.Helper()
	nodes := p.decisions(t)
	for uid, b := range l.scheduled {
		if nodes[uid] != b.node {
			t.Errorf("pod %s was seen bound to %s, and results were written %d times after that; the result has %q", b.pod, b.node, writesBehind, nodes[uid])
		}
		l.checked["result"]++
	}
}

// decisions returns the selected nodes in the results, by the pods' UIDs.
func (p *program) decisions(t *testing.T) map[types.UID]string {
	t.Helper()
	type summary struct {
		Pod          struct{ UID types.UID }
		SelectedNode string
	}
	nodes := map[types.UID]string{}
	for next := "first"; next != ""; {
		var page struct {
			Items    []summary
			Continue string
		}
		path := "/api/v1/results?outcome=scheduled&limit=1000"
		if next != "first" {
			path += "&continue=" + url.QueryEscape(next)
		}
		if err := p.get(path, &page); err != nil {
			t.Fatal(err)
		}
		for _, s := range page.Items {
			nodes[s.Pod.UID] = s.SelectedNode
		}
		next = page.Continue
	}
	return nodes
}

// checkConfiguration checks that the last acknowledged configuration is in force, or one that was
// requested later, and that every acknowledged revision exists.
func (l *ledger) checkConfiguration(t *testing.T, p *program) {
	t.Helper()
	a, err := p.request(http.MethodGet, configurationURL, nil, func(r *http.Request) { r.Header.Set("Accept", "application/yaml") })
	if err != nil || a.status != http.StatusOK {
		t.Fatalf("%v, %d: %s", err, a.status, a.body)
	}
	current := string(a.body)
	expected := append([]string{l.latest}, l.tried...)
	if l.latest == "" && len(l.tried) == 0 {
		l.latest = current
		return
	}
	known := false
	for _, document := range expected {
		known = known || document == current
	}
	if !known {
		t.Errorf("the configuration is\n%s\nwant one of\n%s", current, strings.Join(expected, "\n"))
	}
	l.latest, l.tried = current, nil

	var list struct{ Items []revision }
	if err := p.get(configurationURL+"/revisions", &list); err != nil {
		t.Fatal(err)
	}
	running := 0
	for i, r := range list.Items {
		if i > 0 && r.Number >= list.Items[i-1].Number {
			t.Errorf("revision %d comes after %d", r.Number, list.Items[i-1].Number)
		}
		if r.State == "running" {
			running++
		}
	}
	if running != 1 {
		t.Errorf("%d revisions are running", running)
	}
	for number, document := range l.documents {
		var r revision
		if err := p.get(fmt.Sprintf("%s/revisions/%d", configurationURL, number), &r); err != nil {
			t.Error(err)
		} else if r.Document != document {
			t.Errorf("revision %d has %q; acknowledged: %q", number, r.Document, document)
		}
		l.checked["configuration"]++
	}
}

// checkDeletionsEnd waits until the pods whose deletion was acknowledged are gone.
func (l *ledger) checkDeletionsEnd(t *testing.T, p *program) {
	t.Helper()
	eventually(t, "deleted pods are gone", func() error {
		pods, err := p.client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if e := l.pods[pod.Name]; e != nil && e.gone {
				return fmt.Errorf("%s still exists: deleted %v, on node %q, %s, finalizers %v", pod.Name, pod.DeletionTimestamp, pod.Spec.NodeName, pod.Status.Phase, pod.Finalizers)
			}
		}
		return nil
	})
}

// tooFew names what was checked too seldom to mean anything after so many kills, or is empty.
func (l *ledger) tooFew(kills int) string {
	var few []string
	for what, least := range map[string]int{"object": 40, "deletion": 20, "result": 5, "configuration": 3, "import": 20, "empty": 2} {
		if least = least * kills / 25; l.checked[what] < least {
			few = append(few, fmt.Sprintf("%d checks of %s, want %d", l.checked[what], what, least))
		}
	}
	return strings.Join(few, "; ")
}
