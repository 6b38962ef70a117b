package manifest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// transcript renders what was read, one line each.
func transcript(t testing.TB, parts ...Part) []string {
	t.Helper()
	var said []string
	err := Read(context.Background(), NewSource(parts...), Content{
		Object: func(o *Object) error {
			said = append(said, fmt.Sprintf("%s: %s %s/%s", o.Source, o.GVK.Kind, o.Namespace, o.Name))
			return nil
		},
		Configuration: func(source string, document []byte) {
			said = append(said, fmt.Sprintf("%s: configuration %s", source, document))
		},
		Unreadable: func(source, message string) { said = append(said, fmt.Sprintf("%s: UNREADABLE %s", source, message)) },
		Ignored:    func(source, message string) { said = append(said, fmt.Sprintf("%s: IGNORED %s", source, message)) },
	})
	if err != nil {
		said = append(said, "ERROR "+err.Error())
	}
	return said
}

func part(name, content string) Part {
	return Part{Name: name, Content: strings.NewReader(content), Size: int64(len(content))}
}

func TestReading(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []string
	}{
		{"a manifest", "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\n",
			[]string{"f, document 1: Pod /a"}},
		{"documents, some of them empty", "# nothing\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: ns}\n---\n\n---\n# nothing\n--- # here\nkind: Node\napiVersion: v1\nmetadata: {name: b}\n...\n",
			[]string{"f, document 2: Pod ns/a", "f, document 5: Node /b"}},
		{"many blanks before JSON", strings.Repeat(" \n", 2000) + `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"a"}}`, []string{"f, document 1: Pod /a"}},
		{"many blank lines before YAML", strings.Repeat("\n", 2000) + "  kind: Pod\n  apiVersion: v1\n  metadata: {name: a}\n", []string{"f, document 1: Pod /a"}},
		{"windows line ends and a byte order mark", "\xef\xbb\xbfapiVersion: v1\r\nkind: List\r\nitems:\r\n- apiVersion: v1\r\n  kind: Pod\r\n  metadata:\r\n    name: a\r\n---\r\napiVersion: v1\r\nkind: Node\r\nmetadata:\r\n  name: b\r\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 2: Node /b"}},
		{"kubectl's YAML list", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    annotations:\n      text: |\n        - no item\n\n        kind: none\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: b\nkind: List\nmetadata:\n  resourceVersion: \"\"\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[1]: Node /b"}},
		{"a YAML list with indented items", "kind: List\napiVersion: v1\nitems:\n  # first\n  - kind: Pod\n    apiVersion: v1\n    metadata: {name: a}\n\n  -\n    kind: Node\n    apiVersion: v1\n    metadata: {name: b}\nmetadata: {}\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[1]: Node /b"}},
		{"a YAML list whose items cannot be split", "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: &m {name: a}\n- kind: Node\n  apiVersion: v1\n  metadata: *m\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[0]: Node /a"}},
		{"a list with a mistake in the middle", "kind: List\napiVersion: v1\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: a}\n- kind: Pod\n  apiVersion: v1\n\tmetadata: {name: b}\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: c}\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[1]: UNREADABLE line 9: not YAML: a tab cannot indent; use spaces", "f, document 1, items[2]: Pod /c"}},
		{"a typed list, whose items have no kind", `{"kind":"PodList","apiVersion":"v1","metadata":{},"items":[{"metadata":{"name":"a"}}]}`,
			[]string{"f, document 1, items[0]: Pod /a"}},
		{"kubectl's JSON list", `{"apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},{"apiVersion":"v1","kind":"Node","metadata":{"name":"b"}}],"kind":"List","metadata":{}}`,
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[1]: Node /b"}},
		{"JSON values one after the other", "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}}\n{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"b\"}}\n---\n[{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"c\"}}]",
			[]string{"f, document 1: Pod /a", "f, document 1: Node /b", "f, document 2, items[0]: Pod /c"}},
		{"flow style", "{apiVersion: v1, kind: Pod, metadata: {name: a}}",
			[]string{"f, document 1: Pod /a"}},
		{"JSON with a mistake", "{\"kind\":\"List\",\n\"items\":[\n{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\"}},\n{\"apiVersion\":}\n]}",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1: UNREADABLE not JSON: line 4: invalid character '}' looking for beginning of value"}},
		{"JSON that is cut off", `{"kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}},{"api`,
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1: UNREADABLE not JSON: line 1: it ends in the middle of a value"}},
		{"our export", `{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}],"schedulerConfiguration":{"kind":"KubeSchedulerConfiguration"},"results":[{"pod":{}}]}`,
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1: IGNORED " + ignoredResults, `f, document 1: configuration {"kind":"KubeSchedulerConfiguration"}`}},
		{"our export in YAML", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\nschedulerConfiguration:\n  kind: KubeSchedulerConfiguration\nresults:\n- pod: {}\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1: IGNORED " + ignoredResults, `f, document 1: configuration {"kind":"KubeSchedulerConfiguration"}`}},
		{"the earlier simulator's", `{"pods":[{"metadata":{"name":"a","namespace":"default","uid":"1"}}],"nodes":[{"metadata":{"name":"n"}}],"pvs":[],"pvcs":null,"storageClasses":[{"metadata":{"name":"s"}}],"priorityClasses":[],"schedulerConfig":{"kind":"KubeSchedulerConfiguration"},"namespaces":[{"metadata":{"name":"default"}}]}`,
			[]string{"f, document 1, pods[0]: Pod default/a", "f, document 1, nodes[0]: Node /n", "f, document 1, storageClasses[0]: StorageClass /s", "f, document 1, namespaces[0]: Namespace /default", `f, document 1: configuration {"kind":"KubeSchedulerConfiguration"}`}},
		{"a scheduler configuration", "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n",
			[]string{`f, document 1: configuration {"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration"}`}},
		{"a list in a list", `{"kind":"List","apiVersion":"v1","items":[{"kind":"List","apiVersion":"v1","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}]}]}`,
			[]string{"f, document 1, items[0], items[0]: Pod /a"}},
		{"items that are empty", "kind: PodList\napiVersion: v1\nitems:\n-\n- # nothing\n- null\n- metadata: {name: a}\n---\n{kind: PodList, apiVersion: v1, items: [null]}\n",
			[]string{"f, document 1, items[0]: UNREADABLE want an object, got nothing", "f, document 1, items[1]: UNREADABLE want an object, got nothing", "f, document 1, items[2]: UNREADABLE want an object, got nothing",
				"f, document 1, items[3]: Pod /a", "f, document 2, items[0]: UNREADABLE want an object"}},
		{"a second list, indented otherwise, after an item that cannot be read", "kind: List\napiVersion: v1\nitems:\n  - kind: [\n  - kind: Pod\n    apiVersion: v1\n    metadata: {name: a}\nmetadata: {}\nitems:\n- kind: Node\n  apiVersion: v1\n  metadata: {name: b}\nitems:\n",
			[]string{"f, document 1, items[0]: UNREADABLE line 4: not YAML: did not find expected node content", "f, document 1, items[1]: Pod /a", "f, document 1, items[0]: Node /b"}},
		{"results before the items", "kind: List\napiVersion: v1\nresults:\n- pod: {}\nitems:\n- kind: Pod\n  apiVersion: v1\n  metadata: {name: a}\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1: IGNORED " + ignoredResults}},
		{"no objects", "a: 1\n---\nhello\n---\n- 1\n---\napiVersion: v1\nkind: Pod\n---\napiVersion: v1\nkind: Pod\nmetadata: {labels: {}}\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {on: true}}\n",
			[]string{"f, document 1: UNREADABLE it is not a Kubernetes object: apiVersion or kind is missing", `f, document 2: UNREADABLE line 3: want an object, got "hello"`, "f, document 3: UNREADABLE line 5: want an object, got a list; a List has objects as its items",
				"f, document 4: UNREADABLE the Pod has no metadata", "f, document 5: UNREADABLE the Pod has no metadata.name", "f, document 6: UNREADABLE metadata.labels[true] is not a string; put it in quotes"}},
		{"the same field twice", "apiVersion: v1\nkind: Pod\nkind: Node\nmetadata: {name: a}\n",
			[]string{"f, document 1: UNREADABLE line 3: kind: duplicate field \"kind\"; the first is on line 2"}},
		{"the same field twice in an item", "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata: {name: a}\n- apiVersion: v1\n  kind: Pod\n  kind: Pod\n  metadata: {name: b}\n",
			[]string{"f, document 1, items[0]: Pod /a", "f, document 1, items[1]: UNREADABLE line 9: kind: duplicate field \"kind\"; the first is on line 8"}},
		{"UTF-16", "\xff\xfea\x00", []string{"f: UNREADABLE it is in UTF-16; save it in UTF-8"}},
		{"another encoding", "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: {x: \xe9}}\n", []string{"f, document 1: UNREADABLE line 3: it is not in UTF-8"}},
		{"no text", "\x7fELF\x00\x00", []string{"f: UNREADABLE it is neither text nor a supported archive (tar, tar.gz, gz or zip)"}},
		{"nothing", "", []string{"f: IGNORED it is empty"}},
		{"deep JSON", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":` + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "}",
			[]string{"f, document 1: UNREADABLE not JSON: line 1: nested deeper than 250 levels"}},
		{"JSON deeper than the decoder goes", `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}",
			[]string{"f, document 1: UNREADABLE not JSON: line 1: nested deeper than 250 levels"}},
		{"deep YAML", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: " + strings.Repeat("[", 300) + strings.Repeat("]", 300),
			[]string{"f, document 1: UNREADABLE line 4: nested deeper than 250 levels"}},
		{"YAML deeper than the parser goes", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000),
			[]string{"f, document 1: UNREADABLE line 1: nested deeper than 250 levels"}},
		{"a list of anything", "# many\n" + strings.Repeat("- x\n", 1000), []string{"f, document 1: UNREADABLE line 2: want an object, got a list; a List has objects as its items"}},
		{"aliases that grow", bomb(), []string{"f, document 1: UNREADABLE line 9: too large when its aliases are written out: more than 16777216 bytes"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, transcript(t, part("f", test.text))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// bomb is a small document that is huge with its aliases expanded.
func bomb() string {
	var b strings.Builder
	b.WriteString("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\na0: &a0 " + strings.Repeat("x", 1000) + "\n")
	for i := range 6 {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String()
}

const onePod = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"

func TestReadingArchives(t *testing.T) {
	entries := []tar.Header{
		{Name: "./cluster/pods.yaml", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "cluster", Typeflag: tar.TypeDir, Mode: 0o700},
		{Name: "README.md", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "../pods.yaml", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "/etc/pods.yaml", Typeflag: tar.TypeReg, Mode: 0o600},
		{Name: "link.yaml", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd", Mode: 0o600},
		{Name: "device.yaml", Typeflag: tar.TypeChar, Mode: 0o600},
		{Name: "._pods.yaml", Typeflag: tar.TypeReg, Mode: 0o600},
	}
	var tarred bytes.Buffer
	w := tar.NewWriter(&tarred)
	for _, e := range entries {
		if e.Typeflag == tar.TypeReg {
			e.Size = int64(len(onePod))
		}
		if err := w.WriteHeader(&e); err != nil {
			t.Fatal(err)
		}
		if e.Typeflag == tar.TypeReg {
			must(t, w, onePod)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	fromTar := []string{
		"f: ./cluster/pods.yaml, document 1: Pod /a",
		"f: README.md: IGNORED its name does not end in .yaml, .yml or .json",
		"f: ../pods.yaml: IGNORED its name points outside the archive",
		"f: /etc/pods.yaml: IGNORED its name points outside the archive",
		"f: link.yaml: IGNORED it is not a regular file",
		"f: device.yaml: IGNORED it is not a regular file",
	}
	var zipped bytes.Buffer
	z := zip.NewWriter(&zipped)
	for _, name := range []string{"pods.yaml", "../pods.yaml"} {
		f, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		must(t, f, onePod)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name    string
		content []byte
		want    []string
	}{
		{"tar", tarred.Bytes(), fromTar},
		{"tar.gz", gzipped(t, tarred.Bytes()), fromTar},
		{"gz", gzipped(t, []byte(onePod)), []string{"f, document 1: Pod /a"}},
		{"zip", zipped.Bytes(), []string{"f: pods.yaml, document 1: Pod /a", "f: ../pods.yaml: IGNORED its name points outside the archive"}},
		{"zip.gz", gzipped(t, zipped.Bytes()), []string{"f: UNREADABLE an archive within an archive; unpack it first"}},
		{"gz that is cut off", gzipped(t, []byte(onePod))[:20], []string{"f: UNREADABLE unpacking gzip: unexpected EOF"}},
		{"zip that is cut off", zipped.Bytes()[:40], []string{"f: UNREADABLE unpacking zip: zip: not a valid zip file"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, transcript(t, part("f", string(test.content)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func must(t testing.TB, w interface{ Write([]byte) (int, error) }, text string) {
	t.Helper()
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func gzipped(t testing.TB, content []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	must(t, w, string(content))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
