package mirror

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Status returns the state of the mirror. It may be called from any goroutine.
func (s *Sync) Status() Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Status{
		Source: s.opts.Source.Name(), State: s.state, Message: s.message,
		LastChange: s.lastChange.UTC().Truncate(time.Second), First: s.first,
	}
	for _, k := range s.kinds {
		out.Objects += k.count()
		for _, f := range k.followers {
			out.Total += f.condition().objects
		}
	}
	if s.first {
		out.Done = min(s.finished, out.Total)
	} else {
		out.Total = 0
	}
	if remarks := s.remarks(); remarks != "" || !s.first {
		out.Message = remarks
	}
	return out
}

func (s *Sync) judge() {
	s.mu.Lock()
	before := s.state
	down := s.silent()
	switch {
	case s.first && len(down) == 0, len(s.kinds) == 0:
		s.state = Connecting
	case len(down) > 0:
		s.state = Stale
	default:
		s.state = Live
	}
	after := s.state
	s.mu.Unlock()
	if before != after {
		s.opts.Logger.Info("State of the connection with the source", "source", s.opts.Source.Name(), "state", after)
		s.opts.Changed()
	}
}

// silent returns why streams receive nothing, by stream.
func (s *Sync) silent() map[string]string {
	down := map[string]string{}
	for _, k := range s.kinds {
		for _, f := range k.followers {
			if c := f.condition(); c.down != "" {
				down[f.stream.name()] = c.down
			}
		}
	}
	return down
}

// remarks are what users should know of a running mirror.
func (s *Sync) remarks() string {
	if down := s.silent(); len(down) > 0 {
		first := slices.Min(slices.Collect(maps.Keys(down)))
		return fmt.Sprintf("the source does not answer; its changes will be copied when it does: %s: %s", first, down[first])
	}
	var refused []string
	for _, k := range s.kinds {
		for _, f := range k.followers {
			if f.condition().refused != "" {
				refused = append(refused, f.stream.name())
			}
		}
	}
	text := ""
	add := func(more string) {
		if text != "" {
			text += "; "
		}
		text += more
	}
	if len(refused) > 0 {
		add(fmt.Sprintf("the kubeconfig does not allow reading %v", refused))
	}
	for _, missed := range s.missed {
		add(missed)
	}
	if yielded := s.yielded(); yielded > 0 {
		add(fmt.Sprintf("%d objects of the source have the names of objects that were created here, and are not copied", yielded))
	}
	var failing []string
	for _, message := range s.trouble {
		failing = append(failing, message)
	}
	if len(failing) > 0 {
		add(fmt.Sprintf("%d objects could not be copied yet, such as: %s", len(failing), slices.Min(failing)))
	}
	return text
}

func (s *Sync) yielded() int {
	n := 0
	for _, k := range s.kinds {
		k.mu.Lock()
		for _, a := range k.applied {
			if a.yielded {
				n++
			}
		}
		k.mu.Unlock()
	}
	return n
}

func (k *following) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, a := range k.applied {
		if !a.yielded && !a.gone {
			n++
		}
	}
	return n
}

// say sets the message during the first round.
func (s *Sync) say(message string) {
	s.mu.Lock()
	s.message = message
	s.mu.Unlock()
	s.opts.Changed()
}
