package systemtest

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/yamlsource/bombs"
	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

const (
	// bombMemory bounds how much the program may grow for one request, and bombTime the processor time that it may take, so that a busy
	// machine does no harm.
	bombMemory = 200 << 20
	bombTime   = 2 * time.Second
)

// excesses are the texts with which the one reader of YAML and JSON refuses a bomb.
var excesses = []string{"values, the limit", "too large when its aliases are written out", "; the limit is", "nested deeper than", "and those around it have more than", "contains itself", "bytes, the limit"}

// readsFiles are routes whose bodies are files that go to the disk.
var readsFiles = []string{"POST /api/v1/import", "POST /api/v1/replay"}

// TestBombsOnEveryRoute: every route of the OpenAPI document that has a body, and data below /kubernetes, refuse a text that would become
// large in the words of the one reader, soon, and without growing. The larger ones are as long as a body may be, or longer.
func TestBombsOnEveryRoute(t *testing.T) {
	clustertest.Slow(t)
	for _, size := range []int{1<<20 - 100, 16<<20 - 100} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p := start(t, passing(t).measured())
			sent, all := 0, bombs.Texts(size)
			for _, o := range p.operations(t) {
				if !o.hasBody {
					continue
				}
				for name, text := range all {
					sent++
					what := o.method + " " + o.template
					answered := p.bomb(t, what+", "+name, o.route, "application/yaml", []byte(text))
					refused := slices.ContainsFunc(excesses, func(s string) bool { return strings.Contains(string(answered.body), s) })
					others := []int{http.StatusConflict, http.StatusNotFound, http.StatusRequestEntityTooLarge}
					if !slices.Contains(readsFiles, what) && !refused && !slices.Contains(others, answered.status) {
						t.Errorf("%s, %s: %d, not in the words of the reader: %.300s", what, name, answered.status, answered.body)
					}
				}
			}
			if sent < 150 {
				t.Errorf("only %d bombs were sent", sent)
			}
			p.schedulesAfterwards(t)
		})
	}
}

// operation is one of the OpenAPI document, with plausible values in its path.
type operation struct {
	route
	template string
	hasBody  bool
}

// operations returns those of the OpenAPI document, in the order of their paths.
func (p *program) operations(t *testing.T) (out []operation) {
	t.Helper()
	a, err := p.request(http.MethodGet, "/api/v1/openapi.json", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(a.body, &document); err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Sorted(maps.Keys(document.Paths)) {
		to := strings.NewReplacer("{rules}", "volcano", "{path}", "api/v1/namespaces/default/configmaps").Replace(path)
		to = parameter.ReplaceAllString(to, "1")
		for method, o := range document.Paths[path] {
			out = append(out, operation{route{strings.ToUpper(method), to}, path, bytes.Contains(o, []byte(`"requestBody"`))})
		}
	}
	return out
}

// TestBombsWithin: what is below /kubernetes, in archives, CustomResourceDefinitions, recordings, texts within texts and annotations is
// bounded as well.
func TestBombsWithin(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	p.createNodes(t, "node", 1)
	crd := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: as.b.c}\nspec:\n"
	for name, text := range bombs.Texts(1<<20 - 100) {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		configMaps := "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps"
		for _, b := range []struct {
			what        string
			to          route
			contentType string
			body        []byte
		}{
			{"an object", route{http.MethodPost, configMaps}, "application/yaml", []byte(text)},
			{"an apply", route{http.MethodPatch, configMaps + "/a?fieldManager=a"}, "application/apply-patch+yaml", []byte(text)},
			{"an object without a type", route{http.MethodPost, configMaps}, "", []byte(text)},
			{"a definition", route{http.MethodPost, "/kubernetes/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}, "application/yaml", []byte(crd + "  " + strings.ReplaceAll(text, "\n", "\n  "))},
			{"an archive", route{http.MethodPost, "/api/v1/import"}, "application/zip", zipped(t, text)},
			{"an import", route{http.MethodPost, "/api/v1/import"}, "application/gzip", packed(t, text)},
			{"a recording", route{http.MethodPost, "/api/v1/replay"}, "application/gzip", packed(t, text)},
			{"a file of a run", route{http.MethodPost, "/api/v1/runs"}, "application/json", []byte(`{"scenario":"apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: a}\nsteps: [{create: f}]","files":{"f":` + string(quoted) + "}}")},
			{"a configuration of a question", route{http.MethodPost, "/api/v1/whatif"}, "application/json", []byte(`{"changes":[{"apply":` + string(quoted) + `}],"pod":` + string(quoted) + "}")},
			{"NUMA nodes", route{http.MethodPatch, "/kubernetes/api/v1/nodes/node-0"}, "application/merge-patch+json", annotated(t, objects.AnnotationNUMA, name)},
			{"devices", route{http.MethodPatch, "/kubernetes/api/v1/nodes/node-0"}, "application/merge-patch+json", annotated(t, objects.AnnotationDevices, name)},
		} {
			p.bomb(t, b.what+", "+name, b.to, b.contentType, b.body)
		}
	}
	p.schedulesAfterwards(t)
}

// bomb sends a body, and checks what the answer takes.
func (p *program) bomb(t *testing.T, what string, to route, contentType string, body []byte) answer {
	t.Helper()
	grown, begin := p.peak(t), p.processorTime(t)
	a, err := p.request(to.method, to.path, bytes.NewReader(body), func(r *http.Request) {
		if contentType != "" {
			r.Header.Set("Content-Type", contentType)
		}
	})
	took, growth := p.processorTime(t)-begin, grown()
	t.Logf("%s: %d in %s, %d MB: %.200s", what, a.status, took, growth>>20, a.body)
	if err != nil || a.status == http.StatusInternalServerError || a.status < 400 && !strings.Contains(string(body), `{"metadata":{"annotations"`) {
		t.Errorf("%s: %d (%v): %.300s", what, a.status, err, a.body)
	}
	if took > bombTime || growth > bombMemory {
		t.Errorf("%s took %s and %d MB", what, took, growth>>20)
	}
	return a
}

// processorTime returns that of the process so far.
func (p *program) processorTime(t *testing.T) time.Duration {
	t.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	_, after, found := strings.Cut(string(data), ") ") // the name of the program may have spaces
	fields := strings.Fields(after)
	if err != nil || !found || len(fields) < 13 {
		t.Fatalf("reading the processor time: %v", err)
	}
	user, err := strconv.Atoi(fields[11])
	system, wrong := strconv.Atoi(fields[12])
	if err := errors.Join(err, wrong); err != nil {
		t.Fatal(err)
	}
	return time.Duration(user+system) * 10 * time.Millisecond // Linux counts hundredths of a second
}

// annotated returns a patch with a bomb in an annotation, which virtual nodes read later.
func annotated(t *testing.T, annotation, bomb string) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{annotation: bombs.Texts(200 << 10)[bomb]}}})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"a.yaml", "b.json"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func (p *program) schedulesAfterwards(t *testing.T) {
	t.Helper()
	p.alive(t)
	p.createNodes(t, "afterwards", 1)
	p.schedules(t, "afterwards")
}

// attacks are scenarios that would take the machine, or never end.
func attacks() map[string]string {
	const head = "apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Scenario\nmetadata: {name: attack}\nsteps:\n"
	const pod = "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}"
	long := strings.Repeat("a", 100)
	var metrics strings.Builder
	for i := range 300 {
		fmt.Fprintf(&metrics, "- {name: m%d, value: 'lists.range(500).all(i, lists.range(500).all(j, i + j >= 0)) ? 1 : 0'}\n", i)
	}
	measuring, _ := json.Marshal(map[string]any{ // texts have a form in JSON
		"sweep": "apiVersion: kube-scheduler-simulator.sigs.k8s.io/v1alpha1\nkind: Sweep\nmetadata: {name: attack}\nscenario: s\n" +
			"parameters: [{name: fit, plugin: NodeResourcesFit, weight: [1]}]\nmetrics:\n" + metrics.String() + "best: [{most: m0}]\n",
		"files": map[string]string{"s": head + "- create: {objects: [" + pod + "]}\n"},
	})
	return map[string]string{
		"creating":   head + "- create: {objects: [" + pod + "], count: 100000}\n",
		"replicas":   head + "- create: {objects: [{apiVersion: apps/v1, kind: Deployment, metadata: {name: d}, spec: {replicas: 2000000000, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}]}\n",
		"evaluating": head + "- wait: {for: 'lists.range(1000).all(i, lists.range(900).all(j, i + j >= 0)) && false', timeout: 8760h}\n",
		"growing":    head + "- wait: {for: '[\"" + long + "\"].map(x, x" + strings.Repeat(".replace(\"a\", \""+long+"\")", 2) + ").size() < 0', timeout: 8760h}\n",
		"measuring":  string(measuring),
		"waiting":    head + "- create: {objects: [" + pod + "], count: 20000}\n- wait: {for: 'pods.all(p, p.node != \"\")', timeout: 8760h}\n",
		"arriving":   head + "- arrive: {objects: [" + pod + "], rate: 100000/s, count: 100000}\n- wait: settled\n",
	}
}

// run starts a scenario, and waits until it runs.
func (p *program) run(t *testing.T, text string) (path string) {
	t.Helper()
	a, err := p.request(http.MethodPost, "/api/v1/runs", strings.NewReader(text), nil)
	var e struct{ ID, State string }
	if err != nil || a.status != http.StatusCreated || json.Unmarshal(a.body, &e) != nil {
		t.Fatalf("%d (%v): %.300s", a.status, err, a.body)
	}
	return "/api/v1/runs/" + e.ID
}

// TestRunsEndWhenTold: DELETE ends a run within a second, whatever it does.
func TestRunsEndWhenTold(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	for name, text := range attacks() {
		for _, after := range []time.Duration{100 * time.Millisecond, 2 * time.Second} {
			grown := p.peak(t)
			path := p.run(t, text)
			time.Sleep(after) // the moment matters, not what has been reached
			begin := time.Now()
			if a, err := p.request(http.MethodDelete, path, nil, nil); err != nil || a.status != http.StatusNoContent {
				t.Fatalf("%d (%v)", a.status, err)
			}
			for {
				a, err := p.request(http.MethodGet, path, nil, nil)
				var e struct{ State string }
				_ = json.Unmarshal(a.body, &e)
				if err != nil || a.status == http.StatusNotFound || e.State == "canceled" || e.State == "ended" {
					break
				}
				time.Sleep(10 * time.Millisecond)
			}
			took, growth := time.Since(begin), grown()
			t.Logf("%s, after %s: it ended within %s, %d MB", name, after, took.Round(time.Millisecond), growth>>20)
			if took > time.Second {
				t.Errorf("%s: it ended only %s after its end was asked for", name, took)
			}
		}
	}
	p.schedulesAfterwards(t)
}

// TestStopsDuringAttacks: the program ends in time while each attack runs.
func TestStopsDuringAttacks(t *testing.T) {
	clustertest.Slow(t)
	const times = 20
	all := attacks()
	names := slices.Sorted(maps.Keys(all))
	text := bombs.Texts(1<<20 - 100)["aliases of long texts"]
	for i := range times {
		h := passing(t).measured()
		p := start(t, h)
		name := "bombs"
		if i < times-4 {
			name = names[i%len(names)]
			p.run(t, all[name])
		} else {
			for range 8 {
				go func() {
					for range 50 {
						_, _ = p.request(http.MethodPost, "/api/v1/whatif", strings.NewReader(text), nil)
					}
				}()
			}
		}
		// The API server ends only once its start is complete.
		clustertest.EventuallyTrue(t, "the API server has started", func() bool {
			a, err := p.request(http.MethodGet, "/kubernetes/readyz", nil, nil)
			return err == nil && a.status == http.StatusOK
		})
		time.Sleep(time.Second) // the attack is under way
		took := p.stopsInTime(t, syscall.SIGTERM)
		t.Logf("%s: stopped after %s", name, took)
	}
}

// TestAllObjectsAreBounded: the refusal names what all steps make together, and the limit.
func TestAllObjectsAreBounded(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t))
	head, step, _ := strings.Cut(attacks()["creating"], "- create")
	a, err := p.request(http.MethodPost, "/api/v1/runs", strings.NewReader(head+strings.Repeat("- create"+step, 20)), nil)
	if want := fmt.Sprintf("all steps together make up to %d objects; the limit is %d", 2_000_000, 200_000); err != nil || !strings.Contains(string(a.body), want) {
		t.Errorf("%d (%v): %.300s; want %q", a.status, err, a.body, want)
	}
}
