package systemtest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/past/branch"
	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// TestArchivesThatLie: neither many entries, nor entries that lie about their size, nor those that unpack to much take the machine.
func TestArchivesThatLie(t *testing.T) {
	clustertest.Slow(t)
	p := start(t, passing(t).measured())
	for what, archive := range map[string][]byte{
		"a tar with 200,000 entries":                  tarOfMany(t, 200_000),
		"a zip with 110,000 entries":                  zipOfMany(t, 110_000),
		"a tar whose entry says that it has a TB":     lyingTar(1<<40, []byte(harmless)),
		"a zip whose entry says that it has 10 bytes": lyingZip(t, 10, 64<<20),
		"a zip whose entry says that it has a TB":     lyingZip(t, 1<<40, 1<<10),
		"a zip that unpacks to 1 GB":                  lyingZip(t, 1<<30, 1<<30),
	} {
		p.bomb(t, what, route{http.MethodPost, "/api/v1/import"}, "application/octet-stream", archive)
	}
	p.schedulesAfterwards(t)
}

func tarOfMany(t *testing.T, entries int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := range entries {
		if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.txt", i), Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}

func zipOfMany(t *testing.T, entries int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for i := range entries {
		if _, err := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("%d.yaml", i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// lyingTar has an entry that says another size than it has.
func lyingTar(says int64, content []byte) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	_ = w.WriteHeader(&tar.Header{Name: "a.yaml", Size: says, Mode: 0o644, Format: tar.FormatGNU})
	out.Write(content)
	return out.Bytes()
}

// lyingZip has an entry of nothing but spaces that says another size than it has.
func lyingZip(t *testing.T, says uint64, size int) []byte {
	t.Helper()
	var packed bytes.Buffer
	deflated, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	spaces := bytes.Repeat([]byte(" "), 1<<20)
	for n := 0; n < size; n += len(spaces) {
		if _, err := deflated.Write(spaces[:min(len(spaces), size-n)]); err != nil {
			t.Fatal(err)
		}
	}
	if err := deflated.Close(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	entry, err := w.CreateRaw(&zip.FileHeader{
		Name: "a.yaml", Method: zip.Deflate, CRC32: binary.LittleEndian.Uint32([]byte("none")),
		CompressedSize64: uint64(packed.Len()), UncompressedSize64: says,
	})
	if err == nil {
		_, err = entry.Write(packed.Bytes())
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestSlowReaders: clients that ask every GET route and read nothing cost little, and others are served.
func TestSlowReaders(t *testing.T) {
	clustertest.Slow(t)
	const clients = 4
	p := start(t, passing(t).measured())
	p.createNodes(t, "node", 50)
	p.createPods(t, 200)
	p.schedules(t, "before")
	grown, sent := p.peak(t), 0
	slow := &http.Client{Transport: &http.Transport{DialContext: dialSmall, DisableKeepAlives: true}}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, o := range p.operations(t) {
		if o.method != http.MethodGet {
			continue
		}
		for range clients {
			sent++
			go func() {
				r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+o.path, nil)
				if err != nil {
					return
				}
				if response, err := slow.Do(r); err == nil {
					<-ctx.Done() // it reads nothing
					response.Body.Close()
				}
			}()
		}
	}
	p.schedules(t, "beside-them")
	begin := time.Now()
	if a, err := p.request(http.MethodGet, "/api/v1/status", nil, nil); err != nil || a.status != http.StatusOK || time.Since(begin) > 5*time.Second {
		t.Errorf("the status took %s: %d %v", time.Since(begin), a.status, err)
	}
	t.Logf("%d clients; the program grew by at most %d MB", sent, grown()>>20)
	if got := grown(); got > bombMemory {
		t.Errorf("the program grew by %d MB", got>>20)
	}
	if sent < 40*clients {
		t.Errorf("only %d requests were sent", sent)
	}
	p.stopsInTime(t, syscall.SIGTERM)
}

// TestKillsInUndo: after a kill within an undo, the program starts with whatever the undo had made, says nothing, and goes on.
func TestKillsInUndo(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	random := rand.New(rand.NewPCG(1, 1))
	const objects, kills = 60, 6
	for range kills {
		p := start(t, h)
		for j := range objects { // some may be left of an undo that was killed
			_, err := p.client.CoreV1().Pods(namespace).Create(t.Context(), newPod(fmt.Sprint("pod-", j)), metav1.CreateOptions{})
			if err != nil && !apierrors.IsAlreadyExists(err) {
				t.Fatal(err)
			}
		}
		if err := p.client.CoreV1().Pods(namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		var undo struct {
			Step *struct{ Moment uint64 }
		}
		eventually(t, "there is something to undo", func() error {
			err := p.get("/api/v1/undo", &undo)
			if err == nil && undo.Step == nil {
				err = errors.New("there is not")
			}
			return err
		})
		body, err := json.Marshal(map[string]uint64{"moment": undo.Step.Moment})
		if err != nil {
			t.Fatal(err)
		}
		killWhile(t, p, upTo(random, 300*time.Millisecond), func(ctx context.Context) error {
			_, _ = p.request(http.MethodPost, "/api/v1/undo", bytes.NewReader(body), func(r *http.Request) {
				r.Header.Set("Content-Type", "application/json")
			}) // it may be killed
			return nil
		})
		checkStderr(t, p)
	}
	p := start(t, h)
	p.createNodes(t, "node", 1)
	p.schedules(t, "after-the-kills")
	p.stop(t)
	checkStderr(t, p)
	checkNothingHalf(t, h)
}

// TestKillsWhileBranching: after a kill while a branch is made, the branch is whole, or says that it is not, and can be deleted.
func TestKillsWhileBranching(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	random := rand.New(rand.NewPCG(1, 2))
	const kills = 6
	for i := range kills {
		p := start(t, h)
		if i == 0 {
			p.createNodes(t, "node", 20)
			p.createPods(t, 50)
		}
		killWhile(t, p, upTo(random, 2*time.Second), func(context.Context) error {
			_, _ = p.request(http.MethodPost, "/api/v1/branches", strings.NewReader(fmt.Sprintf(`{"name":"b%d"}`, i)), func(r *http.Request) {
				r.Header.Set("Content-Type", "application/json")
			}) // it may be killed
			return nil
		})
		awaitNoProcess(t, h, fmt.Sprint("b", i))
		checkStderr(t, p)
	}
	p := start(t, h)
	var list struct{ Items []branch.Branch }
	p.branches(t, http.MethodGet, "", "", &list)
	t.Logf("%d of %d branches are left: %+v", len(list.Items), kills, list.Items)
	for _, b := range list.Items {
		if b.State == branch.Stopped {
			p.branches(t, http.MethodPost, "/"+b.Name+"/start", "", &branch.Branch{})
			client := clientOf(t, p.awaitBranch(t, b.Name, branch.Running).Kubeconfig)
			if nodes, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{}); err != nil || len(nodes.Items) != 20 {
				t.Errorf("%s has %d nodes: %v", b.Name, len(nodes.Items), err)
			}
		} else if b.Message == "" {
			t.Errorf("%s is %s and does not say why", b.Name, b.State)
		}
		if got := p.branches(t, http.MethodDelete, "/"+b.Name, "", nil); got != http.StatusNoContent {
			t.Errorf("deleting %s: %d", b.Name, got)
		}
	}
	p.stop(t)
	if left, err := os.ReadDir(filepath.Join(h.data, "branches")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// TestASweepInAFullCluster: beside pods that take everything, a sweep says what it waits for, ends when told, and can be abandoned.
func TestASweepInAFullCluster(t *testing.T) {
	clustertest.Slow(t)
	cluster := sweepCluster(t, "sweeps")
	cluster.createNodes(t, "full", 1)
	hog := newPod("hog")
	hog.Namespace = "default"
	hog.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("32")}
	if _, err := cluster.client.CoreV1().Pods("default").Create(t.Context(), hog, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	sweep := inCluster(t, sweepUser(t, cluster, "sweeps"), "sweeps")
	var said lockedBuffer
	command := exec.CommandContext(t.Context(), clustertest.Program(), sweep.args...)
	command.Stderr = &said
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- command.Wait() }()
	eventually(t, "it says what it waits for", func() error {
		if text := said.String(); !strings.Contains(text, "has no node") || !strings.Contains(text, "Insufficient cpu") {
			return fmt.Errorf("it says %q", text)
		}
		return nil
	})
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-exited:
	case <-time.After(10 * time.Second):
		t.Error("it does not end")
	}
	if _, said, code := sweep.run(t, "--abandon"); code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	jobs, err := cluster.client.BatchV1().Jobs("sweeps").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(jobs.Items) != 0 || len(configMaps(t, cluster, "sweeps", "")) != 0 {
		t.Errorf("%v, %d Jobs are left", err, len(jobs.Items))
	}
}
