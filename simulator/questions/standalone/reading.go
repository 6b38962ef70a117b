package standalone

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/cluster/objects"
	"kube-scheduler-simulator/simulator/cluster/storedform"
	"kube-scheduler-simulator/simulator/elsewhere/mirror"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
	"kube-scheduler-simulator/simulator/past/replay"
)

type reading struct {
	objects []readObject
	// configuration is the scheduler configuration among them, in JSON; nil if there was none.
	configuration []byte
	// version is that of a recording's cluster, such as v1.35.4.
	version string
	// notes say what could not be read, or is left out.
	notes []string
	// unread are the kinds that could not be read.
	unread []mirror.Problem
	// workloads are the owners of pods that no scheduler reads.
	workloads workloads
	later     later
}

type readObject struct {
	gk   schema.GroupKind
	json []byte
	// source is where it was read, for messages.
	source string
	// stored: an API server has stored it like this, so it has defaults and was admitted.
	stored bool
	// order breaks ties among the objects of a kind.
	order int
}

// Objects are created in this order.
func (r *reading) sort() {
	slices.SortStableFunc(r.objects, func(a, b readObject) int {
		return cmp.Or(cmp.Compare(objects.RankOf(a.gk), objects.RankOf(b.gk)), cmp.Compare(a.order, b.order))
	})
}

func (r *reading) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// readFile reads a file, directory or archive, as an import does. name is that of a file for messages; empty for that of the path.
func readFile(ctx context.Context, path, name string) (*reading, error) {
	source, err := manifest.OpenSource(path)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	if name != "" {
		source = source.Named(name)
	}
	r := &reading{workloads: fromFile{}}
	err = manifest.Read(ctx, source, manifest.Content{
		Object: func(o *manifest.Object) error {
			if gk := o.GVK.GroupKind(); storedform.Reads(gk) {
				data, err := named(o)
				if err != nil {
					return err
				}
				r.objects = append(r.objects, readObject{gk: gk, json: data, source: o.Source, stored: isStored(data), order: o.Order})
			} else if kept, err := r.later.add(o); kept && gk != daemonSet || err != nil {
				return err
			} else if !o.Generated {
				r.workloads.(fromFile).add(o)
			}
			return nil
		},
		Configuration: func(_ string, document []byte) { r.configuration = document },
		Unreadable:    func(source, message string) { r.note("%s: %s", source, message) },
	})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", cmp.Or(name, path), err)
	}
	if len(r.objects) == 0 && len(r.notes) > 0 {
		return nil, fmt.Errorf("there is no object to read: %s", r.notes[0])
	}
	return r, r.completeClass()
}

// named makes up the name of an object that has only a generateName.
func named(o *manifest.Object) ([]byte, error) {
	if !o.Generated {
		return o.JSON, nil
	}
	u, err := o.Unstructured()
	if err != nil {
		return nil, err
	}
	u.SetName(fmt.Sprintf("%s%d", o.Name, o.Order))
	u.SetGenerateName("")
	return json.Marshal(u.Object)
}

// isStored reports whether an object has the UID that an API server gives it. Exports leave it out,
// and with it what admission has set.
func isStored(data []byte) bool {
	var head struct {
		Metadata struct {
			UID string `json:"uid"`
		} `json:"metadata"`
	}
	return json.Unmarshal(data, &head) == nil && head.Metadata.UID != ""
}

// readRecording reads the objects that existed at a moment of a recording; see Options.At.
func readRecording(ctx context.Context, path, moment string) (r *reading, at time.Time, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, at, err
	}
	defer file.Close()
	stat, err := file.Stat()
	if err != nil {
		return nil, at, err
	}
	recording, err := replay.Open(file, stat.Size())
	if err != nil {
		return nil, at, fmt.Errorf("%s: %w", path, err)
	}
	if at, err = momentOf(recording, moment); err != nil {
		return nil, at, fmt.Errorf("%s: %w", path, err)
	}
	skipped, err := recording.Read().Skip(ctx, at)
	if err != nil {
		return nil, at, fmt.Errorf("%s: %w", path, err)
	}
	if !skipped.Begun {
		return nil, at, fmt.Errorf("%s: the first list of all objects had not ended at %s; ask for a later time", path, at.Format(time.RFC3339))
	}
	r = &reading{version: recording.Header.SourceVersion}
	for i, there := range skipped.There {
		u := unstructured.Unstructured{Object: there.Object}
		u.SetGroupVersionKind(there.Kind.GVK())
		if err := r.add(&u, path, i); err != nil {
			return nil, at, err
		}
	}
	return r, at, nil
}

func momentOf(recording *replay.Recording, moment string) (time.Time, error) {
	start, end := recording.Header.Start, recording.End
	if moment == "" {
		return end, nil
	}
	at, err := time.Parse(time.RFC3339, moment)
	if since, isDuration := time.ParseDuration(moment); isDuration == nil {
		at, err = start.Add(since), nil
	}
	if err != nil {
		return at, fmt.Errorf("%q is neither a time such as %s nor a duration such as 5m", moment, start.UTC().Format(time.RFC3339))
	}
	// People write seconds, and recordings hold microseconds.
	if at.Before(start.Truncate(time.Second)) || at.After(end.Add(time.Second)) {
		return at, fmt.Errorf("it is from %s to %s and does not hold %s", start.UTC().Format(time.RFC3339), end.UTC().Format(time.RFC3339), moment)
	}
	return at, nil
}

func (r *reading) add(u *unstructured.Unstructured, source string, order int) error {
	if t := topicOf(u.GroupVersionKind().GroupKind()); t != "" {
		r.later.of(t).keep(u)
		return nil
	}
	data, err := json.Marshal(u.Object)
	if err != nil {
		return fmt.Errorf("encoding %s %s: %w", u.GetKind(), u.GetName(), err)
	}
	r.objects = append(r.objects, readObject{gk: u.GroupVersionKind().GroupKind(), json: data, source: source, stored: true, order: order})
	return nil
}

func readCluster(ctx context.Context, options mirror.SourceOptions, progress func(int)) (r *reading, name string, err error) {
	source, err := mirror.NewSource(options)
	if err != nil {
		return nil, "", err
	}
	r = &reading{}
	problems, err := source.ReadKinds(ctx, storedform.Kinds(), func(u *unstructured.Unstructured) error {
		if progress != nil {
			progress(len(r.objects))
		}
		return r.add(u, u.GetKind()+" "+u.GetName(), 0)
	})
	if err != nil {
		return nil, "", err
	}
	for _, p := range problems {
		if p.Kind == objects.Node || p.Kind == objects.Pod {
			return nil, "", fmt.Errorf("%s, and without them nobody can tell what fits", p)
		}
	}
	r.unread, r.workloads, r.later.source = problems, fromCluster{source}, source
	for _, p := range problems {
		r.note("%s", p)
	}
	return r, source.Name(), nil
}
