package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gorilla/websocket"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Told says when a client of the WebSocket was told of the last object that reached a state. Each
// open page is such a client.
type Told struct {
	// State is ready, of nodes; or created, decided, recorded, bound, running or told, of pods. A pod
	// is told when the client has its last version, of which the annotations are left out.
	State string `json:"state"`
	// Objects counts those that reached it.
	Objects int `json:"objects"`
	// Seconds are from the beginning of the import of such objects. Those of decided are until the
	// last attempt ended by its own record, whenever the client was told. Those of told are mostly
	// until the last annotations were written.
	Seconds float64 `json:"seconds"`
}

const (
	stateReady = iota
	stateCreated
	stateDecided
	stateRecorded
	stateBound
	stateRunning
	stateTold
	states
)

var stateNames = [states]string{"ready", "created", "decided", "recorded", "bound", "running", "told"}

// page follows all nodes, pods and results, as an open page does, and draws nothing.
type page struct {
	socket *websocket.Conn
	ended  chan error

	// These may be read when the page has ended.
	objects map[types.UID]*followed
	counts  [states]int
	last    [states]time.Time
	// delays are the seconds from the end of each attempt until the page was told of it.
	delays []float64
}

// followed is a node or a pod.
type followed struct {
	reached [states]bool
	version string
}

// openPage connects to the program at url.
func openPage(url string) (*page, error) {
	socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+"/api/v1/watch", http.Header{"Origin": {url}})
	if err != nil {
		return nil, fmt.Errorf("connecting to the WebSocket: %w", err)
	}
	for _, what := range []string{
		`"id":"nodes","resource":{"version":"v1","resource":"nodes"}`, `"id":"pods","resource":{"version":"v1","resource":"pods"}`, `"id":"results","topic":"results"`,
	} {
		err = errors.Join(err, socket.WriteMessage(websocket.TextMessage, []byte(`{"type":"subscribe",`+what+"}")))
	}
	p := &page{socket: socket, ended: make(chan error, 1), objects: map[types.UID]*followed{}}
	go func() { p.ended <- errors.Join(err, p.follow()) }()
	return p, nil
}

// close returns what kept the page from being told of everything. It is called once.
func (p *page) close() error {
	p.socket.Close()
	if err := <-p.ended; !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("following the WebSocket: %w", err)
	}
	return nil
}

func (p *page) follow() error {
	for {
		_, frame, err := p.socket.ReadMessage()
		if err != nil {
			return err
		}
		if err := p.tell(frame, time.Now()); err != nil {
			return err
		}
	}
}

// change has what matters here of a node, a pod or a result.
type change struct {
	Metadata struct {
		UID             types.UID
		ResourceVersion string
	}
	Spec   struct{ NodeName string }
	Status struct {
		Phase      v1.PodPhase
		Conditions []struct {
			Type   v1.NodeConditionType
			Status v1.ConditionStatus
		}
	}
	Pod             struct{ UID types.UID }
	StartTime       time.Time
	DurationSeconds float64
}

// tell takes a frame that arrived at a time.
func (p *page) tell(frame []byte, now time.Time) error {
	var f struct {
		ID, Message string
		Items       []change
		Events      []struct{ Object change }
	}
	if err := json.Unmarshal(frame, &f); err != nil {
		return err
	}
	if f.Message != "" {
		return errors.New(f.Message)
	}
	for _, e := range f.Events {
		f.Items = append(f.Items, e.Object)
	}
	for _, o := range f.Items {
		switch f.ID {
		case "nodes":
			for _, c := range o.Status.Conditions {
				if c.Type == v1.NodeReady && c.Status == v1.ConditionTrue {
					p.reach(o.Metadata.UID, stateReady, now)
				}
			}
		case "pods":
			p.reach(o.Metadata.UID, stateCreated, now)
			p.objects[o.Metadata.UID].version = o.Metadata.ResourceVersion
			p.last[stateTold] = now
			if o.Spec.NodeName != "" {
				p.reach(o.Metadata.UID, stateBound, now)
			}
			if o.Status.Phase == v1.PodRunning {
				p.reach(o.Metadata.UID, stateRunning, now)
			}
		case "results":
			end := o.StartTime.Add(time.Duration(o.DurationSeconds * float64(time.Second)))
			p.reach(o.Pod.UID, stateDecided, end)
			if p.reach(o.Pod.UID, stateRecorded, now) {
				p.delays = append(p.delays, now.Sub(end).Seconds())
			}
		}
	}
	return nil
}

// reach tells whether the object is in this state for the first time.
func (p *page) reach(uid types.UID, state int, at time.Time) bool {
	o := p.objects[uid]
	if o == nil {
		o = &followed{}
		p.objects[uid] = o
	}
	if o.reached[state] {
		return false
	}
	o.reached[state] = true
	p.counts[state]++
	if at.After(p.last[state]) {
		p.last[state] = at
	}
	return true
}

// told returns the states, with those of nodes since one time and those of pods since the other,
// when these pods are there.
func (p *page) told(nodes, pods time.Time, there []v1.Pod) []Told {
	for _, pod := range there {
		if o := p.objects[pod.UID]; o != nil && o.version == pod.ResourceVersion {
			p.counts[stateTold]++
		}
	}
	out := make([]Told, states)
	for state, name := range stateNames {
		since := pods
		if state == stateReady {
			since = nodes
		}
		out[state] = Told{State: name, Objects: p.counts[state]}
		if !p.last[state].IsZero() {
			out[state].Seconds = p.last[state].Sub(since).Seconds()
		}
	}
	return out
}
