package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/host/datadir"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// willing is an API server that serves only ConfigMaps and namespaces and accepts all
// of them. Unless turns is nil, each create waits for a turn.
type willing struct {
	turns chan struct{}
}

func (w *willing) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	out.Header().Set("Content-Type", "application/json")
	answer := map[string]string{
		"/api":  `{"kind":"APIVersions","versions":["v1"]}`,
		"/apis": `{"kind":"APIGroupList","apiVersion":"v1","groups":[]}`,
		"/api/v1": `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1","resources":[
			{"name":"configmaps","kind":"ConfigMap","namespaced":true,"verbs":["list","create"]},
			{"name":"namespaces","kind":"Namespace","verbs":["list","create"]}]}`,
		"/api/v1/namespaces/default": `{"metadata":{"name":"default","uid":"u"}}`,
	}[r.URL.Path]
	switch {
	case answer != "":
		fmt.Fprint(out, answer)
	case r.Method == http.MethodPost:
		if w.turns != nil {
			<-w.turns
		}
		out.WriteHeader(http.StatusCreated)
		_, _ = io.Copy(out, r.Body)
	default:
		out.WriteHeader(http.StatusNotFound)
		fmt.Fprint(out, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404}`)
	}
}

// fakeTransfer runs real imports and fakes the rest.
type fakeTransfer struct {
	*transfer.Cluster
	t *testing.T
	// The test sets spool and export, and reads asked.
	spool  func() (*os.File, error)
	asked  transfer.ExportOptions
	export func(w io.Writer) error
}

var _ Transfer = (*fakeTransfer)(nil)

func (f *fakeTransfer) Export(_ context.Context, w io.Writer, opts transfer.ExportOptions) error {
	f.asked = opts
	return f.export(w)
}

func (f *fakeTransfer) Spool() (Spool, error) {
	if f.spool != nil {
		return f.spool()
	}
	return os.CreateTemp(f.t.TempDir(), "")
}

// serveTransfer returns a server that imports into api.
func serveTransfer(t *testing.T, api *willing) (*harness, *fakeTransfer) {
	t.Helper()
	return serveTransferOf(t, api, Options{})
}

// serveTransferWith is serveTransfer with other options.
func serveTransferWith(t *testing.T, opts Options) (*harness, *fakeTransfer) {
	t.Helper()
	return serveTransferOf(t, &willing{}, opts)
}

func serveTransferOf(t *testing.T, api *willing, opts Options) (*harness, *fakeTransfer) {
	t.Helper()
	cluster := httptest.NewServer(api)
	t.Cleanup(cluster.Close)
	f := &fakeTransfer{Cluster: transfer.New(transfer.Options{Config: &rest.Config{Host: cluster.URL}}), t: t}
	h := serve(t, opts)
	err := h.SetBackend(Backend{ClientConfig: &rest.Config{Host: cluster.URL}, Results: &watchtest.Results{}, Configuration: &fakeConfiguration{}, Transfer: f})
	if err != nil {
		t.Fatal(err)
	}
	return h, f
}

const exportPath = apiPrefix + "/v1/export"

func TestExporting(t *testing.T) {
	h, f := serveTransfer(t, &willing{})
	f.export = func(w io.Writer) error {
		_, err := io.WriteString(w, "the cluster")
		return err
	}
	for _, tc := range []struct {
		query, accept string
		want          transfer.ExportOptions
		contentType   string
	}{
		{"", "", transfer.ExportOptions{Format: transfer.JSON}, "application/json"},
		{"?format=yaml", "", transfer.ExportOptions{Format: transfer.YAML}, "application/yaml"},
		{"", "application/yaml", transfer.ExportOptions{Format: transfer.YAML}, "application/yaml"},
		{"?format=json", "application/yaml", transfer.ExportOptions{Format: transfer.JSON}, "application/json"},
		{"?redact=true", "", transfer.ExportOptions{Format: transfer.JSON, Redact: true}, "application/json"},
		{"?results=true&redact=false", "*/*", transfer.ExportOptions{Format: transfer.JSON, Results: true}, "application/json"},
	} {
		a := h.get(exportPath+tc.query, "Accept: "+tc.accept)
		want(t, tc.query+" code", a.StatusCode, http.StatusOK)
		want(t, tc.query+" options", f.asked, tc.want)
		want(t, tc.query+" type", a.Header.Get("Content-Type"), tc.contentType)
		if name := a.Header.Get("Content-Disposition"); !strings.HasPrefix(name, "attachment; filename=cluster-") || !strings.HasSuffix(name, "."+string(tc.want.Format)) {
			t.Errorf("%s: Content-Disposition %q", tc.query, name)
		}
	}
	for query, field := range map[string]string{"format=xml": "format", "redact=perhaps": "redact", "results=2": "results"} {
		a := h.get(exportPath + "?" + query)
		want(t, query, a.StatusCode, http.StatusBadRequest)
		if a.message(t); !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Errorf("%s: %s", query, a.body)
		}
	}
}

// TestExportThatFails: an export that fails before its first byte is an error. If it
// fails later, the client can tell that the file is incomplete.
func TestExportThatFails(t *testing.T) {
	h, f := serveTransfer(t, &willing{})
	f.export = func(io.Writer) error { return errors.New("listing pods: no") }
	a := h.get(exportPath)
	want(t, "code", a.StatusCode, http.StatusInternalServerError)
	want(t, "message", a.message(t), "listing pods: no")
	want(t, "no file", a.Header.Get("Content-Disposition"), "")

	f.export = func(w io.Writer) error {
		if _, err := w.Write(bytes.Repeat([]byte("{"), 1<<16)); err != nil {
			return err
		}
		return errors.New("listing pods: no")
	}
	response, err := plainClient.Get(h.url + exportPath)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if data, err := io.ReadAll(response.Body); err == nil {
		t.Errorf("half of an export looks like a whole one: %d bytes", len(data))
	}
}

const aMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\n"

func named(name string) string { return strings.Replace(aMap, "NAME", name, 1) }

// form returns a form with files; its arguments are alternating names and contents.
func form(t *testing.T, files ...string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	if err := w.WriteField("note", "no file"); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		part, err := w.CreateFormFile("file", files[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(part, files[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), w.FormDataContentType()
}

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestImporting(t *testing.T) {
	h, _ := serveTransfer(t, &willing{})
	want(t, "before", strings.TrimSpace(h.get(importPath).body), `{"state":"none","progress":{"phase":"reading","done":0,"total":0}}`)

	files, filesType := form(t, "../../maps.yaml", named("a")+"---\n"+named("b"), "more.gz", gzipped(t, named("c")), "notes.txt", "hello\n")
	empty, emptyType := form(t)
	for _, tc := range []struct {
		name, query, body, contentType string
		code                           int
		created                        int
		says                           []string
	}{
		{"the body is the file", "", named("a"), "application/yaml", 200, 1, nil},
		{"whatever its type says", "", gzipped(t, named("a")), "text/plain", 200, 1, nil},
		{"a form with files", "", files, filesType, 200, 3, []string{`"source":"notes.txt, document 1"`, `"failedTotal":1`}},
		{"a form without files", "", empty, emptyType, 400, 0, []string{"nothing to import was found"}},
		{"a form that ends too soon", "", files[:200], filesType, 400, 0, []string{"the form cannot be read"}},
		{"a form without boundary", "", files, "multipart/form-data", 400, 0, []string{"no boundary"}},
		{"nothing", "", "", "", 400, 0, []string{"nothing to import was found"}},
		{"nonsense", "", "hello", "", 400, 0, []string{"nothing could be imported: document 1: line 1: want an object", "An import reads manifests in YAML or JSON", `"field":"document 1"`}},
		{"an unknown mode", "?mode=upsert", named("a"), "", 400, 0, []string{`want merge or replace, not \"upsert\"`}},
		{"an invalid value of reschedule", "?reschedule=perhaps", named("a"), "", 400, 0, []string{`"field":"reschedule"`}},
		{"a cluster that must not be emptied", "?mode=replace", named("a"), "", 403, 0, []string{"does not own this cluster"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := h.do(http.MethodPost, importPath+tc.query, tc.body, "Content-Type: "+tc.contentType)
			want(t, "code", a.StatusCode, tc.code)
			if tc.code != http.StatusOK {
				a.message(t)
			}
			var report struct{ Created int }
			if err := json.Unmarshal([]byte(a.body), &report); err != nil || report.Created != tc.created {
				t.Errorf("%d created (%v): %s", report.Created, err, a.body)
			}
			for _, says := range tc.says {
				if !strings.Contains(a.body, says) {
					t.Errorf("it does not say %s: %s", says, a.body)
				}
			}
		})
	}
	want(t, "none is in progress", h.do(http.MethodDelete, importPath, "").StatusCode, http.StatusNotFound)
}

// TestImportProgress: a client that asks for lines gets them while the import runs; the
// last one is the report or the error.
func TestImportProgress(t *testing.T) {
	api := &willing{turns: make(chan struct{})}
	h, _ := serveTransfer(t, api)
	lines := streamedImport(t, h, named("a"))
	line := lines(`"phase":"applying"`)
	want(t, "while it waits", strings.Contains(line, `"done":0,"total":1`), true)

	second := h.do(http.MethodPost, importPath, strings.Repeat("# a comment\n", 1<<20))
	want(t, "a second one", second.StatusCode, http.StatusConflict)
	want(t, "a second one", second.message(t), "an import is in progress; try again when it has ended")
	api.turns <- struct{}{}
	lines(`"report":{"mode":"merge"`)
	if state := h.get(importPath).body; !strings.Contains(state, `"state":"finished"`) || !strings.Contains(state, `"created":1`) {
		t.Errorf("it is %s", state)
	}

	lines = streamedImport(t, h, "hello")
	lines(`{"error":{"message":"nothing could be imported: document 1: line 1: want an object, got \"hello\". An import reads manifests`)
	if state := h.get(importPath).body; !strings.Contains(state, `"state":"failed"`) || !strings.Contains(state, "nothing could be imported") {
		t.Errorf("it is %s", state)
	}
}

// beginImport uploads text and returns the answer, which lasts as long as the import.
func beginImport(ctx context.Context, t *testing.T, h *harness, text string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url+importPath, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", mimeNDJSON)
	response, err := plainClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

// streamedImport uploads text and returns a function that reads the answer up to a line
// that contains a given text.
func streamedImport(t *testing.T, h *harness, text string) (until func(part string) (line string)) {
	t.Helper()
	response := beginImport(t.Context(), t, h, text)
	want(t, "type", response.Header.Get("Content-Type"), mimeNDJSON)
	lines := bufio.NewScanner(response.Body)
	return func(part string) string {
		t.Helper()
		said := ""
		for lines.Scan() {
			if said += lines.Text() + "\n"; strings.Contains(lines.Text(), part) {
				return lines.Text()
			}
		}
		t.Fatalf("no line has %s:\n%s", part, said)
		return ""
	}
}

// TestCancellingAnImport: the import finishes the current object and writes no others.
func TestCancellingAnImport(t *testing.T) {
	api := &willing{turns: make(chan struct{})}
	h, f := serveTransfer(t, api)
	var input strings.Builder
	for i := range 100 {
		input.WriteString("---\n" + named(fmt.Sprintf("map-%d", i)))
	}
	lines := streamedImport(t, h, input.String())
	api.turns <- struct{}{}
	lines(`"kind":"ConfigMap"`)
	want(t, "cancelled", h.do(http.MethodDelete, importPath, "").StatusCode, http.StatusNoContent)
	close(api.turns)
	lines(`{"error":{"message":"the import was cancelled; objects imported before that remain","details":[]}}`)
	var state struct {
		State  transfer.State
		Report struct{ Created int }
	}
	if err := json.Unmarshal([]byte(h.get(importPath).body), &state); err != nil {
		t.Fatal(err)
	}
	if state.State != transfer.Cancelled || state.Report.Created == 0 || state.Report.Created == 100 {
		t.Errorf("it is %+v", state)
	}
	want(t, "again", h.do(http.MethodDelete, importPath, "").StatusCode, http.StatusNotFound)
	want(t, "the next one", h.do(http.MethodPost, importPath, named("a")).StatusCode, http.StatusOK)
	<-f.Latest().Done()
}

// TestAnImportOutlivesItsClient: it continues if the client disconnects.
func TestAnImportOutlivesItsClient(t *testing.T) {
	api := &willing{turns: make(chan struct{})}
	h, f := serveTransfer(t, api)
	ctx, leave := context.WithCancel(t.Context())
	response := beginImport(ctx, t, h, named("a"))
	leave()
	response.Body.Close()
	api.turns <- struct{}{}
	<-f.Latest().Done()
	want(t, "it", f.Latest().State(), transfer.Finished)
}

// TestAnImportThatIsTooLarge: it is refused for its Content-Length, or for its body.
func TestAnImportThatIsTooLarge(t *testing.T) {
	h, f := serveTransfer(t, &willing{})
	conn, err := net.Dial("tcp", h.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Length: %d\r\n\r\nthe beginning", importPath, h.host, maxImport+1)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: http.MethodPost})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusRequestEntityTooLarge || !strings.Contains(string(body), "larger than 512 MiB") {
		t.Errorf("%s: %s (%v)", response.Status, body, err)
	}

	text := named("a") + strings.Repeat("# more\n", 1000)
	files, filesType := form(t, "f", text)
	for contentType, body := range map[string]string{"application/yaml": text, filesType: files} {
		r := httptest.NewRequest(http.MethodPost, importPath, nil)
		r.Header.Set("Content-Type", contentType)
		r.Body = &boundedBody{ReadCloser: io.NopCloser(strings.NewReader(body)), limit: 5 << 10, left: 5 << 10, response: httptest.NewRecorder()}
		_, err := receive(r, f)
		if _, large := errors.AsType[*http.MaxBytesError](receiveError(err)); !large {
			t.Errorf("%s: it said %v", contentType, err)
		}
	}
}

// TestAnImportWhenTheDiskIsFull: the answer says so, whether creating or writing the file
// fails, and nothing is imported.
func TestAnImportWhenTheDiskIsFull(t *testing.T) {
	h, f := serveTransfer(t, &willing{})
	spools := map[string]func() (*os.File, error){
		"no file": func() (*os.File, error) {
			return nil, fmt.Errorf("storing the upload: %w", &os.PathError{Op: "open", Path: "import-1", Err: syscall.ENOSPC})
		},
	}
	if full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0); err == nil {
		full.Close()
		spools["no room"] = func() (*os.File, error) { return os.OpenFile("/dev/full", os.O_RDWR, 0) }
	}
	large := strings.Repeat("# a comment\n", 1<<20)
	for name, spool := range spools {
		t.Run(name, func(t *testing.T) {
			f.spool = spool
			h := &harness{Server: h.Server, t: t, host: h.host, url: h.url}
			files, filesType := form(t, "f", large)
			for contentType, body := range map[string]string{"application/yaml": large, filesType: files} {
				a := h.do(http.MethodPost, importPath, body, "Content-Type: "+contentType)
				want(t, contentType, a.StatusCode, http.StatusInsufficientStorage)
				want(t, contentType, a.message(t), datadir.ErrDiskFull.Error())
			}
		})
	}
	if f.Latest() != nil {
		t.Error("an import was started")
	}
}

func TestASimulatorWithoutTransferSaysSo(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	for method, path := range map[string]string{http.MethodGet: exportPath, http.MethodPost: importPath, http.MethodDelete: importPath} {
		a := h.do(method, path, "")
		want(t, method+" "+path, a.StatusCode, http.StatusNotImplemented)
		want(t, path, a.message(t), "this simulator cannot import or export")
	}
}
