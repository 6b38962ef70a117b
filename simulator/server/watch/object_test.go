package watch

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/cluster/objects"
)

func TestParseObject(t *testing.T) {
	const item = ` { "metadata" : {"name":"p","namespace":"ns","uid":"u","resourceVersion":"7",
		"annotations":{"kube-scheduler-simulator.sigs.k8s.io/x":"{\"a\\\\\":\"}\"}"}, "managedFields":[{"a":[1,{}]}],"labels":{"l":"\"}"} },
		"spec":{"n":-1.5e3,"t":true,"z":null} } `
	o, err := parseObject([]byte(item), metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "key and version", []string{o.key(), o.version()}, []string{"ns/p", "u/7"})
	want(t, "JSON", string(o.json), `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"ns","uid":"u","resourceVersion":"7",`+
		`"labels":{"l":"\"}"}},"spec":{"n":-1.5e3,"t":true,"z":null}}`)
}

func TestParseObjectRefuses(t *testing.T) {
	for _, data := range []string{``, `[]`, `{}`, `{"metadata":{}`, `{"metadata":{"name":"x}`, `{"metadata":1}`, `{"metadata":{}} x`, `{"metadata":{},}`} {
		if o, err := parseObject([]byte(data), metav1.TypeMeta{}); err == nil {
			t.Errorf("%s: read as %s", data, o.json)
		}
	}
}

// FuzzParseObject compares parseObject with decoding, deleting members and encoding, for
// every object with metadata. Other input must not cause a panic.
func FuzzParseObject(f *testing.F) {
	f.Add([]byte(fakeObject{name: "a"}.String()))
	f.Add([]byte(`{"metadata":{"annotations":{"a":"b\\"},"managedFields":null},"x":[[],{"\"":"\u0000"}]}`))
	f.Add([]byte(`{"metadata":{"annotations":null}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		o, err := parseObject(data, metav1.TypeMeta{})
		var decoded map[string]json.RawMessage
		var metadata map[string]any
		if json.Unmarshal(data, &decoded) != nil || json.Unmarshal(decoded["metadata"], &metadata) != nil || metadata == nil || hasTwins(data) {
			return
		}
		annotations, ok := metadata["annotations"].(map[string]any)
		if _, present := metadata["annotations"]; present && !ok && metadata["annotations"] != nil {
			return
		}
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		for name := range annotations {
			if strings.HasPrefix(name, objects.Prefix) {
				delete(annotations, name)
			}
		}
		if len(annotations) == 0 {
			delete(metadata, "annotations")
		}
		delete(metadata, "managedFields")
		decoded["metadata"], _ = json.Marshal(metadata)
		var got, wanted any
		expected, _ := json.Marshal(decoded)
		if err := json.Unmarshal(o.json, &got); err != nil {
			t.Fatalf("%v: %s", err, o.json)
		}
		json.Unmarshal(expected, &wanted)
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

// hasTwins reports whether data is out of scope: names that occur twice, or escaped
// names, which the API server does not send.
func hasTwins(data []byte) bool {
	s := string(data)
	for _, name := range []string{"metadata", "managedFields", "annotations", objects.Prefix} {
		if strings.Count(s, name) > 1 {
			return true
		}
	}
	return strings.Contains(s, `\u`)
}

func BenchmarkParseObject(b *testing.B) {
	for _, size := range []int{0, 64 << 10} {
		b.Run(fmt.Sprint("annotation=", size), func(b *testing.B) {
			pod := map[string]any{
				"metadata": map[string]any{
					"name": "p", "resourceVersion": "1",
					"annotations": map[string]string{objects.Prefix + "filter-result": strings.Repeat(`{"node":"x"}`, size/12)},
				},
				"spec": strings.Repeat("spec ", 600),
			}
			data, _ := json.Marshal(pod)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := parseObject(data, metav1.TypeMeta{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestObjectsDoNotKeepTheirSource: the hub holds thousands of objects, so an object must
// not keep the larger buffer alive from which it was read.
func TestObjectsDoNotKeepTheirSource(t *testing.T) {
	const objects = 2000
	kept := make([]*object, 0, objects)
	before := liveHeap()
	for i := range objects {
		data := fmt.Appendf(nil, `{"metadata":{"name":"pod-%d","managedFields":[%q]}}`, i, strings.Repeat("x", 8<<10))
		o, err := parseObject(data, metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, o)
	}
	if each := (liveHeap() - before) / objects; each > 1<<10 {
		t.Errorf("an object of %d bytes keeps %d", len(kept[0].json), each)
	}
	runtime.KeepAlive(kept)
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
