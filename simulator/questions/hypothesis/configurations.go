package hypothesis

import (
	"slices"
	"sync"

	"kube-scheduler-simulator/scheduler/config"
)

const (
	// configurations remembers that many.
	keptConfigurations = 8
	// maxKept bounds their documents, in bytes. Real ones are far smaller.
	maxKept = 64 << 10
)

// configurations reads configurations and remembers the last ones, because a client that compares
// asks with the same ones again and again.
type configurations struct {
	parse func(document []byte) (*config.Configuration, error)

	mu   sync.Mutex
	last []*config.Configuration // the latest first
}

func newConfigurations(parse func([]byte) (*config.Configuration, error)) *configurations {
	return &configurations{parse: parse}
}

// The error of get is that of parse.
func (c *configurations) get(d Document) (*config.Configuration, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.last, func(known *config.Configuration) bool { return string(known.YAML) == string(d) })
	if at >= 0 {
		known := c.last[at]
		c.last = slices.Insert(slices.Delete(c.last, at, at+1), 0, known)
		return known, nil
	}
	parsed, err := c.parse(d)
	if err != nil {
		return nil, err
	}
	if len(d) > maxKept {
		return parsed, nil
	}
	c.last = slices.Insert(c.last, 0, parsed)
	if len(c.last) > keptConfigurations {
		c.last = c.last[:keptConfigurations]
	}
	return parsed, nil
}
