package supervisor

import "kube-scheduler-simulator/scheduler/result"

// Waiting says where a pod waits in the current scheduler's queue; see scheduler.Scheduler.Waiting.
func (s *Scheduler) Waiting(of result.Pod) *result.QueueWait {
	current, err := s.running()
	if err != nil {
		return nil
	}
	return current.Waiting(of)
}

// TryNow lets the current scheduler try a waiting pod now; see scheduler.Scheduler.TryNow.
func (s *Scheduler) TryNow(of result.Pod) bool {
	current, err := s.running()
	return err == nil && current.TryNow(of)
}
