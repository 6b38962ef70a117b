package systemtest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// inTime is the longest time from a signal to the end of the program.
const inTime = 5 * time.Second

var moments = flag.Int("moments", 50, "how `often` TestStopsAtAnyMoment stops the program")

// stopsInTime sends a signal and checks that the program ends in time with exit code 0.
func (p *program) stopsInTime(t *testing.T, signal syscall.Signal) time.Duration {
	t.Helper()
	begin := time.Now()
	if err := p.cmd.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(2 * inTime):
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		<-p.exited
		t.Fatalf("%v after %v it has not ended\n%.40000s", time.Since(begin), signal, p.stderr)
	}
	took := time.Since(begin)
	if p.exit != nil || took > inTime {
		t.Errorf("after %v it ended within %v: %v\n%s", signal, took, p.exit, p.stderr)
	}
	return took
}

// TestStopsBesideHungClients: half-sent bodies on every route, half-sent headers, and clients that do not
// read exports, lists, watches and WebSockets do not delay the end, and nothing that was acknowledged
// before is lost, down to the result of the last moment.
func TestStopsBesideHungClients(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	p := start(t, h)
	p.createNodes(t, "node", 2)
	p.createLarge(t, 40)
	hung := p.hangEverywhere(t)
	p.schedules(t, "the-last")
	took := p.stopsInTime(t, syscall.SIGTERM)
	t.Logf("%s; stopped after %v\n%s", hung, took, p.stderr)

	again := start(t, h)
	maps, err := again.client.CoreV1().ConfigMaps(namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "large"})
	if err != nil || len(maps.Items) != 40 {
		t.Errorf("%d ConfigMaps are left, %v", len(maps.Items), err)
	}
	var results struct{ Items []any }
	if err := again.get("/api/v1/results?name=the-last", &results); err != nil || len(results.Items) == 0 {
		t.Errorf("%d results of the last pod are left, %v", len(results.Items), err)
	}
	again.stopsInTime(t, syscall.SIGINT)
}

// TestHalfUploadsDelayNoOthers: while a recording and an import are half sent, a reset and a deletion of
// the replay are answered, and a second upload is refused at once.
func TestHalfUploadsDelayNoOthers(t *testing.T) {
	clustertest.Slow(t)
	for _, path := range []string{"/api/v1/replay", "/api/v1/import"} {
		t.Run(path, func(t *testing.T) {
			p := start(t, passing(t))
			eventually(t, "a second one is refused", func() error {
				// The program may see the second one first, and refuse the half one.
				half := p.half(t, route{http.MethodPost, path}, ways[0])
				a, err := p.request(http.MethodPost, path, strings.NewReader("x"), nil)
				if err == nil && a.status != http.StatusConflict {
					half.Close()
					err = fmt.Errorf("%d: %s", a.status, a.body)
				}
				return err
			})
			p.answersWithin(t, time.Second, http.MethodDelete, "/api/v1/replay", http.StatusNotFound)
			p.answersWithin(t, inTime, http.MethodPut, "/api/v1/reset", http.StatusOK)
			p.stopsInTime(t, syscall.SIGTERM)
		})
	}
}

// answersWithin checks the status of the answer, and how long it took.
func (p *program) answersWithin(t *testing.T, most time.Duration, method, path string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*inTime)
	defer cancel()
	begin := time.Now()
	a, err := p.request(method, path, strings.NewReader("x"), func(r *http.Request) { *r = *r.WithContext(ctx) })
	took := time.Since(begin)
	if err != nil || a.status != status || took > most {
		t.Errorf("%s %s is answered with %d after %v (%v), want %d: %s", method, path, a.status, took, err, status, a.body)
	}
}

// TestWhatAClientGivesUpDoesNotHappen: a request whose client leaves before it has sent all of it has no
// effect.
func TestWhatAClientGivesUpDoesNotHappen(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t))
	p.createLarge(t, 1)
	for _, r := range []route{
		{http.MethodPut, "/api/v1/reset"}, {http.MethodDelete, "/kubernetes/api/v1/namespaces/" + namespace + "/configmaps/large-0"},
		{http.MethodDelete, configurationURL}, {http.MethodPost, "/api/v1/import?mode=replace"},
	} {
		for _, way := range ways {
			conn := p.half(t, r, way)
			if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			readAll(t, conn) // the program has dealt with it
		}
		if _, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "large-0", metav1.GetOptions{}); err != nil {
			t.Fatalf("%s %s: %v", r.method, r.path, err)
		}
	}
	var revisions struct{ Items []revision }
	if err := p.get(configurationURL+"/revisions", &revisions); err != nil || len(revisions.Items) != 1 {
		t.Errorf("%d revisions, %v", len(revisions.Items), err)
	}
}

// TestASecondSignalEndsAtOnce: while the first one is being followed, a second one ends the program.
func TestASecondSignalEndsAtOnce(t *testing.T) {
	h := passing(t)
	configuration, asked := hangingExtender(t, h)
	p := start(t, h, "--scheduler-config", configuration)
	p.createNodes(t, "node", 1)
	p.createPods(t, 1)
	<-asked
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is stopping", func() error {
		a, err := p.request(http.MethodGet, "/api/v1/status", nil, nil)
		if err == nil && !bytes.Contains(a.body, []byte(`"phase":"stopping"`)) {
			err = fmt.Errorf("%s", a.body)
		}
		return err
	})
	begin := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatal("it does not end")
	}
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if took := time.Since(begin); took > time.Second || !ok || !status.Signaled() {
		t.Errorf("it ended after %v with %v", took, p.exit)
	}
}

// TestStopsWithoutItsCluster: the API server of another cluster has gone, or is silent.
func TestStopsWithoutItsCluster(t *testing.T) {
	clustertest.Slow(t)
	for name, signal := range map[string]syscall.Signal{"gone": syscall.SIGKILL, "silent": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			cluster := start(t, passing(t))
			cluster.createNodes(t, "node", 1)
			p := start(t, passing(t), "--kubeconfig", cluster.kubeconfig)
			if err := cluster.cmd.Process.Signal(signal); err != nil {
				t.Fatal(err)
			}
			if signal == syscall.SIGKILL {
				<-cluster.exited
				eventually(t, "it notices", func() error {
					a, err := p.request(http.MethodGet, "/readyz", nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+p.token) })
					if err == nil && a.status != http.StatusServiceUnavailable {
						err = fmt.Errorf("%d: %s", a.status, a.body)
					}
					return err
				})
			}
			t.Logf("stopped after %v\n%s", p.stopsInTime(t, syscall.SIGTERM), p.stderr)
		})
	}
}

// TestRecordHeedsSIGINT: a recorder whose source accepts connections and says nothing ends.
func TestRecordHeedsSIGINT(t *testing.T) {
	h := passing(t)
	kubeconfig := silentCluster(t, h)
	output := filepath.Join(h.tmp, "silent.rec")
	var said lockedBuffer
	recorder := exec.Command(clustertest.Program(), "record", "--kubeconfig", kubeconfig.path, "--output", output)
	recorder.Stderr = &said
	if err := recorder.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- recorder.Wait() }()
	t.Cleanup(func() { _ = recorder.Process.Kill() })
	kubeconfig.wait(t)
	begin := time.Now()
	if err := recorder.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(2 * inTime):
		t.Fatalf("it does not end\n%s", &said)
	}
	if took := time.Since(begin); took > time.Second || !strings.Contains(said.String(), "nothing was recorded") {
		t.Errorf("it ended after %v and said %q", took, &said)
	}
	if _, err := os.Stat(output); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it left a file: %v", err)
	}
}

// TestStopsDuringEverything: each of these alone, with either signal.
func TestStopsDuringEverything(t *testing.T) {
	clustertest.Slow(t)
	recording := aRecording(t)
	for name, begin := range map[string]func(t *testing.T, p *program){
		"half a recording": func(t *testing.T, p *program) { p.half(t, route{http.MethodPost, "/api/v1/replay"}, ways[0]) },
		"half an import":   func(t *testing.T, p *program) { p.half(t, route{http.MethodPost, "/api/v1/import"}, ways[1]) },
		"half a form": func(t *testing.T, p *program) {
			p.half(t, route{http.MethodPost, "/api/v1/import"}, way{"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000000\r\n", "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.yaml\"\r\n\r\na: "})
		},
		"half a configuration": func(t *testing.T, p *program) { p.half(t, route{http.MethodPut, configurationURL}, ways[0]) },
		"half an object":       func(t *testing.T, p *program) { p.half(t, objectRoute, ways[0]) },
		"half a patch": func(t *testing.T, p *program) {
			p.half(t, route{http.MethodPatch, objectRoute.path + "/x"}, ways[1])
		},
		"half an object, directly": func(t *testing.T, p *program) { p.halfDirectly(t) },
		"a stalled export":         func(t *testing.T, p *program) { p.createLarge(t, 40); p.stall(t, "/api/v1/export") },
		"a stalled list":           func(t *testing.T, p *program) { p.createLarge(t, 40); p.stall(t, "/kubernetes"+mapsPath) },
		"a stalled watch":          func(t *testing.T, p *program) { p.createLarge(t, 40); p.stall(t, "/kubernetes"+mapsPath+"?watch=true") },
		"stalled sockets": func(t *testing.T, p *program) {
			p.createLarge(t, 40)
			for range 10 {
				p.follow(t, p.dialSmall, "configmaps", "pods", "nodes")
			}
		},
		"a hanging extender": func(t *testing.T, p *program) {
			document, asked := extenderConfiguration(t)
			a, err := p.request(http.MethodPut, configurationURL, strings.NewReader(document), nil)
			if err != nil || a.status != http.StatusOK {
				t.Fatalf("%v, %d: %s", err, a.status, a.body)
			}
			p.createNodes(t, "node", 1)
			p.createPods(t, 1)
			<-asked
		},
		"a hanging webhook": func(t *testing.T, p *program) {
			listener := silentListener(t)
			p.hookUp(t, listener.address)
			go func() {
				_, _ = p.request(http.MethodPost, objectRoute.path, strings.NewReader(harmlessJSON("hooked")), nil)
			}()
			listener.wait(t)
		},
		"an import": func(t *testing.T, p *program) {
			p.begin(t, http.MethodPost, "/api/v1/import", []byte(manyMaps(3000)), `"import"`)
		},
		"an import that replaces": func(t *testing.T, p *program) {
			p.begin(t, http.MethodPost, "/api/v1/import?mode=replace", []byte(manyMaps(3000)), `"import"`)
		},
		"a reset": func(t *testing.T, p *program) {
			p.createLarge(t, 40)
			p.begin(t, http.MethodPut, "/api/v1/reset", nil, "")
		},
		"a replay": func(t *testing.T, p *program) {
			a, err := p.request(http.MethodPost, "/api/v1/replay", bytes.NewReader(recording), nil)
			if err != nil || a.status != http.StatusOK {
				t.Fatalf("%v, %d: %s", err, a.status, a.body)
			}
			p.begin(t, http.MethodPatch, "/api/v1/replay", []byte(`{"state":"playing","speed":1}`), "")
		},
		"a recording that is being loaded": func(t *testing.T, p *program) {
			p.begin(t, http.MethodPost, "/api/v1/replay", recording, "")
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
				h := newHome(t)
				p := start(t, h)
				begin(t, p)
				t.Logf("%v: stopped after %v\n%s", signal, p.stopsInTime(t, signal), p.stderr)
				if t.Failed() {
					return
				}
			}
		})
	}
}

// TestStopsAtAnyMoment sends a signal at random moments of the start and of what follows.
func TestStopsAtAnyMoment(t *testing.T) {
	clustertest.Slow(t)
	random := rand.New(rand.NewPCG(1, 1))
	h := newHome(t)
	slowest := time.Duration(0)
	for i := range *moments {
		signal := []syscall.Signal{syscall.SIGTERM, syscall.SIGINT}[i%2]
		p := launch(t, h)
		var working sync.WaitGroup
		working.Go(func() {
			if p.waitReady() == nil {
				p.work(t.Context())
			}
		})
		// Before that the Go runtime handles signals: the program has not begun.
		after := beforeMain + upTo(random, 4*time.Second)
		select {
		case <-time.After(after):
		case <-p.exited:
			t.Fatalf("it ended by itself: %v\n%s", p.exit, p.stderr)
		}
		slowest = max(slowest, p.stopsInTime(t, signal))
		working.Wait()
		if t.Failed() {
			t.Fatalf("at moment %d, %v after its start", i+1, after)
		}
	}
	t.Logf("%d moments; the slowest stop took %v", *moments, slowest)
}

// beforeMain is how long the initialization of Kubernetes' packages may take.
const beforeMain = time.Second

// work uses the program until it ends.
func (p *program) work(ctx context.Context) {
	requests := []struct{ method, path, body string }{
		{http.MethodPost, objectRoute.path, harmlessJSON("a")}, {http.MethodPost, "/api/v1/import", manyMaps(200)},
		{http.MethodPut, configurationURL, configurationWith(1)}, {http.MethodGet, "/api/v1/export", ""}, {http.MethodPut, "/api/v1/reset", ""},
		{http.MethodPost, "/api/v1/import?mode=replace", manyMaps(200)}, {http.MethodGet, "/kubernetes" + mapsPath, ""},
	}
	for i := 0; ctx.Err() == nil; i++ {
		select {
		case <-p.exited:
			return
		default:
		}
		r := requests[i%len(requests)]
		_, _ = p.request(r.method, r.path, strings.NewReader(r.body), nil) // it may be stopping
	}
}

// begin sends a request and returns when the program works on it: when the status shows the operation, or
// at once if it is not one.
func (p *program) begin(t *testing.T, method, path string, body []byte, operation string) {
	t.Helper()
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_, _ = p.request(method, path, bytes.NewReader(body), nil)
	}()
	t.Cleanup(func() { <-answered })
	if operation == "" {
		return
	}
	eventually(t, "it has begun", func() error {
		a, err := p.request(http.MethodGet, "/api/v1/status", nil, nil)
		if err == nil && !bytes.Contains(a.body, []byte(operation)) {
			err = fmt.Errorf("%s", a.body)
		}
		return err
	})
}

// hookUp lets the API server ask a webhook about each new ConfigMap.
func (p *program) hookUp(t *testing.T, address string) {
	t.Helper()
	hook := &admissionv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "hangs"},
		Webhooks: []admissionv1.ValidatingWebhook{{
			Name: "hangs.example.com", SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"}, TimeoutSeconds: ptr.To[int32](30),
			ClientConfig: admissionv1.WebhookClientConfig{URL: ptr.To("https://" + address)},
			Rules: []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create}, Rule: admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"}},
			}},
		}},
	}
	if _, err := p.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), hook, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The API server learns of it a moment later.
	eventually(t, "the webhook is asked", func() error {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.client.CoreV1().ConfigMaps(namespace).Create(ctx, newMap("probe", 1), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil {
			return errors.New("it is not asked yet")
		}
		return nil
	})
}
