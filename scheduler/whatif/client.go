package whatif

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// newClient returns the client of the plugins, and its configuration. It reads from the cluster of config, if there is
// one. It swallows writes: they succeed, and change nothing.
func newClient(config *rest.Config) (kubernetes.Interface, *rest.Config, error) {
	if config == nil {
		config = &rest.Config{Host: "http://none.invalid", Transport: swallow{}}
	} else {
		config = rest.CopyConfig(config)
		config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return swallow{inner} })
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making the client of hypothetical decisions: %w", err)
	}
	return client, config, nil
}

// swallow answers requests that could change the cluster. Without reads it refuses the others.
type swallow struct{ reads http.RoundTripper }

// succeeded is the answer to a write. Kubernetes' client takes it in place of any object.
const succeeded = `{"apiVersion":"v1","kind":"Status","status":"Success"}`

func (s swallow) RoundTrip(request *http.Request) (*http.Response, error) {
	switch {
	case request.Method != http.MethodGet && request.Method != http.MethodHead:
		if request.Body != nil {
			_ = request.Body.Close()
		}
		return &http.Response{
			StatusCode: http.StatusOK, Request: request, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(succeeded)),
		}, nil
	case s.reads == nil:
		return nil, fmt.Errorf("a hypothetical decision has no cluster to read %s from", request.URL.Path)
	}
	return s.reads.RoundTrip(request)
}
