package ask

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseDecision(t *testing.T) {
	for text, want := range map[string]Decision{
		"web":        {"default", "web", 0},
		"shop/web":   {"shop", "web", 0},
		"shop/web@3": {"shop", "web", 3},
	} {
		got, err := ParseDecision(text, "default")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", text, err, diff)
		}
	}
	for text, want := range map[string]string{
		"web@0": `"web@0": attempts count from 1, as in web@1`,
		"web@x": `"web@x": attempts count from 1, as in web@1`,
		"a/b/c": `"a/b/c" is no decision: want [NAMESPACE/]NAME[@ATTEMPT]`,
		"/web":  `"/web" is no decision: want [NAMESPACE/]NAME[@ATTEMPT]`,
		"@1":    `"@1" is no decision: want [NAMESPACE/]NAME[@ATTEMPT]`,
	} {
		if _, err := ParseDecision(text, "default"); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestAReportIsOfTheNewestAttemptOrTheNamedOne(t *testing.T) {
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		switch r.URL.Query().Get("name") {
		case "":
			_, _ = io.WriteString(w, "<html>")
		case "gone":
			_, _ = io.WriteString(w, `{"items":[],"continue":""}`)
		default:
			_, _ = io.WriteString(w, `{"items":[{"pod":{"namespace":"shop","name":"web","uid":"u-`+r.URL.Query().Get("name")+`"},"attempt":4}],"continue":""}`)
		}
	}))
	defer server.Close()
	client, err := NewClient(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	file, of, err := client.Report(t.Context(), Decision{"shop", "web", 0}, &Decision{"shop", "db", 2}, true)
	if err != nil || string(file) != "<html>" || of.Attempt != 4 {
		t.Errorf("%s, %+v, %v", file, of, err)
	}
	want := []string{"/api/v1/results?limit=1&name=web&namespace=shop", "/api/v1/results?limit=1&name=db&namespace=shop", "/api/v1/results/u-web/4?format=html&other=u-db%2F2&redact=true"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Error(diff)
	}
	if _, _, err := client.Report(t.Context(), Decision{"shop", "gone", 0}, nil, false); err == nil || err.Error() != "the simulator at "+server.URL+" keeps no decision about shop/gone" {
		t.Error(err)
	}
}
