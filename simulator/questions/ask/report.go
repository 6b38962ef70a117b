package ask

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"kube-scheduler-simulator/scheduler/result"
)

type Decision struct {
	Namespace, Name string
	// Attempt counts from 1; 0 is the newest.
	Attempt int
}

// ParseDecision reads [NAMESPACE/]NAME[@ATTEMPT].
func ParseDecision(text, namespace string) (Decision, error) {
	pod, number, numbered := strings.Cut(text, "@")
	d := Decision{Namespace: namespace, Name: pod}
	if before, after, both := strings.Cut(pod, "/"); both {
		d.Namespace, d.Name = before, after
	}
	if numbered {
		attempt, err := strconv.Atoi(number)
		if err != nil || attempt < 1 {
			return Decision{}, fmt.Errorf("%q: attempts count from 1, as in %s@1", text, pod)
		}
		d.Attempt = attempt
	}
	if d.Name == "" || d.Namespace == "" || strings.Contains(d.Name, "/") {
		return Decision{}, fmt.Errorf("%q is no decision: want [NAMESPACE/]NAME[@ATTEMPT]", text)
	}
	return d, nil
}

// Report returns a decision as an HTML file that opens without a server, and the decision's
// summary. With other, the file compares both.
func (c *Client) Report(ctx context.Context, decision Decision, other *Decision, redact bool) (file []byte, of *result.Summary, err error) {
	if of, err = c.find(ctx, decision); err != nil {
		return nil, nil, err
	}
	query := url.Values{"format": {"html"}}
	if redact {
		query.Set("redact", "true")
	}
	if other != nil {
		with, err := c.find(ctx, *other)
		if err != nil {
			return nil, nil, err
		}
		query.Set("other", fmt.Sprintf("%s/%d", with.Pod.UID, with.Attempt))
	}
	path := fmt.Sprintf("/api/v1/results/%s/%d?%s", url.PathEscape(string(of.Pod.UID)), of.Attempt, query.Encode())
	file, err = c.fetch(ctx, http.MethodGet, path, "text/html", nil)
	return file, of, err
}

// RunReport returns the runs of a scenario as an HTML file that opens without a server.
func (c *Client) RunReport(ctx context.Context, id string) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(id)+"?format=html", "text/html", nil)
}

// LessonReport returns the outcome of a lesson as an HTML file that opens without a server. The
// client's simulator is the lesson's sandbox.
func (c *Client) LessonReport(ctx context.Context, id, language string) ([]byte, error) {
	return c.fetch(ctx, http.MethodGet, "/api/v1/lessons/"+url.PathEscape(id)+"/result?"+url.Values{"format": {"html"}, "lang": {language}}.Encode(), "text/html", nil)
}

// find returns the attempt of the pod that has the name now, or of the last one that had it.
func (c *Client) find(ctx context.Context, d Decision) (*result.Summary, error) {
	var page result.Page
	newest := url.Values{"namespace": {d.Namespace}, "name": {d.Name}, "limit": {"1"}}
	if err := c.do(ctx, http.MethodGet, "/api/v1/results?"+newest.Encode(), nil, &page); err != nil {
		return nil, err
	}
	if len(page.Items) == 0 {
		return nil, fmt.Errorf("%s keeps no decision about %s/%s", c.Name(), d.Namespace, d.Name)
	}
	of := page.Items[0]
	if d.Attempt > 0 {
		of.Attempt = d.Attempt
	}
	return &of, nil
}
