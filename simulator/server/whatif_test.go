package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"kube-scheduler-simulator/scheduler/config"
	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/scheduler/shadow"
	"kube-scheduler-simulator/scheduler/whatif"
	"kube-scheduler-simulator/scheduler/whatif/capacity"
	"kube-scheduler-simulator/scheduler/whatif/fit"
	"kube-scheduler-simulator/simulator/autoscaling/dryrun"
	"kube-scheduler-simulator/simulator/past/timeline"
	"kube-scheduler-simulator/simulator/questions/autoscale"
	"kube-scheduler-simulator/simulator/questions/deschedule"
	"kube-scheduler-simulator/simulator/questions/disruption"
	"kube-scheduler-simulator/simulator/questions/drain"
	"kube-scheduler-simulator/simulator/questions/hypothesis"
	"kube-scheduler-simulator/simulator/questions/submit"
	"kube-scheduler-simulator/simulator/questions/why"
	"kube-scheduler-simulator/simulator/server/watch/watchtest"
)

// fakeHypotheses notes the question as JSON, and answers with err or with the same thing always.
type fakeHypotheses struct {
	asked string
	err   error
	// wait, if not nil, is called before the answer.
	wait func(context.Context)
}

func (f *fakeHypotheses) ask(ctx context.Context, q any) error {
	data, err := json.Marshal(q)
	if err != nil {
		return err
	}
	f.asked = string(data)
	if f.wait != nil {
		f.wait(ctx)
	}
	return errors.Join(f.err, ctx.Err())
}

func (f *fakeHypotheses) WhatIf(ctx context.Context, q hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error) {
	c := watchtest.Cycle("a", 1, result.Unschedulable)
	c.Hypothetical = true
	return &hypothesis.WhatIfAnswer{Grounds: hypothesis.Grounds{State: whatif.State{Nodes: 3, Pods: 5, ResourceVersion: "7"}}, Decisions: []explain.Explained{explain.With(c)}}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Fit(ctx context.Context, q hypothesis.Fit) (*hypothesis.FitAnswer, error) {
	return &hypothesis.FitAnswer{
		Answer: &fit.Answer{Incurable: []fit.Incurable{{Plugin: "VolumeZone", Reason: "zone", Nodes: []string{"b"}}}, Complete: true},
		Suggestions: []hypothesis.Suggestion{{
			Suggestion: fit.Suggestion{
				Kind: fit.KindNode, Text: "Uncordon a.", Nodes: []string{"a"}, SelectedNode: "a",
				Advice: explain.Advice{Steps: []explain.Statement{{Operands: explain.Uncordon{Node: "a", Others: []string{}}}}},
			},
			Changes:    []hypothesis.Change{{Delete: &hypothesis.Target{APIVersion: "v1", Kind: "Node", Name: "a"}}},
			Hypothesis: []hypothesis.Change{{Apply: hypothesis.Document("{}")}},
		}},
	}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Capacity(ctx context.Context, q hypothesis.Capacity) (*capacity.Answer, error) {
	return &capacity.Answer{Fits: 2, Nodes: []capacity.Node{{Name: "a", Count: 2}}, Stopped: []capacity.Stop{}, Resources: []capacity.Resource{}}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Copies(ctx context.Context, c hypothesis.Change) (*hypothesis.Copies, error) {
	return &hypothesis.Copies{Changes: []hypothesis.Change{{Apply: hypothesis.Document(`{"kind":"Node"}`)}}}, f.ask(ctx, c)
}

func (f *fakeHypotheses) Submit(ctx context.Context, q submit.Question) (*submit.Answers, error) {
	return &submit.Answers{
		APIVersion: submit.APIVersion, Kind: submit.ListKind, Items: []submit.Answer{}, NotJudged: []why.NotJudged{}, Summary: submit.Summary{Asks: map[string]string{}},
	}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Autoscale(ctx context.Context, q autoscale.Question) (*autoscale.Answer, error) {
	return &autoscale.Answer{
		APIVersion: autoscale.APIVersion, Kind: autoscale.Kind, Pods: []autoscale.Pod{}, NewNodes: []dryrun.NewNode{}, Pools: []dryrun.Pool{}, Nodes: []dryrun.Departure{}, NotJudged: []why.NotJudged{},
	}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Deschedule(ctx context.Context, q deschedule.Question) (*deschedule.Answer, error) {
	return &deschedule.Answer{
		APIVersion: deschedule.APIVersion, Kind: deschedule.Kind, Rounds: []deschedule.Round{}, Evictions: []deschedule.Eviction{}, Refused: []deschedule.Refused{}, Protected: []deschedule.Protected{},
		DryRun: []deschedule.DryRunEviction{}, Nodes: []deschedule.Node{}, Budgets: []disruption.Budget{}, NotJudged: []why.NotJudged{},
	}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Drain(ctx context.Context, q drain.Question) (*drain.Answer, error) {
	return &drain.Answer{APIVersion: drain.APIVersion, Kind: drain.Kind, Nodes: []drain.Node{}, Evictions: []drain.Eviction{}, Budgets: []drain.Budget{}, NotJudged: []why.NotJudged{}}, f.ask(ctx, q)
}

func (f *fakeHypotheses) Why(ctx context.Context, q why.Question) (*why.Answer, error) {
	return &why.Answer{APIVersion: why.APIVersion, Kind: why.Kind, Verdict: why.Fits}, f.ask(ctx, q)
}

func serveHypotheses(t *testing.T, f *fakeHypotheses, opts Options) *harness {
	t.Helper()
	h := serve(t, opts)
	h.attach(nil, nil, func(b *Backend) { b.Hypotheses = f })
	return h
}

// TestQuestionsArrive: a question arrives as it was sent, in JSON or YAML, and the answer has the contract's form.
func TestQuestionsArrive(t *testing.T) {
	for name, test := range map[string]struct{ path, body, asked, answer string }{
		"whatif": {
			path: "/api/v1/whatif",
			body: `{"pod":{"kind":"Pod"},"copies":2,"changes":[{"apply":{"kind":"Node"},"count":3},{"patch":{"apiVersion":"v1","kind":"Node","name":"a","patch":{"spec":{}}}},
				{"delete":{"apiVersion":"v1","kind":"Pod","namespace":"n","name":"p"}}],"configuration":"kind: K","profile":"batch","extenders":true}`,
			asked: `{"pod":{"kind":"Pod"},"changes":[{"apply":{"kind":"Node"},"count":3},{"patch":{"apiVersion":"v1","kind":"Node","name":"a","patch":{"spec":{}}}},` +
				`{"delete":{"apiVersion":"v1","kind":"Pod","namespace":"n","name":"p"}}],"configuration":"kind: K","profile":"batch","copies":2,"extenders":true}`,
			answer: `{"state":{"nodes":3,"pods":5,"resourceVersion":"7"},"decisions":[{"pod":{"namespace":"default","name":"pod-a","uid":"a"},"hypothetical":true,`,
		},
		"whatif in YAML": {
			path:   "/api/v1/whatif",
			body:   "podRef:\n  namespace: shop\n  name: web\n",
			asked:  `{"podRef":{"namespace":"shop","name":"web"}}`,
			answer: `{"state":`,
		},
		"null is absence": {
			path:   "/api/v1/whatif",
			body:   `{"pod":null,"podRef":{"namespace":"shop","name":"web"},"configuration":null,"changes":null}`,
			asked:  `{"podRef":{"namespace":"shop","name":"web"}}`,
			answer: `{"state":`,
		},
		"fit": {
			path:  "/api/v1/whatif/fit",
			body:  `{"podRef":{"namespace":"shop","name":"web"},"node":"a","limit":5}`,
			asked: `{"podRef":{"namespace":"shop","name":"web"},"node":"a","limit":5}`,
			answer: `{"state":{"nodes":0,"pods":0,"resourceVersion":""},"fits":false,"incurable":[{"plugin":"VolumeZone","reason":"zone","nodes":["b"]}],"complete":true,` +
				`"suggestions":[{"kind":"node","text":"Uncordon a.","steps":[{"kind":"uncordon","node":"a","others":[]}],"nodes":["a"],"selectedNode":"a",` +
				`"changes":[{"delete":{"apiVersion":"v1","kind":"Node","name":"a"}}],"hypothesis":[{"apply":{}}]}]}`,
		},
		"capacity": {
			path:   "/api/v1/whatif/capacity",
			body:   `{"podRef":{"namespace":"shop","name":"web"},"limit":10,"nodesNeeded":{"like":"a","for":9}}`,
			asked:  `{"podRef":{"namespace":"shop","name":"web"},"limit":10,"nodesNeeded":{"like":"a","for":9}}`,
			answer: `{"state":{"nodes":0,"pods":0,"resourceVersion":""},"fits":2,"nodes":[{"name":"a","count":2}],"stopped":[],"complete":false,"resources":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeHypotheses{}
			answer := serveHypotheses(t, f, Options{}).do(http.MethodPost, test.path, test.body)
			want(t, "status", answer.StatusCode, http.StatusOK)
			want(t, "question", f.asked, test.asked)
			if !strings.HasPrefix(answer.body, test.answer) {
				t.Errorf("the answer is %s", answer.body)
			}
		})
	}
}

// TestDecisionsAreExplained: a hypothetical decision has what a live one has.
func TestDecisionsAreExplained(t *testing.T) {
	answer := serveHypotheses(t, &fakeHypotheses{}, Options{}).do(http.MethodPost, whatifPath, "podRef: {name: web}")
	var got struct {
		Decisions []struct {
			Hypothetical bool
			Explanation  struct{ Sentence string }
		}
	}
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Decisions) != 1 || !got.Decisions[0].Hypothetical || got.Decisions[0].Explanation.Sentence == "" {
		t.Errorf("the answer is %s", answer.body)
	}
}

// TestBadQuestions: whatever is wrong with a body is said, and nothing is asked.
func TestBadQuestions(t *testing.T) {
	for name, test := range map[string]struct {
		body    string
		code    int
		message string
	}{
		"nothing":            {"", http.StatusBadRequest, "the body is empty"},
		"no YAML":            {"a: [", http.StatusBadRequest, "the request body: line 1: not YAML: did not find expected node content"},
		"a list":             {"[]", http.StatusBadRequest, "the request body: line 1: want a mapping with the fields changes, configuration, copies, extenders, kubernetesVersion, pod, podRef, profile, not a list"},
		"an unknown field":   {`{"podd":{}}`, http.StatusBadRequest, `the request body: line 1: podd: unknown field "podd", did you mean pod?`},
		"an unknown change":  {`{"changes":[{"create":{}}]}`, http.StatusBadRequest, `the request body: line 1: changes[0].create: unknown field "create"; the fields are apply, count, delete, patch`},
		"a wrong type":       {`{"copies":"two"}`, http.StatusBadRequest, `the request body: line 1: copies: want a whole number, not "two"`},
		"a number for a pod": {`{"pod":1}`, http.StatusBadRequest, "the request body: line 1: pod: a document is an object, or a string with YAML or JSON, not 1"},
		"an empty pod":       {`{"pod":""}`, http.StatusBadRequest, "the request body: line 1: pod: a document is empty"},
		"two objects":        {`{} {}`, http.StatusBadRequest, "the request body: line 1: not YAML: did not find expected <document start>; not JSON: invalid character '{' after top-level value"},
		"two documents":      {"copies: 1\n---\ncopies: 2\n", http.StatusBadRequest, "the request body: line 3: a second document begins here; want one"},
		"too many values":    {"[" + strings.Repeat("1,", maxValues) + "1]", http.StatusRequestEntityTooLarge, "the request body: it may have more than 150000 values, the limit"},
		"too large":          {strings.Repeat(" ", maxAPIBody+1), http.StatusRequestEntityTooLarge, "the request body is larger than 3 MiB, the limit of this server"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeHypotheses{}
			answer := serveHypotheses(t, f, Options{}).do(http.MethodPost, whatifPath, test.body)
			want(t, "status", answer.StatusCode, test.code)
			want(t, "message", answer.message(t), test.message)
			want(t, "question", f.asked, "")
		})
	}
}

// TestErrorsOfQuestions: each error of the backend has its answer.
func TestErrorsOfQuestions(t *testing.T) {
	for name, test := range map[string]struct {
		err   error
		code  int
		retry string
		body  string
	}{
		"a refusal": {
			err:  &hypothesis.Refused{Message: "pod: no", Mistakes: []config.Mistake{{Field: "pod.spec", Message: "no", Line: 3}}},
			code: http.StatusUnprocessableEntity,
			body: `{"message":"pod: no","details":[{"field":"pod.spec","line":3,"message":"no"}]}`,
		},
		"a pod that does not exist": {
			err:  &whatif.NotFoundError{ObjectRef: whatif.ObjectRef{Namespace: "shop", Name: "web"}},
			code: http.StatusNotFound,
			body: `{"message":"the state has no  \"shop/web\"","details":[]}`,
		},
		"too many questions": {
			err:  whatif.ErrBusy,
			code: http.StatusServiceUnavailable, retry: "1",
			body: `{"message":"32 questions are being answered already; ask again","details":[]}`,
		},
		"no scheduler": {
			err:  config.ErrNotRunning,
			code: http.StatusServiceUnavailable, retry: "1",
			body: `{"message":"` + config.ErrNotRunning.Error() + `","details":[]}`,
		},
		"a plugin that panics": {
			err:  &whatif.PanicError{Message: "oops"},
			code: http.StatusInternalServerError,
			body: `{"message":"the scheduler panicked: oops","details":[]}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := serveHypotheses(t, &fakeHypotheses{err: test.err}, Options{})
			for _, path := range []string{"/api/v1/whatif", "/api/v1/whatif/fit", "/api/v1/whatif/capacity"} {
				answer := h.do(http.MethodPost, path, `{"podRef":{"namespace":"shop","name":"web"}}`)
				want(t, path, answer.StatusCode, test.code)
				want(t, "Retry-After", answer.Header.Get("Retry-After"), test.retry)
				want(t, "body", strings.TrimSpace(answer.body), test.body)
			}
		})
	}
}

func TestSlowQuestionsEnd(t *testing.T) {
	f := &fakeHypotheses{wait: func(ctx context.Context) { <-ctx.Done() }}
	answer := serveHypotheses(t, f, Options{questionTime: time.Millisecond}).do(http.MethodPost, whatifPath, "{}")
	want(t, "status", answer.StatusCode, http.StatusServiceUnavailable)
	want(t, "Retry-After", answer.Header.Get("Retry-After"), "")
	want(t, "message", answer.message(t), "the question takes too long; ask for less")
}

// TestQuestionsEndWithTheirClients: nobody works on an answer that nobody reads.
func TestQuestionsEndWithTheirClients(t *testing.T) {
	for _, q := range []struct{ method, path, body string }{
		{http.MethodPost, whatifPath, "{}"}, {http.MethodPost, whatifPath + "/fit", "{}"}, {http.MethodPost, whatifPath + "/capacity", "{}"},
		{http.MethodPost, whatifPath + "/copies", "{}"}, {http.MethodPost, shadowPath, `{"configuration":{}}`},
		{http.MethodPost, apiPrefix + "/v1/lessons/a/steps/b", ""}, {http.MethodGet, apiPrefix + "/v1/timeline/moments/1", ""},
	} {
		t.Run(q.path, func(t *testing.T) {
			asked, ended := make(chan struct{}), make(chan struct{})
			w := waits(func(ctx context.Context) {
				close(asked)
				<-ctx.Done()
				close(ended)
			})
			h := serve(t, Options{})
			h.attach(nil, nil, func(b *Backend) {
				b.Hypotheses, b.Shadow, b.Lessons, b.Timeline = &fakeHypotheses{wait: w}, waitingShadow{waits: w}, waitingLessons{waits: w}, waitingTimeline{waits: w}
			})
			ctx, leave := context.WithCancel(t.Context())
			request, err := http.NewRequestWithContext(ctx, q.method, h.url+q.path, strings.NewReader(q.body))
			if err != nil {
				t.Fatal(err)
			}
			left := make(chan error, 1)
			go func() {
				_, err := plainClient.Do(request)
				left <- err
			}()
			<-asked
			leave()
			if err := <-left; !errors.Is(err, context.Canceled) {
				t.Errorf("the client got %v", err)
			}
			select {
			case <-ended:
			case <-time.After(patience):
				t.Error("the question goes on")
			}
		})
	}
}

// waits is called in place of an answer.
type waits func(context.Context)

type waitingShadow struct {
	Shadow
	waits
}

func (w waitingShadow) Draft(ctx context.Context, _ []byte, _ int, _ time.Duration) (*shadow.Draft, error) {
	w.waits(ctx)
	return nil, ctx.Err()
}

type waitingLessons struct {
	Lessons
	waits
}

func (w waitingLessons) Do(ctx context.Context, _, _ string) error {
	w.waits(ctx)
	return ctx.Err()
}

type waitingTimeline struct {
	Timeline
	waits
}

func (w waitingTimeline) Moment(ctx context.Context, _ timeline.At) (*timeline.Moment, error) {
	w.waits(ctx)
	return nil, ctx.Err()
}

// TestOnlySoManyQuestionsAtOnce: further ones are told to come again.
func TestOnlySoManyQuestionsAtOnce(t *testing.T) {
	release, asked := make(chan struct{}), make(chan struct{}, maxQuestions)
	f := &fakeHypotheses{}
	h := serve(t, Options{})
	h.attach(nil, nil, func(b *Backend) { b.Hypotheses = waitingHypotheses{f, asked, release} })
	answers := make(chan int, maxQuestions)
	for range maxQuestions {
		go func() { answers <- h.do(http.MethodPost, whatifPath, "{}").StatusCode }()
	}
	for range maxQuestions {
		<-asked
	}
	busy := h.do(http.MethodPost, whatifPath, "{}")
	want(t, "status", busy.StatusCode, http.StatusServiceUnavailable)
	want(t, "Retry-After", busy.Header.Get("Retry-After"), "1")
	close(release)
	for range maxQuestions {
		want(t, "status of the others", <-answers, http.StatusOK)
	}
}

// waitingHypotheses lets questions wait.
type waitingHypotheses struct {
	*fakeHypotheses
	asked, release chan struct{}
}

func (w waitingHypotheses) WhatIf(context.Context, hypothesis.WhatIf) (*hypothesis.WhatIfAnswer, error) {
	w.asked <- struct{}{}
	<-w.release
	return &hypothesis.WhatIfAnswer{}, nil
}

func TestNoHypotheses(t *testing.T) {
	h := serve(t, Options{})
	h.attach(nil, nil)
	want(t, "whatif", h.do(http.MethodPost, whatifPath, "{}").StatusCode, http.StatusNotImplemented)
	want(t, "shadow", h.get(shadowPath).StatusCode, http.StatusNotImplemented)
}
