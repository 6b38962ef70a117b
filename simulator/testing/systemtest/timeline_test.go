package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// exported are the items of an export, by kind and name.
type exported map[string]any

func (p *program) exported(t *testing.T, path string) exported {
	t.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := p.get(path, &list); err != nil {
		t.Fatal(err)
	}
	all := exported{}
	for _, item := range list.Items {
		metadata, _ := item["metadata"].(map[string]any)
		all[fmt.Sprintf("%v %v/%v", item["kind"], metadata["namespace"], metadata["name"])] = item
	}
	return all
}

// endMoment is the newest moment.
func (p *program) endMoment(t *testing.T) uint64 {
	t.Helper()
	var line struct{ EndMoment uint64 }
	if err := p.get("/api/v1/timeline", &line); err != nil {
		t.Fatal(err)
	}
	return line.EndMoment
}

// atRest returns a moment at which nothing happened for a while, and the cluster at it.
func (p *program) atRest(t *testing.T) (moment uint64, now exported) {
	t.Helper()
	eventually(t, "the cluster comes to rest", func() error {
		moment = p.endMoment(t)
		now = p.exported(t, "/api/v1/export")
		if again := p.endMoment(t); again != moment {
			return fmt.Errorf("moment %d follows %d", again, moment)
		}
		if diff := cmp.Diff(now, p.exported(t, fmt.Sprintf("/api/v1/timeline/moments/%d/objects", moment))); diff != "" {
			return fmt.Errorf("moment %d (-export +time line):\n%s", moment, diff)
		}
		return nil
	})
	return moment, now
}

// TestTimeline: the time line has what the API server had, also after a kill and beside a damaged file; and an undo takes
// back what kubectl would have done.
func TestTimeline(t *testing.T) {
	clustertest.Slow(t)
	h := newHome(t)
	p := start(t, h)
	ctx := context.Background()
	p.createNodes(t, "node", 3)
	p.schedules(t, "first")
	first, then := p.atRest(t)
	p.schedules(t, "second")
	second, _ := p.atRest(t)

	// Delete a pod, and take that back.
	if err := p.client.CoreV1().Pods("default").Delete(ctx, "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var undo struct {
		Step    *struct{ Moment uint64 }
		Created []struct{ Kind, Name string }
	}
	eventually(t, "the deletion can be taken back", func() error {
		if err := p.get("/api/v1/undo", &undo); err != nil {
			return err
		}
		if undo.Step == nil || len(undo.Created) != 1 || undo.Created[0].Name != "first" {
			return fmt.Errorf("undo would do %+v", undo)
		}
		return nil
	})
	post := func(moment uint64) answer {
		t.Helper()
		body, err := json.Marshal(map[string]uint64{"moment": moment})
		if err != nil {
			t.Fatal(err)
		}
		a, err := p.request(http.MethodPost, "/api/v1/undo", bytes.NewReader(body), func(r *http.Request) { r.Header.Set("Content-Type", "application/json") })
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := post(undo.Step.Moment - 1); a.status != http.StatusConflict {
		t.Errorf("another step: %d %s, want 409", a.status, a.body)
	}
	if a := post(undo.Step.Moment); a.status != http.StatusOK || strings.Contains(string(a.body), `"failed"`) {
		t.Errorf("undo: %d %s", a.status, a.body)
	}
	if got, err := p.client.CoreV1().Pods("default").Get(ctx, "first", metav1.GetOptions{}); err != nil || got.Spec.NodeName == "" {
		t.Errorf("the pod is not back on a node: %v, %v", got, err)
	}
	last, now := p.atRest(t)

	p.kill()
	p = start(t, h)
	for moment, want := range map[uint64]exported{first: then, last: now} {
		if diff := cmp.Diff(want, p.exported(t, fmt.Sprintf("/api/v1/timeline/moments/%d/objects", moment))); diff != "" {
			t.Errorf("moment %d after a kill (-before +after):\n%s", moment, diff)
		}
	}
	if second <= first || last <= second {
		t.Errorf("moments %d, %d, %d do not grow", first, second, last)
	}
	p.stop(t)
	checkStderr(t, p)

	// Damage the file.
	files, err := filepath.Glob(filepath.Join(h.data, "timeline", "*.timeline"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %q, %v; want one", files, err)
	}
	flip(filepath.Join("timeline", filepath.Base(files[0])), 200)(t, h.data)
	p = start(t, h)
	eventually(t, "a warning names the damaged file", func() error {
		if w := p.warnings(t); !strings.Contains(w, filepath.Base(files[0])+".corrupt-1") {
			return fmt.Errorf("warnings: %s", w)
		}
		return nil
	})
	if _, err := os.Stat(files[0] + ".corrupt-1"); errors.Is(err, os.ErrNotExist) {
		t.Error("the damaged file is not set aside")
	}
	p.schedules(t, "third")
	p.atRest(t)
}
