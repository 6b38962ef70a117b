package upgrade

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kube-scheduler-simulator/scheduler/versions"
	"kube-scheduler-simulator/scheduler/versions/wire"
)

// gatesOf returns the gates of the newer version that are on or off otherwise than in the older one, and may be changed, with the older version's
// value. A gate that the older version does not know is off there.
func gatesOf(from, to *wire.Started) map[string]bool {
	on := map[string]bool{}
	for _, g := range from.Gates {
		on[g.Name] = g.On
	}
	out := map[string]bool{}
	for _, g := range to.Gates {
		if on[g.Name] != g.On && !g.Locked && !strings.HasPrefix(g.Name, "All") {
			out[g.Name] = on[g.Name]
		}
	}
	return out
}

// nameGates finds the gates behind each cause: it decides the examples again with some gates as in the older version. If the decision becomes
// the older one's with all of them, it halves the set as long as one half does.
func (c *comparison) nameGates(ctx context.Context, source Source) error {
	asked := make([]*Cause, len(c.report.Causes))
	for i := range asked {
		asked[i] = &c.report.Causes[i]
	}
	slices.SortStableFunc(asked, func(a, b *Cause) int { return b.Pods - a.Pods })
	for i, cause := range asked {
		if i >= MaxAsked {
			cause.GatesNotAsked = true
			continue
		}
		if c.options.Progress != nil {
			c.options.Progress(Progress{Decided: len(c.placed) + c.report.OtherSchedulers, Explained: i, Causes: min(len(asked), MaxAsked)})
		}
		gates := slices.Sorted(maps.Keys(c.gates))
		explained, err := c.becomes(ctx, source, cause, gates)
		if err != nil {
			return err
		}
		for explained && len(gates) > 1 {
			half, found := gates[:len(gates)/2], false
			for _, half := range [][]string{half, gates[len(half):]} {
				if found, err = c.becomes(ctx, source, cause, half); err != nil {
					return err
				}
				if found {
					gates = half
					break
				}
			}
			if !found {
				break // it takes gates of both halves
			}
		}
		if explained {
			cause.Gates = gates
		}
	}
	return nil
}

// closed returns gates with the older version's values, and switches off what requires one that is off. Without that, the newer version would
// refuse the set.
func (c *comparison) closed(gates []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range gates {
		set[name] = c.gates[name]
	}
	for grown := true; grown; {
		grown = false
		for name, required := range c.requires {
			if _, known := set[name]; !known && slices.ContainsFunc(required, func(r string) bool { on, known := set[r]; return known && !on }) {
				set[name], grown = false, true
			}
		}
	}
	return set
}

var errEnough = errors.New("the example is decided")

// becomes reports whether the newer version decides a cause's example as the older one, with some gates as the older one has them.
func (c *comparison) becomes(ctx context.Context, source Source, cause *Cause, gates []string) (bool, error) {
	if len(gates) == 0 {
		return false, nil
	}
	v, err := c.newer(ctx, c.closed(gates))
	if refused := (*versions.RefusedError)(nil); errors.As(err, &refused) {
		return false, nil // gates depend on each other
	}
	if err != nil {
		return false, err
	}
	defer v.Close()
	at, became := 0, false
	err = source(ctx, func(s Step) error {
		if s.Decide == nil {
			return apply(v, s)
		}
		if at < cause.Example.At {
			at++
			return place(v, s.Decide, c.placed[at-1])
		}
		d, err := v.Decide(wire.Decide{Pod: s.Decide, Full: true, Every: true})
		if err != nil {
			return err
		}
		became = classOf(cause.Example.Before, d) == Same
		return errEnough
	})
	if !errors.Is(err, errEnough) {
		if err == nil {
			err = errors.New("the source has other steps than before")
		}
		return false, c.ended(ctx, err)
	}
	return became, nil
}

// place puts a pod on a node, if there is one.
func place(v *versions.Scheduler, pod []byte, node string) error {
	if node == "" {
		return nil
	}
	var p struct {
		Spec struct {
			Volumes, ResourceClaims []json.RawMessage
		}
	}
	if err := json.Unmarshal(pod, &p); err != nil {
		return fmt.Errorf("reading a pod: %w", err)
	}
	placed := wire.Place{Node: node}
	if len(p.Spec.Volumes)+len(p.Spec.ResourceClaims) == 0 {
		placed.Pod = pod
	} else if _, err := v.Decide(wire.Decide{Pod: pod}); err != nil { // what Reserve hands out, a decision has found
		return err
	}
	_, err := v.Place(placed)
	return err
}
