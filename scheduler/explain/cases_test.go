package explain

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/scheduler/result"
)

var update = flag.Bool("update", false, "write testdata/cases.json from the cycles of the tests")

// sharedCase is an entry of testdata/cases.json. The web's test reads the same file
// and renders the same English from the data.
type sharedCase struct {
	Name        string      `json:"name"`
	Explanation Explanation `json:"explanation"`
}

const sharedCases = "testdata/cases.json"

// cycles returns the cycles from which the shared cases are generated.
func cycles() []spoken {
	manyTied := twelve()
	manyTied.Score.Totals = result.NewColumn([]int64{823, 823, 823, 823, 823, 823})
	seed := tie()
	seed.Facts = []result.Fact{{Plugin: result.TieSeed, Key: "tie broken by seed", Value: "node-b2 among 2 nodes with the same total, by seed 1"}}
	type devices = []result.DeviceComparison
	out := []spoken{
		{name: "best of several", cycle: *twelve()},
		{name: "tied", cycle: *tie()},
		{name: "tied with many", cycle: *manyTied},
		{name: "tied, by the seed", cycle: *seed},
		{name: "best, an extender ignored", cycle: *withExtenders()},
		{name: "devices allocated", cycle: *holdingDevices()},
		{name: "devices short on some nodes", cycle: *rejectedForDevices(devices{wants("one", 1, 0, 0)}, devices{wants("one", 1, 2, 2)}, devices{wants("one", 1, 4, 4)})},
		{name: "all devices of a class short", cycle: *rejectedForDevices(devices{wants("all", 0, 2, 1)})},
		{name: "devices blocked", cycle: *rejectedForDevices(devices{blocked("one", 1, 2)}, devices{wants("one", 1, 2, 2)})},
		{name: "devices not together", cycle: *rejectedForDevices(devices{wants("one", 1, 1, 0), wants("other", 1, 1, 0)})},
	}
	out = append(out, sentences()...)
	out = append(out, sentencesAboutExtenders()...)
	out = append(out, sentencesAboutUse()...)
	out = append(out, sentencesAboutPodGroups()...)
	out = append(out, sentencesAboutCoscheduling()...)
	out = append(out, sentencesAboutQuotas()...)
	return append(out, sentencesAboutAlignment()...)
}

// The data in the shared cases is generated from cycles. After an intended change,
// run with -update and review the difference.
func TestSharedCasesComeOutOfCycles(t *testing.T) {
	var cases []sharedCase
	for _, c := range cycles() {
		cases = append(cases, sharedCase{Name: c.name, Explanation: Cycle(&c.cycle)})
	}
	agreesWithFile(t, sharedCases, cases, "  ")
}

// agreesWithFile compares a value, as indented JSON, with a file. With -update it writes the file.
func agreesWithFile(t *testing.T, path string, value any, indent string) {
	t.Helper()
	var got bytes.Buffer
	encoder := json.NewEncoder(&got)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	if err := encoder.Encode(value); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Error(diff)
	}
}

// Sentences are rendered from the data that the API sends, and every kind has a
// case.
func TestSharedCasesRenderFromTheData(t *testing.T) {
	document, err := os.ReadFile(sharedCases)
	if err != nil {
		t.Fatal(err)
	}
	var cases []sharedCase
	if err := json.Unmarshal(document, &cases); err != nil {
		t.Fatal(err)
	}
	headlines, remarks := map[Kind]bool{}, map[Kind]bool{}
	for _, c := range cases {
		e := c.Explanation
		if got := e.english(); got != e.Sentence {
			t.Errorf("%s:\n%s, want\n%s", c.Name, got, e.Sentence)
		}
		headlines[KindOf(e.Headline.Operands)] = true
		for _, remark := range e.Remarks {
			remarks[KindOf(remark.Operands)] = true
		}
	}
	for _, o := range Headlines() {
		if !headlines[KindOf(o)] {
			t.Errorf("no case has a headline of kind %q", KindOf(o))
		}
	}
	for _, o := range Remarks() {
		if !remarks[KindOf(o)] {
			t.Errorf("no case has a remark of kind %q", KindOf(o))
		}
	}
}

func TestStatementsOfUnknownKindsAreRefused(t *testing.T) {
	if err := json.Unmarshal([]byte(`{"kind":"other"}`), new(Statement)); err == nil {
		t.Error("no error")
	}
}
