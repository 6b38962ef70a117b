package app

import (
	"context"

	"kube-scheduler-simulator/simulator/lesson"
	"kube-scheduler-simulator/simulator/lesson/live"
)

// Start the answers to hypotheses first.
func (s *simulator) startLessons() error {
	cluster, err := s.lessonCluster()
	if err != nil {
		return err
	}
	edits := s.timeline.Edits
	if !s.timeline.Records() {
		edits = nil
	}
	s.classroom, err = lesson.NewClassroom(s.prepared.lessons, s.options.Lesson, cluster, edits)
	if err != nil {
		return err
	}
	s.onStopOf("the exercises", 0, func(ctx context.Context) error { return within(ctx, s.classroom.Stop) })
	return nil
}

func (s *simulator) lessonCluster() (*live.Cluster, error) {
	return live.New(live.Options{
		ClientConfig: s.controlPlane.ClientConfig(), Results: s.store, Queues: s.queues.Queues, Engine: s.hypotheses.engine,
		Configure: s.configureFrom, Doing: s.queueing.doing,
	})
}
