package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/labstack/echo/v4"
)

// FuzzResultsQuery: a query is either refused with the name of a parameter, or within the
// bounds.
func FuzzResultsQuery(f *testing.F) {
	for _, query := range []string{
		"", "namespace=default&name=web&uid=u&outcome=scheduled&limit=10&continue=7", "limit=0", "limit=-1", "limit=5001", "limit=9223372036854775808", "limit=1e3",
		"outcome=nothing", "outcome=", "limit=1&limit=x", "%zz", "limit=%31", ";", "continue=%00", "uid=%2f..%2f", "a[]=1&limit=５",
	} {
		f.Add(query)
	}
	e := echo.New()
	f.Fuzz(func(t *testing.T, query string) {
		r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: "/api/v1/results", RawQuery: query}, Header: http.Header{}}
		q, err := parseQuery(e.NewContext(r, httptest.NewRecorder()))
		if err == nil {
			if q.Limit < 0 || q.Limit > maxLimit || q.Outcome != "" && !q.Outcome.Valid() {
				t.Errorf("accepted as %+v", q)
			}
			return
		}
		refused, ok := err.(*apiError)
		if !ok || refused.Code != http.StatusBadRequest || len(refused.Details) == 0 || refused.Details[0].Field == "" {
			t.Errorf("refused with %#v", err)
		}
	})
}
