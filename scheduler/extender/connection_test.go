package extender

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// securely serves an empty answer over TLS.
func securely(t *testing.T, auth tls.ClientAuthType) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(extenderv1.ExtenderFilterResult{NodeNames: &[]string{"a"}})
	}))
	s.TLS = &tls.Config{ClientAuth: auth}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func asPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// certificate returns a new self-signed certificate with its key.
func certificate(t *testing.T) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return asPEM("CERTIFICATE", der), asPEM("PRIVATE KEY", keyDER)
}

func TestTLS(t *testing.T) {
	server, demanding := securely(t, tls.NoClientCert), securely(t, tls.RequireAnyClientCert)
	ca := asPEM("CERTIFICATE", server.Certificate().Raw)
	cert, key := certificate(t)
	for _, tc := range []struct {
		name  string
		url   string
		https bool
		tls   *config.ExtenderTLSConfig
		fails string // part of the error
	}{
		{"the right CA", server.URL, true, &config.ExtenderTLSConfig{CAData: ca}, ""},
		{"a name of the certificate", server.URL, true, &config.ExtenderTLSConfig{CAData: ca, ServerName: "example.com"}, ""},
		{"another name", server.URL, true, &config.ExtenderTLSConfig{CAData: ca, ServerName: "extender.test"}, "certificate is valid for"},
		{"another CA", server.URL, true, &config.ExtenderTLSConfig{CAData: cert}, "certificate signed by unknown authority"},
		{"insecure", server.URL, true, &config.ExtenderTLSConfig{Insecure: true}, ""},
		{"enableHTTPS without a CA does not verify", server.URL, true, nil, ""},
		{"verified by the system's CAs", server.URL, false, nil, "certificate signed by unknown authority"},
		{"a client certificate", demanding.URL, true, &config.ExtenderTLSConfig{Insecure: true, CertData: cert, KeyData: key}, ""},
		{"without a client certificate", demanding.URL, true, &config.ExtenderTLSConfig{Insecure: true}, "certificate required"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			bare, recorded, to := standIn(t, config.Extender{URLPrefix: tc.url, FilterVerb: "filter", NodeCacheCapable: true, EnableHTTPS: tc.https, TLSConfig: tc.tls})
			_, _, _, want := bare.Filter(podOf("p"), nodesOf("a"))
			_, _, _, err := recorded.Filter(podOf("p"), nodesOf("a"))
			if stripChance(want) != stripChance(err) {
				t.Errorf("the error differs from the bare extender's: got %v, want %v", err, want)
			}
			checkFailure(t, to, err, tc.fails)
		})
	}
}

// stripChance removes the part of a net/http error that says at which step the
// connection was refused: that may be while the request is written, or after.
func stripChance(err error) string {
	return strings.ReplaceAll(stripPort(err), "readLoopPeekFailLocked: ", "")
}

// An extender that does not answer in time fails as it does in production.
func TestTimeout(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-release:
		}
	}))
	defer server.Close()
	defer close(release)
	bare, recorded, to := standIn(t, config.Extender{URLPrefix: server.URL, FilterVerb: "filter", HTTPTimeout: metav1.Duration{Duration: 20 * time.Millisecond}})
	_, _, _, want := bare.Filter(podOf("p"), nodesOf("a"))
	_, _, _, err := recorded.Filter(podOf("p"), nodesOf("a"))
	if stripPort(want) != stripPort(err) {
		t.Errorf("the error differs from the bare extender's: got %v, want %v", err, want)
	}
	checkFailure(t, to, err, "context deadline exceeded (Client.Timeout exceeded while awaiting headers)")
}

// checkFailure compares the recorded failure with the error, which must contain
// part.
func checkFailure(t *testing.T, to *notes, err error, part string) {
	t.Helper()
	call := only(t, to)
	if part == "" {
		if err != nil || call.Status != fwk.Success.String() {
			t.Errorf("fails: %v", err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), part) {
		t.Fatalf("the error is %v, without %q", err, part)
	}
	if call.Status != fwk.Error.String() || call.Reasons[0] != err.Error() {
		t.Errorf("noted: %s %v", call.Status, call.Reasons)
	}
}
