package watch

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
)

// TestAWatchThatTheHubEndsIsNoError: the reflector would print it while the simulator stops.
func TestAWatchThatTheHubEndsIsNoError(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		stop()
		<-r.Context().Done()
	}))
	defer server.Close()
	client, err := NewClient(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	source := &apiSource{client: client, key: feedKey{GroupVersionResource: schema.GroupVersionResource{Version: "v1", Resource: "nodes"}}}
	if _, err := source.WatchWithContext(ctx, metav1.ListOptions{}); !errors.Is(err, io.EOF) {
		t.Errorf("the watch ended with %v, want io.EOF", err)
	}
}
