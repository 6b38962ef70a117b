package following

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kube-scheduler-simulator/simulator/elsewhere/transfer"
	"kube-scheduler-simulator/simulator/elsewhere/transfer/manifest"
)

// TestFinalErrorsAreNotRetried: what the user must change is not tried again, and what may pass is.
func TestFinalErrorsAreNotRetried(t *testing.T) {
	for _, tc := range []struct {
		err   error
		final bool
	}{
		{apierrors.NewUnauthorized("no"), true},
		{apierrors.NewForbidden(schema.GroupResource{Resource: "nodes"}, "", errors.New("no")), true},
		{&tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}, true},
		{tls.AlertError(42), true},
		{manifest.ErrHeld, true},
		{&transfer.InputError{Message: "nothing to import was found"}, true},
		{&net.OpError{Op: "dial", Err: errors.New("connection refused")}, false},
		{apierrors.NewServiceUnavailable("busy"), false},
		{apierrors.NewTooManyRequests("busy", 1), false},
	} {
		if got := isFinal(fmt.Errorf("listing nodes of the source: %w", tc.err)); got != tc.final {
			t.Errorf("%v: final is %v", tc.err, got)
		}
	}
}
