package server

import (
	"context"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/past/timeline"
)

// fakeTimeline remembers which moment it was asked for.
type fakeTimeline struct {
	Timeline
	asked timeline.At
}

func (f *fakeTimeline) Moment(_ context.Context, at timeline.At) (*timeline.Moment, error) {
	f.asked = at
	return &timeline.Moment{}, nil
}

func TestMomentInThePath(t *testing.T) {
	at := time.Date(2026, 11, 23, 7, 37, 35, 954_000_000, time.UTC)
	for path, wanted := range map[string]timeline.At{
		"12":                             {Moment: 12},
		"2026-11-23T07:37:35.954Z":       {Time: at},
		"2026-11-23T07%3A37%3A35.954Z":   {Time: at},
		"2026-11-23T07%3A37%3A35%2E954Z": {Time: at},
	} {
		t.Run(path, func(t *testing.T) {
			f := &fakeTimeline{}
			h := serve(t, Options{})
			h.attach(nil, nil, func(b *Backend) { b.Timeline = f })
			h.get("/api/v1/timeline/moments/" + path)
			want(t, "moment asked for", f.asked, wanted)
		})
	}
}
