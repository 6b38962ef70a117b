package judge

import (
	_ "embed"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

//go:embed writes.yaml
var writesFile []byte

// content is what a write merges into an object.
type content struct {
	Labels, Annotations, Template map[string]any
	With                          map[string]any
}

func (c content) merged() map[string]any {
	out := map[string]any{}
	merge(out, c.With)
	for path, values := range map[string]map[string]any{"labels": c.Labels, "annotations": c.Annotations} {
		for key, value := range values {
			merge(out, map[string]any{"metadata": map[string]any{path: map[string]any{"kueue.x-k8s.io/" + key: value}}})
		}
	}
	for key, value := range c.Template {
		merge(out, map[string]any{"spec": map[string]any{"template": map[string]any{"metadata": map[string]any{"annotations": map[string]any{"kueue.x-k8s.io/" + key: value}}}}})
	}
	return out
}

type write struct {
	Name, Kind string
	content
	Then  *content
	Drift string
}

// TestWrites: both Kueues accept and refuse the same writes.
func TestWrites(t *testing.T) {
	var file struct {
		Bases  map[string]map[string]any
		Writes []write
	}
	if err := yaml.UnmarshalStrict(writesFile, &file); err != nil {
		t.Fatal(err)
	}
	ctx, c := inCourt(t)
	places := []place{{cluster: c.original, mark: "writes"}, {cluster: c.own, mark: "writes"}}
	for _, p := range places {
		if err := p.set(ctx, &scenario{}); err != nil {
			t.Fatal(err)
		}
	}
	refused, drifted := 0, 0
	for i, w := range file.Writes {
		var answers [2]error
		for n, p := range places {
			name := fmt.Sprint("x", i)
			o := object(w.Kind, "@"+name, file.Bases[w.Kind], w.merged())
			answers[n] = p.client.Create(ctx, p.filled(o))
			if w.Then != nil && answers[n] != nil {
				t.Errorf("%s: %s refuses what comes before: %v", w.Name, p.name, answers[n])
			} else if w.Then != nil {
				answers[n] = p.take(ctx, step{Patch: &patch{w.Kind + "/@" + name, w.Then.merged()}})
			}
			if status := apierrors.APIStatus(nil); answers[n] != nil && !errors.As(answers[n], &status) {
				t.Fatal(answers[n])
			}
			_ = p.client.Delete(ctx, p.filled(object(w.Kind, "@"+name))) // a finalizer may keep it
		}
		if answers[0] != nil {
			refused++
		}
		switch same := (answers[0] == nil) == (answers[1] == nil); {
		case same && w.Drift != "":
			t.Errorf("%s: both Kueues do the same by now, so this is no drift: %v", w.Name, answers[0])
		case !same && w.Drift == "":
			t.Errorf("%s: Kueue says %v, the simulator %v", w.Name, answers[0], answers[1])
		case !same:
			drifted++
		}
	}
	t.Logf("%d writes, of which Kueue refuses %d; %d differ between versions", len(file.Writes), refused, drifted)
}
