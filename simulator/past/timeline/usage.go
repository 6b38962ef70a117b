package timeline

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	resourcehelper "k8s.io/component-helpers/resource"

	"kube-scheduler-simulator/scheduler/podrequest"
	"kube-scheduler-simulator/simulator/past/replay"
)

// Usage is how the room of the cluster was used at a time.
type Usage struct {
	// Point has the moment, and the time that the sample is for.
	Point
	// Pending pods have no node and have not finished.
	Pending int `json:"pending"`
	// Resources are those that nodes offer, other than pods.
	Resources map[string]ResourceUsage `json:"resources"`
	// Fragmentation is the share of free CPU on nodes that lack room for a large pod, as
	// podrequest.Fragmentation defines it; nil where it is not defined.
	Fragmentation *float64 `json:"fragmentation,omitempty"`
}

// ResourceUsage is in cores of CPU, bytes, or a number.
type ResourceUsage struct {
	// Requested is what pods on nodes that have not finished request.
	Requested   float64 `json:"requested"`
	Allocatable float64 `json:"allocatable"`
}

const (
	DefaultSamples = 60
	MaxSamples     = 200
	// keptSamples bounds the samples that stay in memory.
	keptSamples = 2000
)

// usage remembers what it has read, for queries of growing or nearly the same parts. Guarded by
// measuring of the time line.
type usage struct {
	// of is what the moments are of; nil for the journal.
	of      *replay.Recording
	samples map[uint64]Usage
	// objects are the nodes and pods of the latest moment that was read.
	objects map[string]used
}

type used struct {
	// stored is the object in the snapshot.
	stored []byte
	isNode bool
	// node is the name of the node, or of the pod's.
	node string
	// amounts are what a node offers, or a pod requests.
	amounts  map[string]float64
	finished bool
}

// Usage implements server.Timeline. It has about q.Buckets samples, oldest first: at round
// times, so that repeated queries are about the same ones, and at both ends.
func (t *Timeline) Usage(ctx context.Context, q Query) ([]Usage, error) {
	p, err := t.past(ctx)
	if err != nil {
		return nil, err
	}
	line := p.line()
	from, to, err := q.part(line)
	if err != nil || from.IsZero() {
		return []Usage{}, err
	}
	// Nothing is known of what was before.
	if from.Before(*line.Start) {
		from = *line.Start
	}
	t.measuring.Lock()
	defer t.measuring.Unlock()
	var of *replay.Recording
	if other, ok := p.(*recordedOther); ok {
		of = other.x.recording
	}
	u := t.usage
	if u == nil || u.of != of || len(u.samples) > keptSamples {
		u = &usage{of: of, samples: map[uint64]Usage{}}
	}
	all := []Usage{}
	for _, at := range sampleTimes(from, to, cmp.Or(q.Buckets, DefaultSamples)) {
		sample, err := u.at(ctx, p, at)
		if err != nil {
			return nil, err
		}
		all = append(all, sample)
	}
	t.usage = u
	t.opts.Clock.AfterFunc(latestTime, func() {
		t.measuring.Lock()
		defer t.measuring.Unlock()
		if t.usage == u {
			t.usage = nil
		}
	})
	return all, nil
}

// roundSteps are times between two samples; longer ones are whole days.
var roundSteps = []time.Duration{
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond,
	time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, day,
}

const day = 24 * time.Hour

// sampleTimes returns the two ends, and between them at most n multiples of a round step.
func sampleTimes(from, to time.Time, n int) []time.Time {
	wanted := to.Sub(from) / time.Duration(n)
	step := (wanted + day - 1).Truncate(day)
	if i := slices.IndexFunc(roundSteps, func(s time.Duration) bool { return s >= wanted }); i >= 0 {
		step = roundSteps[i]
	}
	times := []time.Time{from}
	for at := from.Truncate(step).Add(step); at.Before(to); at = at.Add(step) {
		times = append(times, at)
	}
	return append(times, to)
}

func (u *usage) at(ctx context.Context, p past, at time.Time) (Usage, error) {
	point, err := p.at(ctx, At{Time: at})
	if err != nil {
		return Usage{}, err
	}
	sample, known := u.samples[point.Moment]
	if !known {
		s, err := p.state(ctx, point.Moment)
		if err != nil {
			return Usage{}, err
		}
		if err := u.read(ctx, s); err != nil {
			return Usage{}, err
		}
		sample = u.measure()
		sample.Moment = point.Moment
		u.samples[point.Moment] = sample
	}
	sample.Time = at
	return sample, nil
}

// read decodes the nodes and pods that are not those of the moment before.
func (u *usage) read(ctx context.Context, s *snapshot) error {
	now := make(map[string]used, len(u.objects))
	for key, data := range s.objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		isNode := strings.HasPrefix(key, nodePrefix)
		if !isNode && !strings.HasPrefix(key, podPrefix) {
			continue
		}
		object, known := u.objects[key]
		if !known || !bytes.Equal(object.stored, data) {
			var err error
			if object, err = s.usedBy(key, isNode); err != nil {
				return err
			}
		}
		now[key] = object
	}
	u.objects = now
	return nil
}

func (s *snapshot) usedBy(key string, isNode bool) (used, error) {
	out := used{stored: s.objects[key], isNode: isNode}
	if isNode {
		node := &v1.Node{}
		if err := s.into(key, node); err != nil {
			return used{}, err
		}
		out.node, out.amounts = node.Name, podrequest.Amounts(node.Status.Allocatable)
		return out, nil
	}
	pod := &v1.Pod{}
	if err := s.into(key, pod); err != nil {
		return used{}, err
	}
	out.node, out.finished = pod.Spec.NodeName, pod.Status.Phase == v1.PodSucceeded || pod.Status.Phase == v1.PodFailed
	out.amounts = podrequest.Amounts(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{UseStatusResources: true}))
	return out, nil
}

// into decodes an object of a kind of Kubernetes' own.
func (s *snapshot) into(key string, object runtime.Object) error {
	data := s.objects[key]
	if bytes.HasPrefix(data, protobufPrefix) {
		if _, _, err := storedDecoder.Decode(data, nil, object); err != nil {
			return fmt.Errorf("%w: %w", errStored, err)
		}
		return nil
	}
	u, err := s.decode(key, data)
	if err != nil {
		return err
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return fmt.Errorf("%w: %w", errStored, err)
	}
	return nil
}

func (u *usage) measure() Usage {
	out := Usage{Resources: map[string]ResourceUsage{}}
	free := map[string]map[string]float64{}
	for _, o := range u.objects {
		if !o.isNode {
			continue
		}
		left := map[string]float64{}
		for name, amount := range o.amounts {
			left[name] = amount
			if amount > 0 && name != string(v1.ResourcePods) {
				sum := out.Resources[name]
				sum.Allocatable += amount
				out.Resources[name] = sum
			}
		}
		free[o.node] = left
	}
	var requests []map[string]float64
	for _, o := range u.objects {
		if o.isNode || o.finished {
			continue
		}
		requests = append(requests, o.amounts)
		left, placed := free[o.node]
		if o.node == "" {
			out.Pending++
		}
		if !placed {
			continue
		}
		for name, amount := range o.amounts {
			left[name] -= amount
			if sum, offered := out.Resources[name]; offered {
				sum.Requested += amount
				out.Resources[name] = sum
			}
		}
	}
	rooms := make([]map[string]float64, 0, len(free))
	for _, left := range free {
		rooms = append(rooms, left)
	}
	out.Fragmentation = podrequest.Fragmentation(rooms, requests)
	return out
}
