package server

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"k8s.io/client-go/rest"

	"kube-scheduler-simulator/simulator/host/operation"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

func TestReset(t *testing.T) {
	for _, tc := range []struct {
		name  string
		reset func(context.Context) (Reset, error)
		code  int
		body  string
	}{
		{"done", func(context.Context) (Reset, error) { return Reset{Deleted: 7, DurationSeconds: 0.5}, nil },
			http.StatusOK, `{"deleted":7,"durationSeconds":0.5}` + "\n"},
		{"another is in progress", func(context.Context) (Reset, error) { return Reset{}, &operation.Busy{With: operation.Import} },
			http.StatusConflict, `{"message":"an import is in progress; try again when it has ended","details":[]}` + "\n"},
		{"not this one", func(context.Context) (Reset, error) { return Reset{}, &Forbidden{Message: "not this one"} },
			http.StatusForbidden, `{"message":"not this one","details":[]}` + "\n"},
		{"not ours", nil,
			http.StatusForbidden, `{"message":"the simulator does not own this cluster, so it cannot reset it","details":[]}` + "\n"},
		{"failed", func(context.Context) (Reset, error) { return Reset{}, errors.New("the disk is gone") },
			http.StatusInternalServerError, `{"message":"the disk is gone","details":[]}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := serve(t, Options{})
			if err := h.SetBackend(Backend{ClientConfig: &rest.Config{Host: "127.0.0.1:1"}, Results: &watchtest.Results{}, Configuration: &fakeConfiguration{}, Reset: tc.reset}); err != nil {
				t.Fatal(err)
			}
			a := h.do(http.MethodPut, "/api/v1/reset", "")
			want(t, "code", a.StatusCode, tc.code)
			want(t, "body", a.body, tc.body)
		})
	}
}
