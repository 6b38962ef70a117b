// Package watchfilter changes and leaves out the events of a watch. It imports nothing of ours.
package watchfilter

import "k8s.io/apimachinery/pkg/watch"

// New passes on the events of w that f keeps, as f returns them, one at a time and in order. The
// watch that it returns ends when w ends, and stops w when it is stopped. Unlike watch.Filter, it
// leaves no goroutine behind when its reader stops while an event waits.
func New(w watch.Interface, f watch.FilterFunc) watch.Interface {
	events := make(chan watch.Event)
	out := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer w.Stop()
		for {
			select {
			case event, ok := <-w.ResultChan():
				if !ok {
					return
				}
				changed, keep := f(event)
				if !keep {
					continue
				}
				select {
				case events <- changed:
				case <-out.StopChan():
					return
				}
			case <-out.StopChan():
				return
			}
		}
	}()
	return out
}
