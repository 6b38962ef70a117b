package server

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
)

// someInactive are inactive parts, of which those with "far" in the name stay so.
type someInactive struct{ items []transfer.InactiveObject }

func (s *someInactive) List(context.Context) ([]transfer.InactiveObject, error) { return s.items, nil }

func (s *someInactive) Activate(_ context.Context, chosen func(kind, name string) bool) error {
	var refused error
	s.items = slices.DeleteFunc(slices.Clone(s.items), func(o transfer.InactiveObject) bool {
		if chosen(o.Kind, o.Name) && strings.Contains(o.Name, "far") {
			refused = &Forbidden{Message: o.Name + " stays inactive"}
			return false
		}
		return chosen(o.Kind, o.Name)
	})
	return refused
}

// noneInactive has no inactive parts.
type noneInactive struct{}

func (noneInactive) List(context.Context) ([]transfer.InactiveObject, error) { return nil, nil }

func (noneInactive) Activate(context.Context, func(kind, name string) bool) error { return nil }

func TestInactive(t *testing.T) {
	h := serve(t, Options{})
	near := transfer.InactiveObject{APIVersion: "v1", Kind: "Extender", Name: "near", Calls: []string{"http://127.0.0.1"}}
	hook := transfer.InactiveObject{APIVersion: "v1", Kind: "Hook", Name: "near", Calls: []string{}}
	far := transfer.InactiveObject{APIVersion: "v1", Kind: "Hook", Name: "far", Calls: []string{}}
	h.attach(nil, nil, func(b *Backend) { b.Inactive = &someInactive{[]transfer.InactiveObject{near, hook, far}} })
	for _, step := range []struct {
		body   string
		code   int
		answer string
	}{
		{`{"kind":"Extender","name":"near"}`, http.StatusOK, `{"items":[{"apiVersion":"v1","kind":"Hook","name":"near","calls":[]},{"apiVersion":"v1","kind":"Hook","name":"far","calls":[]}]}`},
		{`{"kind":"Hook","name":"nothing"}`, http.StatusOK, `{"items":[{"apiVersion":"v1","kind":"Hook","name":"near","calls":[]},{"apiVersion":"v1","kind":"Hook","name":"far","calls":[]}]}`},
		{"", http.StatusForbidden, `{"message":"far stays inactive","details":[]}`},
		{`{"kind":1}`, http.StatusBadRequest, `{"message":"the request body: line 1: kind: want a string, not 1","details":[{"field":"kind","line":1,"column":9,"message":"want a string, not 1"}]}`},
		{`{"kinds":""}`, http.StatusBadRequest, `{"message":"the request body: line 1: kinds: unknown field \"kinds\", did you mean kind?","details":[{"field":"kinds","line":1,"column":2,"message":"unknown field \"kinds\", did you mean kind?"}]}`},
	} {
		a := h.do(http.MethodPost, "/api/v1/inactive/activate", step.body)
		want(t, step.body, a.StatusCode, step.code)
		want(t, step.body, strings.TrimSpace(a.body), step.answer)
	}
	want(t, "left", strings.TrimSpace(h.get("/api/v1/inactive").body), `{"items":[{"apiVersion":"v1","kind":"Hook","name":"far","calls":[]}]}`)
}

func TestNothingIsInactive(t *testing.T) {
	h := serve(t, Options{})
	want(t, "before the start", h.get("/api/v1/inactive").StatusCode, http.StatusServiceUnavailable)
	h.attach(nil, nil, func(b *Backend) { b.Inactive = noneInactive{} })
	want(t, "list", strings.TrimSpace(h.get("/api/v1/inactive").body), `{"items":[]}`)
}
