package live

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/awslabs/operatorpkg/status"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// naming is a client that numbers the NodeClaims of each NodePool, so that they have the same names every time, and that finds every
// class of nodes, also one that the cluster does not have.
type naming struct {
	client.Client
	names *names
}

// Create implements client.Client.
func (n naming) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	claim, is := o.(*karpenter.NodeClaim)
	if !is || claim.Name != "" {
		return n.Client.Create(ctx, o, opts...)
	}
	prefix := claim.GenerateName
	for {
		claim.Name = n.names.next(prefix)
		// Another program may have taken the name.
		if err := n.Client.Create(ctx, claim, opts...); !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
}

// Get implements client.Client.
func (n naming) Get(ctx context.Context, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
	err := n.Client.Get(ctx, key, into, opts...)
	if class, is := into.(*v1alpha1.KWOKNodeClass); is && apierrors.IsNotFound(err) {
		class.Name = key.Name
		class.Status.Conditions = []status.Condition{{Type: status.ConditionReady, Status: metav1.ConditionTrue, Reason: status.ConditionReady}}
		return nil
	}
	return err
}

// names counts by prefix. A number is never given twice, so that a name means one node in the log.
type names struct {
	mu   sync.Mutex
	last map[string]int
}

func (n *names) next(prefix string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = map[string]int{}
	}
	n.last[prefix]++
	return fmt.Sprint(prefix, n.last[prefix])
}

// taken makes next pass over a name that is there.
func (n *names) taken(name string) {
	dash := strings.LastIndex(name, "-") + 1
	number, err := strconv.Atoi(name[dash:])
	if err != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last == nil {
		n.last = map[string]int{}
	}
	n.last[name[:dash]] = max(n.last[name[:dash]], number)
}
