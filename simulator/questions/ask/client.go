package ask

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
)

type Client struct {
	base  *url.URL
	token string
}

var _ Target = (*Client)(nil)

// NewClient returns a client of the simulator at an address such as http://127.0.0.1:1212. token
// may be empty. It makes no request.
func NewClient(address, token string) (*Client, error) {
	base, err := url.Parse(strings.TrimSuffix(address, "/"))
	if err != nil || base.Scheme != "http" && base.Scheme != "https" || base.Host == "" {
		return nil, fmt.Errorf("the address of a simulator is a URL such as http://127.0.0.1:1212, not %q", address)
	}
	return &Client{base: base, token: token}, nil
}

func (c *Client) Name() string { return "the simulator at " + c.base.String() }

func (c *Client) Node(ctx context.Context, name string) ([]byte, error) {
	var node json.RawMessage
	err := c.do(ctx, http.MethodGet, "/kubernetes/api/v1/nodes/"+url.PathEscape(name), nil, &node)
	return node, err
}

// Ready returns an error that says why the simulator does not schedule. With alive, an answer is
// enough.
func (c *Client) Ready(ctx context.Context, alive bool) error {
	path := "/readyz"
	if alive {
		path = "/healthz"
	}
	_, err := c.fetch(ctx, http.MethodGet, path, "application/json", nil)
	return err
}

func (c *Client) WhatIf(ctx context.Context, q hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error) {
	return post[hypothesis.WhatIfAnswer](ctx, c, "/whatif", q)
}

func (c *Client) Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error) {
	return post[hypothesis.FitAnswer](ctx, c, "/whatif/fit", q)
}

func (c *Client) Capacity(ctx context.Context, q hypothesis.Capacity) (*capacity.Answer, error) {
	return post[capacity.Answer](ctx, c, "/whatif/capacity", q)
}

func (c *Client) Why(ctx context.Context, q why.Question) (*why.Answer, error) {
	return post[why.Answer](ctx, c, "/why", q)
}

func (c *Client) Submit(ctx context.Context, q submit.Question) (*submit.Answers, error) {
	return post[submit.Answers](ctx, c, "/submit", q)
}

func (c *Client) Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error) {
	return post[autoscale.Answer](ctx, c, "/autoscale", q)
}

func (c *Client) Drain(ctx context.Context, q drain.Question) (*drain.Answer, error) {
	return post[drain.Answer](ctx, c, "/drain", q)
}

func (c *Client) Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error) {
	return post[deschedule.Answer](ctx, c, "/deschedule", q)
}

func post[Answer any](ctx context.Context, c *Client, route string, question any) (*Answer, error) {
	body, err := json.Marshal(question)
	if err != nil {
		return nil, fmt.Errorf("encoding the question: %w", err)
	}
	answer := new(Answer)
	if err := c.do(ctx, http.MethodPost, "/api/v1"+route, body, answer); err != nil {
		return nil, err
	}
	return answer, nil
}

// maxAnswer bounds an answer. A decision about 5,000 nodes has about 1 MiB.
const maxAnswer = 1 << 30

func (c *Client) do(ctx context.Context, method, path string, body []byte, into any) error {
	data, err := c.fetch(ctx, method, path, "application/json", body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("the answer of %s cannot be read: %w", c.Name(), err)
	}
	return nil
}

// fetch returns an error for an answer that is one.
func (c *Client) fetch(ctx context.Context, method, path, accept string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", accept)
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("%s cannot be reached: %w; start it, or ask a file with --state", c.Name(), err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", c.Name(), err)
	}
	if response.StatusCode/100 != 2 {
		return nil, c.refusal(response, data)
	}
	return data, nil
}

// Refusal is an error answer of a simulator.
type Refusal struct {
	// Status is the HTTP status.
	Status  int
	Message string
	// Details name the wrong fields of what was asked.
	Details []config.Mistake
}

func (r *Refusal) Error() string { return r.Message }

// refusal returns the message of an error answer.
func (c *Client) refusal(response *http.Response, data []byte) error {
	var answer struct {
		Message string           `json:"message"`
		Details []config.Mistake `json:"details"`
	}
	switch err := json.Unmarshal(data, &answer); {
	case response.StatusCode == http.StatusUnauthorized:
		return fmt.Errorf("%s wants its token: name the file with --token-file", c.Name())
	case err != nil || answer.Message == "":
		return fmt.Errorf("%s answers %s", c.Name(), response.Status)
	}
	for _, mistake := range answer.Details {
		if !strings.Contains(answer.Message, mistake.Message) {
			answer.Message += "; " + mistake.String()
		}
	}
	return &Refusal{Status: response.StatusCode, Message: answer.Message, Details: answer.Details}
}
