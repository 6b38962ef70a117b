package mirror

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
)

// refusedError is a request that was not sent. It is a bug in this package.
type refusedError struct{ method, path, why string }

func (e *refusedError) Error() string {
	return fmt.Sprintf("refused to send %s %s to the source: %s", e.method, e.path, e.why)
}

// readOnly is the only way to the source. It lets through requests that only read: get, list and
// watch, no secrets, and no subresources, as some of those act on a GET.
type readOnly struct {
	next http.RoundTripper
	info *request.RequestInfoFactory
}

var _ http.RoundTripper = (*readOnly)(nil)

// OnlyReading returns a copy of config whose clients can only read, and cannot read secrets.
func OnlyReading(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &readOnly{next: next, info: &request.RequestInfoFactory{
			APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api"),
		}}
	})
	return config
}

var (
	readingVerbs = sets.New("get", "list", "watch")
	// withheld are resources of any API group that the mirror never reads.
	withheld = sets.New("secrets")
	// These paths tell which APIs a cluster serves.
	known = sets.New("/api", "/apis", "/version", "/version/")
)

// RoundTrip sends a request, or refuses to.
func (r *readOnly) RoundTrip(q *http.Request) (*http.Response, error) {
	if why := r.refuses(q); why != "" {
		if q.Body != nil {
			_ = q.Body.Close()
		}
		return nil, &refusedError{method: q.Method, path: q.URL.Path, why: why}
	}
	return r.next.RoundTrip(q)
}

func (r *readOnly) refuses(q *http.Request) string {
	if q.Method != http.MethodGet {
		return "the source is only read"
	}
	if q.Header.Get("Upgrade") != "" {
		return "upgraded connections are not read-only"
	}
	info, err := r.info.NewRequestInfo(q)
	switch {
	case err != nil:
		return err.Error()
	case !info.IsResourceRequest:
		if known.Has(info.Path) || isGroupVersion(info.Path) {
			return ""
		}
		return "the path is neither an object nor discovery"
	case withheld.Has(info.Resource):
		return "secrets are never read"
	case info.Subresource != "":
		return "subresources are not read"
	case !readingVerbs.Has(info.Verb):
		return "the source is only read"
	}
	return ""
}
