package watch

// subscription is one client's position in a feed. Only the connection's writer uses its fields,
// and holds conn.mu while it does.
type subscription struct {
	id   string
	conn *conn
	feed *feed

	idJSON []byte
	rest   [][]byte
	state  subscriptionState
	next   uint64
}

type subscriptionState int

const (
	// unlisted: a list, as soon as the feed has one.
	unlisted subscriptionState = iota
	// starting: the first frame of rest.
	starting
	// continuing: another frame of rest.
	continuing
	// following: changes.
	following
)

func newSubscription(id string, c *conn) *subscription {
	return &subscription{id: id, idJSON: mustMarshal(id), conn: c}
}

func (s *subscription) wake() { notify(s.conn.woken) }

// take returns nil when there is no frame yet. over says that the subscription has ended.
func (s *subscription) take() (f frame, over bool) {
	l := s.conn.hub.limits
	if s.state == following {
		events, ended, behind := s.feed.since(s.next)
		switch {
		case behind:
			s.state = unlisted
		case len(events) > 0:
			n := fit(len(events), l, func(i int) int { return len(events[i].object) })
			s.next += uint64(n)
			return &eventsFrame{id: s.idJSON, events: events[:n]}, false
		case ended != nil:
			return newErrorFrame(s.id, ended), true
		default:
			return nil, false
		}
	}
	if s.state == unlisted {
		list, ended, ok := s.feed.current()
		switch {
		case ended != nil:
			return newErrorFrame(s.id, ended), true
		case !ok:
			return nil, false
		}
		s.rest, s.next, s.state = list.items, list.next, starting
	}
	n := fit(len(s.rest), l, func(i int) int { return len(s.rest[i]) })
	part := &listFrame{id: s.idJSON, items: s.rest[:n], first: s.state == starting, more: n < len(s.rest)}
	s.rest, s.state = s.rest[n:], continuing
	if !part.more {
		s.rest, s.state = nil, following
	}
	return part, false
}

// fit returns how many of n objects fit into a frame, at least one.
func fit(n int, l limits, size func(int) int) int {
	bytes := 0
	for i := range min(n, l.frameItems) {
		bytes += size(i)
		if i > 0 && bytes > l.frameBytes {
			return i
		}
	}
	return min(n, l.frameItems)
}

var _ reader = (*subscription)(nil)
