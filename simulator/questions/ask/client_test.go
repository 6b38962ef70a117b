package ask

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kube-scheduler-simulator/simulator/questions/hypothesis"
)

func TestTheClientSendsTheQuestion(t *testing.T) {
	var got []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization")+" "+string(body))
		_, _ = io.WriteString(w, `{"state":{"nodes":3},"decisions":[{"pod":{"name":"web"},"outcome":"scheduled","selectedNode":"a","explanation":{"sentence":"","headline":{"kind":"only","pod":"web","node":"a","evaluated":1}}}]}`)
	}))
	defer server.Close()
	client, err := NewClient(server.URL+"/", "secret")
	if err != nil {
		t.Fatal(err)
	}
	q := hypothesis.Question{
		Pod: hypothesis.Document(`{"kind":"Pod"}`), Configuration: hypothesis.Document("kind: KubeSchedulerConfiguration\n"), Profile: "other",
		Changes: []hypothesis.Change{{Apply: hypothesis.Document(`{"kind":"Node"}`), Count: new(3)}},
	}
	answer, err := client.WhatIf(t.Context(), hypothesis.WhatIf{Question: q, Copies: 2})
	if err != nil {
		t.Fatal(err)
	}
	if answer.State.Nodes != 3 || answer.Decisions[0].SelectedNode != "a" || !answer.Fits() {
		t.Errorf("the answer is %+v", answer)
	}
	want := []string{`POST /api/v1/whatif Bearer secret {"pod":{"kind":"Pod"},"changes":[{"apply":{"kind":"Node"},"count":3}],"configuration":"kind: KubeSchedulerConfiguration\n","profile":"other","copies":2}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestTheClientSaysWhyThereIsNoAnswer(t *testing.T) {
	for _, tc := range []struct {
		name   string
		status int
		body   string
		want   string
	}{
		{"a refusal", 422, `{"message":"pod: Pod \"web\" is invalid: spec.containers: Required value","details":[{"field":"pod.spec.containers","message":"Required value"}]}`, `pod: Pod "web" is invalid: spec.containers: Required value`},
		{"details", 400, `{"message":"the configuration is invalid","details":[{"field":"configuration.profiles","message":"no such field","line":3}]}`, `the configuration is invalid; line 3: configuration.profiles: no such field`},
		{"a token is missing", 401, `{"message":"unauthorized","details":[]}`, `the simulator at URL wants its token: name the file with --token-file`},
		{"another program", 404, `<html>`, `the simulator at URL answers 404 Not Found`},
		{"nonsense", 200, `<html>`, `the answer of the simulator at URL cannot be read: invalid character '<' looking for beginning of value`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(tc.status)
				_, _ = io.WriteString(w, tc.body)
			}))
			defer server.Close()
			client, err := NewClient(server.URL, "")
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.Fit(t.Context(), hypothesis.Fit{})
			if err == nil || strings.ReplaceAll(err.Error(), server.URL, "URL") != tc.want {
				t.Errorf("the error is %v\nwant %s", err, tc.want)
			}
		})
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	client, err := NewClient(server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Node(t.Context(), "a")
	if err == nil || !strings.HasPrefix(err.Error(), "the simulator at "+server.URL+" cannot be reached: ") || strings.Count(err.Error(), "\n") > 0 {
		t.Errorf("the error is %v", err)
	}
	for _, address := range []string{"127.0.0.1:1212", "ftp://a", "http://"} {
		if _, err := NewClient(address, ""); err == nil {
			t.Errorf("%s is an address", address)
		}
	}
}

func TestReady(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/healthz" || r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"message":"the scheduler does not run yet","details":[]}`)
		}
	}))
	defer server.Close()
	client, err := NewClient(server.URL, "secret")
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Ready(t.Context(), true); err != nil {
		t.Error(err)
	}
	if err := client.Ready(t.Context(), false); err == nil || err.Error() != "the scheduler does not run yet" {
		t.Errorf("error %v", err)
	}
}
