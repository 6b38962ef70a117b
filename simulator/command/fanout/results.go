package fanout

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/retry"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// maxPart is how many compressed bytes of outcomes one ConfigMap holds.
const maxPart = 768 << 10

// resultsKey is the key of the outcomes in their ConfigMap: JSON lines, compressed with gzip.
const resultsKey = "runs.gz"

func encodeOutcomes(outcomes []scenario.RunOutcome) ([]byte, error) {
	var b bytes.Buffer
	compressed := gzip.NewWriter(&b)
	lines := json.NewEncoder(compressed)
	for _, o := range outcomes {
		if err := lines.Encode(o); err != nil {
			return nil, fmt.Errorf("encoding the outcome of a run: %w", err)
		}
	}
	if err := compressed.Close(); err != nil {
		return nil, fmt.Errorf("encoding the outcome of a run: %w", err)
	}
	return b.Bytes(), nil
}

func decodeOutcomes(c *v1.ConfigMap) ([]scenario.RunOutcome, error) {
	compressed, err := gzip.NewReader(bytes.NewReader(c.BinaryData[resultsKey]))
	if err != nil {
		return nil, fmt.Errorf("the ConfigMap %s/%s holds no outcomes: %w", c.Namespace, c.Name, err)
	}
	lines := json.NewDecoder(bufio.NewReader(io.LimitReader(compressed, maxUnpacked)))
	var out []scenario.RunOutcome
	for {
		var o scenario.RunOutcome
		err := lines.Decode(&o)
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("the ConfigMap %s/%s holds no outcomes: %w", c.Namespace, c.Name, err)
		}
		out = append(out, o)
	}
}

// results are the outcomes of a share, in ConfigMaps that the Job owns. Each save replaces the last one, and begins another one when
// that is full. Use it from one goroutine at a time.
type results struct {
	configMaps typedv1.ConfigMapInterface
	job        owner
	index      int

	// parts is how many ConfigMaps there are. last is the last of them, and inLast are its outcomes.
	parts  int
	last   *v1.ConfigMap
	inLast []scenario.RunOutcome
	kept   map[runID]bool
}

type runID struct {
	point int
	seed  int64
}

func idOf(o scenario.RunOutcome) runID { return runID{o.Point, o.Seed} }

func resultName(job string, index, part int) string {
	return fmt.Sprintf("%s-result-%d-%d", job, index, part)
}

// load reads what pods of this share have kept before. What a Job of the same name has left behind is removed.
func (r *results) load(ctx context.Context) error {
	r.parts, r.last, r.inLast, r.kept = 0, nil, nil, map[runID]bool{}
	for {
		name := resultName(r.job.Name, r.index, r.parts)
		found, err := r.configMaps.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the outcomes in the ConfigMap %s: %w", name, err)
		}
		if !r.job.owns(found) {
			if err := r.configMaps.Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(found.UID))}); err != nil && !apierrors.IsNotFound(err) {
				return fmt.Errorf("removing the ConfigMap %s of an earlier Job: %w", name, err)
			}
			continue
		}
		outcomes, err := decodeOutcomes(found)
		if err != nil {
			return err
		}
		for _, o := range outcomes {
			r.kept[idOf(o)] = true
		}
		r.parts++
		r.last, r.inLast = found, outcomes
	}
}

// saving is how a save is tried again: for about two minutes, while the API server cannot be reached or another pod of the share has
// written.
var saving = wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.2, Steps: 12, Cap: 30 * time.Second}

// save keeps further outcomes. Those that are kept already change nothing.
func (r *results) save(ctx context.Context, further []scenario.RunOutcome) error {
	err := retry.OnError(saving, func(err error) bool { return ctx.Err() == nil && isTransient(err) || isOthers(err) }, func() error {
		err := r.trySave(ctx, further)
		if isOthers(err) {
			return errors.Join(r.load(ctx), err)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("keeping the outcomes of share %d: %w", r.index, err)
	}
	return nil
}

// isOthers reports whether another pod of the same share has written in between.
func isOthers(err error) bool { return apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) }

func (r *results) trySave(ctx context.Context, further []scenario.RunOutcome) error {
	var fresh []scenario.RunOutcome
	for _, o := range further {
		if !r.kept[idOf(o)] {
			fresh = append(fresh, o)
		}
	}
	if len(fresh) == 0 && r.last != nil {
		return nil
	}
	data, err := encodeOutcomes(append(r.inLast[:len(r.inLast):len(r.inLast)], fresh...))
	if err != nil {
		return err
	}
	switch {
	case len(data) <= maxPart:
		return r.put(ctx, data, fresh)
	case len(r.inLast) > 0:
		r.last, r.inLast = nil, nil
		return r.trySave(ctx, fresh)
	case len(fresh) == 1:
		return fmt.Errorf("the outcome of point %d, seed %d takes %d KiB when compressed, more than a ConfigMap holds; keep less of each run with keep: values", fresh[0].Point, fresh[0].Seed, len(data)>>10)
	}
	half := len(fresh) / 2
	if err := r.trySave(ctx, fresh[:half]); err != nil {
		return err
	}
	return r.trySave(ctx, fresh[half:])
}

// put writes the last ConfigMap, or a new one if it is nil.
func (r *results) put(ctx context.Context, data []byte, fresh []scenario.RunOutcome) error {
	count := strconv.Itoa(len(r.inLast) + len(fresh))
	var written *v1.ConfigMap
	var err error
	if r.last == nil {
		c := &v1.ConfigMap{ObjectMeta: r.job.owned(resultName(r.job.Name, r.index, r.parts), componentResult), BinaryData: map[string][]byte{resultsKey: data}}
		c.Annotations = map[string]string{annotationIndex: strconv.Itoa(r.index), annotationRuns: count}
		if written, err = r.configMaps.Create(ctx, c, metav1.CreateOptions{}); err == nil {
			r.parts++
		}
	} else {
		c := r.last.DeepCopy()
		c.BinaryData = map[string][]byte{resultsKey: data}
		c.Annotations[annotationRuns] = count
		written, err = r.configMaps.Update(ctx, c, metav1.UpdateOptions{})
	}
	if err != nil {
		return err
	}
	r.last, r.inLast = written, append(r.inLast, fresh...)
	for _, o := range fresh {
		r.kept[idOf(o)] = true
	}
	return nil
}
