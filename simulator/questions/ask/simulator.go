package ask

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"

	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/batch/kueue/admission"
	"kube-scheduler-simulator/simulator/batch/kueue/suggest"
	"kube-scheduler-simulator/simulator/questions/upgrade"
	"kube-scheduler-simulator/simulator/scenarios/runs"
)

// List returns the objects of a kind that Kubernetes defines, in a namespace of the simulated cluster; of
// all namespaces if it is empty.
func (c *Client) List(ctx context.Context, gvk schema.GroupVersionKind, namespace string) ([]runtime.Object, error) {
	all, err := scheme.Scheme.New(gvk.GroupVersion().WithKind(gvk.Kind + "List"))
	if err != nil {
		return nil, err
	}
	path := "/kubernetes/apis/" + gvk.GroupVersion().String()
	if gvk.Group == "" {
		path = "/kubernetes/api/" + gvk.Version
	}
	if namespace != "" {
		path += "/namespaces/" + url.PathEscape(namespace)
	}
	plural, _ := meta.UnsafeGuessKindToResource(gvk)
	if err := c.do(ctx, http.MethodGet, path+"/"+plural.Resource, nil, all); err != nil {
		return nil, err
	}
	return meta.ExtractList(all)
}

// Decisions returns a page of the decisions that the simulator keeps. It asks by the fields that agents set;
// the others of q are empty.
func (c *Client) Decisions(ctx context.Context, q result.Query) (*result.Page, error) {
	query := url.Values{}
	set := func(name, value string) {
		if value != "" {
			query.Set(name, value)
		}
	}
	set("namespace", q.Namespace)
	set("name", q.Name)
	set("outcome", string(q.Outcome))
	set("q", q.Text)
	set("plugin", q.Plugin)
	set("reason", q.Reason)
	set("node", q.Node)
	set("continue", q.Continue)
	if !q.Since.IsZero() {
		set("since", q.Since.Format(time.RFC3339Nano))
	}
	if q.Limit > 0 {
		set("limit", strconv.Itoa(q.Limit))
	}
	set("counts", strconv.FormatBool(q.Counts))
	page := &result.Page{}
	err := c.do(ctx, http.MethodGet, "/api/v1/results?"+query.Encode(), nil, page)
	return page, err
}

// Waiting returns the workloads that wait in Kueue's queues. off says why nothing is admitted; it is
// empty if workloads are.
func (c *Client) Waiting(ctx context.Context) (all []admission.Pending, off string, err error) {
	var answer struct {
		State   string `json:"state"`
		Message string `json:"message"`
		View    *struct {
			Pending []admission.Pending `json:"pending"`
		} `json:"view"`
	}
	if err := c.do(ctx, http.MethodGet, "/api/v1/kueue", nil, &answer); err != nil {
		return nil, "", err
	}
	if answer.View == nil {
		if answer.Message == "" {
			answer.Message = "Kueue is " + answer.State + " in " + c.Name() + "; start it with --kueue"
		}
		return nil, answer.Message, nil
	}
	return answer.View.Pending, "", nil
}

// Suggest finds what would let a workload of Kueue in.
func (c *Client) Suggest(ctx context.Context, workload types.NamespacedName) (suggest.Answer, error) {
	var answer suggest.Answer
	body, err := json.Marshal(map[string]string{"namespace": workload.Namespace, "workload": workload.Name})
	if err == nil {
		err = c.do(ctx, http.MethodPost, "/api/v1/kueue/whatif", body, &answer)
	}
	return answer, err
}

// StartRun begins runs of a scenario.
func (c *Client) StartRun(ctx context.Context, q runs.Request) (*runs.Entry, error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, err
	}
	e := &runs.Entry{}
	return e, c.do(ctx, http.MethodPost, "/api/v1/runs", body, e)
}

// Run returns runs that were begun.
func (c *Client) Run(ctx context.Context, id string) (*runs.Entry, error) {
	e := &runs.Entry{}
	return e, c.do(ctx, http.MethodGet, "/api/v1/runs/"+url.PathEscape(id), nil, e)
}

// upgradeLook is the pause between two looks at a comparison.
const upgradeLook = 200 * time.Millisecond

// Upgrade compares the decisions of two versions about the pods of the simulated cluster. If ctx ends, the comparison is canceled.
func (c *Client) Upgrade(ctx context.Context, q upgrade.Question, progress func(upgrade.Progress)) (*upgrade.Answer, error) {
	const path = "/upgrade"
	started, err := post[upgrade.Job](ctx, c, path, q)
	if err != nil {
		return nil, err
	}
	look := time.NewTicker(upgradeLook)
	defer look.Stop()
	for {
		var state struct {
			Latest *upgrade.Job `json:"latest"`
		}
		if err := c.do(ctx, http.MethodGet, "/api/v1"+path, nil, &state); err != nil && ctx.Err() == nil {
			return nil, err
		}
		switch job := state.Latest; {
		case ctx.Err() != nil:
			_, err := c.fetch(context.WithoutCancel(ctx), http.MethodDelete, "/api/v1"+path, "application/json", nil)
			return nil, errors.Join(context.Cause(ctx), err)
		case job == nil || job.ID != started.ID || job.State == upgrade.Canceled:
			return nil, fmt.Errorf("the comparison in %s was canceled", c.Name())
		case job.State == upgrade.Failed:
			return nil, errors.New(job.Error)
		case job.State == upgrade.Ended:
			return job.Answer, nil
		case progress != nil:
			progress(job.Progress)
		}
		select {
		case <-look.C:
		case <-ctx.Done():
		}
	}
}
