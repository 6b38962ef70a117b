package timeline

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

const (
	// maxListed bounds each list of a Difference, and maxFields the fields of an object.
	maxListed = 2000
	maxFields = 50
)

// Difference implements server.Timeline.
func (t *Timeline) Difference(ctx context.Context, from, to At) (*Difference, error) {
	p, a, err := t.snapshot(ctx, from)
	if err != nil {
		return nil, err
	}
	_, b, err := t.snapshot(ctx, to)
	if err != nil {
		return nil, err
	}
	d := &Difference{From: a.Point, To: b.Point, Created: []ObjectRef{}, Deleted: []ObjectRef{}, Changed: []ObjectChange{}, Bound: []Placement{}, Source: p.line().Source}
	if err := d.objects(ctx, a, b); err != nil {
		return nil, err
	}
	if d.Configuration, err = configurationChange(p.configuration(a), p.configuration(b)); err != nil {
		return nil, err
	}
	earlier, later := a.Time, b.Time
	if later.Before(earlier) {
		earlier, later = later, earlier
	}
	d.Decisions = p.decisions(earlier, later)
	return d, nil
}

func (d *Difference) objects(ctx context.Context, a, b *snapshot) error {
	keys := slices.Collect(maps.Keys(b.objects))
	for key := range a.objects {
		if _, both := b.objects[key]; !both {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		before, wasThere := a.objects[key]
		after, isThere := b.objects[key]
		if wasThere && isThere && bytes.Equal(before, after) {
			continue
		}
		if err := d.object(a, b, key, wasThere, isThere); err != nil {
			return err
		}
	}
	return nil
}

// An object exists in one of the snapshots, or differs.
func (d *Difference) object(a, b *snapshot, key string, wasThere, isThere bool) (err error) {
	var old, now *unstructured.Unstructured
	if wasThere {
		if old, err = a.decode(key, a.objects[key]); err != nil {
			return err
		}
	}
	if isThere {
		if now, err = b.decode(key, b.objects[key]); err != nil {
			return err
		}
	}
	ref := refTo(cmp.Or(now, old))
	if from, to := nodeOf(old), nodeOf(now); from != to {
		d.Bound = appendBounded(d.Bound, Placement{Pod: ref, From: from, To: to}, &d.Truncated)
	}
	switch {
	case !wasThere:
		d.Created = appendBounded(d.Created, ref, &d.Truncated)
	case !isThere:
		d.Deleted = appendBounded(d.Deleted, ref, &d.Truncated)
	case old.GetUID() != now.GetUID():
		d.Deleted = appendBounded(d.Deleted, ref, &d.Truncated)
		d.Created = appendBounded(d.Created, ref, &d.Truncated)
	default:
		fields := fieldChanges(nil, "", old.Object, now.Object)
		fields = slices.DeleteFunc(fields, func(f FieldChange) bool { return nodeOf(now) != nodeOf(old) && f.Path == "spec.nodeName" })
		if len(fields) > maxFields {
			fields, d.Truncated = fields[:maxFields], true
		}
		if len(fields) > 0 {
			d.Changed = appendBounded(d.Changed, ObjectChange{Object: ref, Fields: fields}, &d.Truncated)
		}
	}
	return nil
}

func appendBounded[T any](list []T, one T, truncated *bool) []T {
	if len(list) == maxListed {
		*truncated = true
		return list
	}
	return append(list, one)
}

// fieldChanges appends the fields in which two JSON values differ, in order.
func fieldChanges(found []FieldChange, path string, from, to any) []FieldChange {
	if len(found) > maxFields || reflect.DeepEqual(from, to) {
		return found
	}
	switch before := from.(type) {
	case map[string]any:
		after, both := to.(map[string]any)
		if !both {
			break
		}
		names := slices.Collect(maps.Keys(before))
		for name := range after {
			if _, had := before[name]; !had {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			found = fieldChanges(found, inner, before[name], after[name])
		}
		return found
	case []any:
		after, both := to.([]any)
		if !both || len(before) != len(after) {
			break
		}
		for i := range before {
			found = fieldChanges(found, fmt.Sprintf("%s[%d]", path, i), before[i], after[i])
		}
		return found
	}
	return append(found, FieldChange{Path: path, From: from, To: to})
}

// configurationChange returns nil when the configuration is the same, or unknown.
func configurationChange(from, to *MomentConfiguration) (*ConfigurationChange, error) {
	if from == nil || to == nil || *from == *to {
		return nil, nil
	}
	before, err := document(from)
	if err != nil {
		return nil, err
	}
	after, err := document(to)
	if err != nil {
		return nil, err
	}
	fields := fieldChanges([]FieldChange{}, "", before, after)
	return &ConfigurationChange{From: from.Revision, To: to.Revision, Fields: fields[:min(len(fields), maxFields)]}, nil
}

func document(c *MomentConfiguration) (any, error) {
	data, wrong := yamlsource.JSON([]byte(c.Document))
	if wrong != nil {
		return nil, fmt.Errorf("reading a scheduler configuration: %w", wrong)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("reading a scheduler configuration: %w", err)
	}
	return v, nil
}
