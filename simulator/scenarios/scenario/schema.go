package scenario

import _ "embed"

// The JSON Schemas of both kinds of files, which editors read. "go test -update" writes them.
var (
	//go:embed scenario.schema.json
	ScenarioSchema []byte
	//go:embed sweep.schema.json
	SweepSchema []byte
)
