package scenario

import (
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"kube-scheduler-simulator/scheduler/yamlsource"
	"kube-scheduler-simulator/simulator/scenarios/decoder"
)

// Files are the bounds of the files of a scenario together, far above what people write.
var Files = yamlsource.Bounds{Written: 64 << 20, Values: 4_000_000, Size: 64 << 20, Depth: 250, Path: 4 << 10}

// Duration is a length of time, such as 90s, 5m or 1h30m.
type Duration struct{ time.Duration }

func (v *Duration) Decode(d *decoder.Decoder, n *yaml.Node, at string) {
	parsed, err := time.ParseDuration(n.Value)
	switch {
	case n.Kind != yaml.ScalarNode || err != nil:
		d.WrongType(n, at, reflect.TypeFor[Duration]())
	case parsed <= 0:
		d.Add(n, at, "want a duration of more than 0, not %s", n.Value)
	case parsed > maxDuration:
		d.Add(n, at, "want at most %s, not %s", maxDuration, n.Value)
	}
	v.Duration = parsed
}

// openb's trace spans half of it.
const maxDuration = 365 * 24 * time.Hour
