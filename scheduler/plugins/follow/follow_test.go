package follow

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
)

func pod(version string) *v1.Pod {
	p := st.MakePod().Name("p").UID("uid").Obj()
	p.ResourceVersion = version
	return p
}

// TestWait: a cycle that an event woke waits until the plugin's handlers have seen the event.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		name string
		// events: a number is seen by the handlers, one with ! wakes a pod.
		events []string
		// later is seen by the handlers after 20 ms.
		later string
		want  time.Duration
	}{
		{name: "nothing happened"},
		{name: "the handlers were first", events: []string{"2", "2!"}},
		{name: "the handlers are late", events: []string{"1", "2!"}, later: "2", want: 20 * time.Millisecond},
		{name: "two events, one of them late", events: []string{"1!", "2!", "1"}, later: "2", want: 20 * time.Millisecond},
		{name: "the handlers skip the event", events: []string{"2!"}, later: "3", want: patience},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := NewView()
				for _, e := range c.events {
					version, wakes := e[:1], len(e) > 1
					if !wakes {
						v.note(pod(version))
						continue
					}
					if hint, err := v.Wake(klog.Background(), nil, nil, pod(version)); hint != fwk.Queue || err != nil {
						t.Errorf("hint %v, %v", hint, err)
					}
				}
				if c.later != "" {
					time.AfterFunc(20*time.Millisecond, func() { v.note(pod(c.later)) })
				}
				start := time.Now()
				if err := v.Wait(t.Context()); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != c.want {
					t.Errorf("waited %v, want %v", took, c.want)
				}
				start = time.Now()
				if err := v.Wait(t.Context()); err != nil || time.Since(start) != 0 {
					t.Errorf("the second wait took %v: %v", time.Since(start), err)
				}
				time.Sleep(time.Second)
			})
		})
	}
}

func TestADeletionThatTheWatchMissedIsAnEvent(t *testing.T) {
	v := NewView()
	tombstone := cache.DeletedFinalStateUnknown{Key: "p", Obj: pod("4")}
	if _, err := v.Wake(klog.Background(), nil, tombstone, nil); err != nil || v.behind() == nil {
		t.Errorf("not awaited: %v", err)
	}
}

func TestTheViewForgetsOldEvents(t *testing.T) {
	v := NewView()
	for i := range 3 * remembered {
		p := pod("1")
		p.UID = types.UID(fmt.Sprint(i))
		v.note(p)
	}
	if len(v.handled) != remembered || len(v.ring) != remembered {
		t.Errorf("it remembers %d events in a ring of %d", len(v.handled), len(v.ring))
	}
}

// TestWaitKnowsTheObjectsOfTheStart: a handler may take its time with the objects that exist
// already.
func TestWaitKnowsTheObjectsOfTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		informer := cache.NewSharedIndexInformer(source(*pod("1")), &v1.Pod{}, 0, nil)
		v := NewView()
		var seen []bool
		err := Follow(v, informer, Handlers[*v1.Pod]{Added: func(_ *v1.Pod, initially bool) {
			time.Sleep(time.Second)
			seen = append(seen, initially)
		}})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			informer.RunWithContext(ctx)
		}()
		if err := v.Wait(ctx); err != nil {
			t.Error(err)
		}
		if len(seen) != 1 || !seen[0] {
			t.Errorf("handled %v", seen)
		}
		cancel()
		<-ended
	})
}

func TestWaitGivesUpOnObjectsThatNobodyLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := NewView()
		if err := Follow(v, cache.NewSharedIndexInformer(source(), &v1.Pod{}, 0, nil), Handlers[*v1.Pod]{}); err != nil {
			t.Fatal(err)
		}
		if err := v.Wait(t.Context()); err == nil {
			t.Error("no error")
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := v.Wait(ctx); err != context.Canceled {
			t.Errorf("%v", err)
		}
	})
}

// source lists the pods and has no events.
func source(pods ...v1.Pod) cache.ListerWatcher {
	return &cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: pods}, nil
		},
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				return nil, errors.New("the reader lists instead")
			}
			return watch.NewFake(), nil
		},
	}
}
