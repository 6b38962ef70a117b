package server

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// echoing answers with what it got.
type echoing struct{}

func (echoing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(body)
}

func TestAgents(t *testing.T) {
	h := serve(t, Options{})
	if a := h.do(http.MethodPost, agentsPath, "{}"); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the start: %s %s", a.Status, a.body)
	}
	h.attach(nil, nil, func(b *Backend) { b.Agents = echoing{} })
	for _, tc := range []struct {
		method, body, header string
		status               int
		want                 string
	}{
		{http.MethodPost, `{"id":1}`, "", http.StatusOK, `{"id":1}`},
		{http.MethodGet, "", "", http.StatusMethodNotAllowed, `agents send each message by POST`},
		{http.MethodDelete, "", "", http.StatusMethodNotAllowed, `agents send each message by POST`},
		{http.MethodPost, strings.Repeat("x", 10<<20), "", http.StatusRequestEntityTooLarge, `"message":"the request body is larger than 1 MiB, the limit of this server"`},
		{http.MethodPost, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), "", http.StatusRequestEntityTooLarge, `"message":`},
		{http.MethodPost, "{}", "Origin: http://evil.example.com", http.StatusForbidden, `is not this server's own`},
		{http.MethodPost, "{}", "Host: evil.example.com", http.StatusForbidden, `is not this server's own`},
		{http.MethodPost, "{}", "Sec-Fetch-Site: cross-site", http.StatusForbidden, `cross-site requests are refused`},
	} {
		headers := []string{"Content-Type: application/json"}
		if tc.header != "" {
			headers = append(headers, tc.header)
		}
		a := h.do(tc.method, agentsPath, tc.body, headers...)
		if a.StatusCode != tc.status || !strings.Contains(a.body, tc.want) {
			t.Errorf("%s %.20s %s: %s %s", tc.method, tc.body, tc.header, a.Status, a.body)
		}
		if a.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %.20s may be cached", tc.method, tc.body)
		}
	}
}

func TestAgentsNeedTheToken(t *testing.T) {
	h := serve(t, Options{Token: strings.Repeat("t", MinToken)})
	h.attach(nil, nil, func(b *Backend) { b.Agents = echoing{} })
	if a := h.do(http.MethodPost, agentsPath, "{}"); a.StatusCode != http.StatusUnauthorized {
		t.Errorf("without it: %s", a.Status)
	}
	if a := h.do(http.MethodPost, agentsPath, "{}", "Authorization: Bearer "+strings.Repeat("t", MinToken)); a.StatusCode != http.StatusOK {
		t.Errorf("with it: %s %s", a.Status, a.body)
	}
}
