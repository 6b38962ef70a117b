package explain

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

type Kind string

// Operands are the data of a statement of one kind. The types are those that
// Headlines, Remarks, Comparisons, Steps, Manners and Omissions list.
type Operands interface {
	// english renders the statement from its operands only.
	english() string
}

// otherNames are the kinds that are not named for their type.
var otherNames = map[reflect.Type]Kind{
	reflect.TypeFor[AcceptValues]():        "acceptValue",
	reflect.TypeFor[CycleError]():          "error",
	reflect.TypeFor[RejectedInPreFilter](): "preFilter",
	reflect.TypeFor[RejectedLater]():       "refusedLater",
	reflect.TypeFor[LostPlace]():           "lost",
	reflect.TypeFor[NoNodeFits]():          "noNode",
	reflect.TypeFor[NotScheduled]():        "unschedulable",
	reflect.TypeFor[PluginPanicked]():      "panicked",
	reflect.TypeFor[RoomMade]():            "room",
	reflect.TypeFor[RoomNominated]():       "nominated",
}

// KindOf returns the kind of operands: by most, the name of their type in lower camel case.
func KindOf(o Operands) Kind {
	t := reflect.TypeOf(o)
	if kind, ok := otherNames[t]; ok {
		return kind
	}
	return Kind(strings.ToLower(t.Name()[:1]) + t.Name()[1:])
}

// Statement is one thing that an explanation says, as data. Its JSON is an object of
// the kind and the operands; Go and the web render it with a sentence for each kind.
type Statement struct{ Operands Operands }

// Headlines returns a zero value of each kind that the headline of an explanation can
// be.
func Headlines() []Operands {
	return []Operands{
		Best{}, Tied{}, TiedBySeed{}, Only{}, FirstFeasible{}, Unscored{}, Hinted{}, WasNominated{}, Waiting{},
		CycleError{}, ExtenderError{}, NoNodes{}, RejectedInPreFilter{}, RejectedLater{}, PermitTimeout{}, LostPlace{}, NoNodeFits{}, NotScheduled{},
		HeldByGroup{}, NotTried{}, GroupRejected{},
		MembersMissing{}, MembersGated{}, GroupBackedOff{}, GroupLacksResources{}, GroupMissing{}, MembersAwaited{}, MemberFitsNowhere{}, MemberLostPlace{},
		QuotaAtMax{}, QuotasUsedUp{},
	}
}

// Remarks returns a zero value of each kind that the remarks of an explanation can be.
func Remarks() []Operands {
	return []Operands{
		Waited{}, NominatedCounted{}, SearchEnded{}, RoomMade{}, RoomMissed{}, RoomNominated{}, Nearest{}, Derived{}, Leaving{}, PermitHold{}, Resizing{}, Described{}, NodesFromExtender{}, NotEvicted{}, DevicesAllocated{}, DeviceShortage{}, DevicesTogether{},
		GroupHasEnough{}, GroupShort{}, GroupPlaced{}, GroupRoom{}, GroupVictims{}, GroupFits{}, GroupRoomImpossible{}, MembersSentBack{}, MembersKept{}, MembersComplete{}, MembersShort{}, ExtenderFailure{}, PluginPanicked{},
		QuotaBorrowers{}, QuotaReclaims{}, QuotaAboveMin{}, QuotaNobody{}, QuotaBorrows{}, Unaligned{},
	}
}

var (
	_ json.Marshaler   = Statement{}
	_ json.Unmarshaler = (*Statement)(nil)
	_ fmt.Stringer     = Statement{}
)

func (s Statement) String() string {
	if s.Operands == nil {
		return ""
	}
	return s.Operands.english()
}

// MarshalJSON writes the kind before the operands.
func (s Statement) MarshalJSON() ([]byte, error) {
	if s.Operands == nil {
		return []byte("null"), nil
	}
	operands, err := json.Marshal(s.Operands)
	if err != nil {
		return nil, err
	}
	out := fmt.Appendf(nil, `{"kind":%q`, KindOf(s.Operands))
	if len(operands) > len("{}") {
		out = append(out, ',')
	}
	return append(out, operands[1:]...), nil
}

func (s *Statement) UnmarshalJSON(data []byte) error {
	var head struct{ Kind Kind }
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	for _, known := range slices.Concat(Headlines(), Remarks(), Comparisons(), Steps(), Manners(), Omissions()) {
		if KindOf(known) != head.Kind {
			continue
		}
		operands := reflect.New(reflect.TypeOf(known))
		if err := json.Unmarshal(data, operands.Interface()); err != nil {
			return fmt.Errorf("a statement of kind %q: %w", head.Kind, err)
		}
		s.Operands = operands.Elem().Interface().(Operands)
		return nil
	}
	return fmt.Errorf("a statement has the unknown kind %q", head.Kind)
}
