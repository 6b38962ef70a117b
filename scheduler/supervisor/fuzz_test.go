package supervisor_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
	"unicode/utf16"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/supervisor"
)

// FuzzApply checks that no document ends the process or replaces a working
// scheduler with a broken one. All documents are applied to the same scheduler, one
// after another.
func FuzzApply(f *testing.F) {
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	files, err := filepath.Glob(filepath.Join("..", "config", "testdata", "*.*"))
	if err != nil || len(files) == 0 {
		f.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		if filepath.Ext(file) == ".golden" {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	for _, document := range []string{
		"", "\x00", "{", "[]", "---\n", header, header + "---\n" + header,
		header + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Fussy}]}}\n  pluginConfig: [{name: Fussy, args: {panic: now}}]\n",
		header + "profiles:\n- plugins: {multiPoint: {enabled: [{name: Fussy}]}}\n  pluginConfig: [{name: Fussy, args: [not, an, object]}]\n",
		header + "profiles:\n- schedulerName: a\n- schedulerName: b\n  plugins: {score: {disabled: [{name: '*'}]}}\n",
		header + "parallelism: 2147483647\npodMaxBackoffSeconds: 9223372036854775807\npercentageOfNodesToScore: 1\n",
		header + "profiles:\n- plugins: {multiPoint: {disabled: [{name: '*'}], enabled: [{name: PrioritySort}, {name: DefaultBinder}]}}\n",
		header + "profiles:\n- plugins: {bind: {disabled: [{name: '*'}]}}\n",
		header + "extenders:\n- urlPrefix: 'http://127.0.0.1:1/'\n  filterVerb: filter\n  tlsConfig: {caFile: /dev/null}\n",
		`{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration","profiles":[{"schedulerName":"json"}]}`,
	} {
		f.Add([]byte(document))
	}
	f.Add(inUTF16(header))
	c := newCluster(f, 2, func(o *supervisor.Options) { o.OutOfTree["Fussy"] = fussy })
	if err := c.live.Start(context.Background()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := c.live.Stop(context.Background()); err != nil {
			f.Error(err)
		}
	})
	refused := 0
	f.Fuzz(func(t *testing.T, document []byte) {
		before, running := c.live.State(), c.live.Configuration()
		applied, err := c.live.Apply(t.Context(), document)
		if err == nil {
			c.checkApplied(t, applied, document)
			c.checkSchedules(t)
			return
		}
		bad, ok := errors.AsType[*config.Error](err)
		if !ok || len(bad.Mistakes) == 0 {
			t.Fatalf("the error is %#v", err)
		}
		after := c.live.State()
		if !after.Running || after.Swapping || after.Revision != before.Revision || c.live.Configuration() != running {
			t.Fatalf("after %v the state is %+v, was %+v", err, after, before)
		}
		// Refusing a document takes little time, scheduling a pod takes more.
		if refused++; refused%32 == 0 || bad.Mistakes[0].Line == 0 && bad.Mistakes[0].Field == "" {
			c.checkSchedules(t)
		}
	})
}

// inUTF16 encodes text in UTF-16, as some editors do; YAML allows that.
func inUTF16(text string) []byte {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = binary.LittleEndian.AppendUint16(out, unit)
	}
	return out
}

// fussy is a typical out-of-tree plugin: it does not handle every argument.
func fussy(_ context.Context, args runtime.Object, _ fwk.Handle) (fwk.Plugin, error) {
	unknown, ok := args.(*runtime.Unknown)
	if !ok || unknown == nil {
		return nil, errors.New("it needs arguments")
	}
	var fields map[string]any
	if err := json.Unmarshal(unknown.Raw, &fields); err != nil {
		return nil, err
	}
	if fields["panic"] != nil {
		_ = fields["panic"].([]any)[99]
	}
	return calm{}, nil
}

type calm struct{}

func (calm) Name() string { return "Fussy" }

func (c *cluster) checkApplied(t *testing.T, applied config.Applied, document []byte) {
	t.Helper()
	state := c.live.State()
	if !state.Running || state.Swapping || state.Revision != applied.Revision.Number || len(state.Profiles) == 0 {
		t.Fatalf("the state is %+v, applied is %+v", state, applied.Revision)
	}
	r, ok := c.live.Revision(state.Revision)
	if !ok || r.State != config.RevisionRunning || !bytes.Equal([]byte(r.Document), document) {
		t.Fatalf("the revision is %+v", r)
	}
	if _, err := c.live.Effective(); err != nil {
		t.Fatal(err)
	}
	// The revision is stored and served as JSON.
	kept, err := json.Marshal(r)
	var back config.Revision
	if err := errors.Join(err, json.Unmarshal(kept, &back)); err != nil || back.Document != r.Document {
		t.Fatalf("%v: the document is not kept as it is: %q", err, back.Document)
	}
}

// checkSchedules requires that the running revision tries a pod of the first
// profile, with any outcome. It calls no extenders, because their URLs may point
// anywhere.
func (c *cluster) checkSchedules(t *testing.T) {
	t.Helper()
	if len(c.live.Configuration().Internal.Extenders) > 0 {
		return
	}
	state := c.live.State()
	p := c.add(t, fmt.Sprintf("p-%d", time.Now().UnixNano()), state.Profiles[0])
	timeout := time.After(20 * time.Second)
	for tried := false; !tried; {
		for _, cycle := range c.cycles.of(p.UID) {
			tried = tried || cycle.Revision == state.Revision && cycle.Profile == state.Profiles[0]
		}
		if tried {
			break
		}
		select {
		case <-c.cycles.put:
		case <-timeout:
			t.Fatalf("the scheduler does not schedule: %+v, %+v", state, c.live.Revisions()[0])
		}
	}
	err := c.client.CoreV1().Pods(p.Namespace).Delete(t.Context(), p.Name, metav1.DeleteOptions{})
	if err != nil && !c.gone(t.Context(), p.Name) {
		t.Fatal(err)
	}
	c.cycles.forget(p.UID)
}
