//go:build linux

package systemtest

import (
	"bytes"
	endian "encoding/binary"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// inNamespace is set in the environment of a test that runs in a network namespace of its own.
const inNamespace = "SYSTEMTEST_IN_NAMESPACE"

// TestReachesOutToNothing runs the program in a network namespace in which every address belongs to
// this machine, so that a packet to any of them is heard. It imports a cluster whose objects name
// many addresses, uses them as a client would, and creates others by hand. Only programs on loopback
// that a user has named by hand are called.
func TestReachesOutToNothing(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		runInNamespace(t)
		return
	}
	heard := listenEverywhere(t)
	imported, byHand, proxy := newHook(t), newHook(t), newHook(t)
	names := listenForNames(t)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"} {
		t.Setenv(name, strings.Replace(proxy.server.URL, "https", "http", 1))
	}
	h := newHome(t)
	file := filepath.Join(h.tmp, "import.yaml")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(importOfCallers, "LOOPBACK", imported.server.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, h, "--import", file)
	p.createNodes(t, "own", 1)
	p.schedules(t, "first")

	t.Run("kubelets and pods", func(t *testing.T) { p.connectEverywhere(t) })
	t.Run("imported callers", func(t *testing.T) { p.imported(t) })
	t.Run("callers by hand", func(t *testing.T) { p.callByHand(t, byHand) })
	if _, err := p.request(http.MethodGet, "/api/v1/export", nil, nil); err != nil {
		t.Error(err)
	}
	p.stop(t)

	for _, packet := range heard() {
		t.Errorf("a packet to %s", packet)
	}
	for what, n := range map[string]int64{"imported callers on loopback": imported.calls.Load(), "a proxy of the environment": proxy.calls.Load(), "name servers": names.Load()} {
		if n > 0 {
			t.Errorf("%s were called %d times", what, n)
		}
	}
	if byHand.calls.Load() == 0 {
		t.Error("the webhook that a user created on loopback was not called")
	}
}

// runInNamespace runs this test again in a new network namespace.
func runInNamespace(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the program ip of iproute2 is not installed")
	}
	command := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), inNamespace+"=1", "SIMULATOR_BIN="+clustertest.Program())
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET, Pdeathsig: syscall.SIGKILL}
	if uid := os.Getuid(); uid != 0 {
		command.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		command.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		command.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
	}
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Skipf("network namespaces are not permitted here: %v", err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("in a network namespace: %v", err)
	}
	t.Log(out.String())
}

// listenEverywhere makes every address local, and returns a function that says where packets went,
// other than to loopback addresses.
func listenEverywhere(t *testing.T) (heard func() []string) {
	t.Helper()
	for _, line := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	if out, err := exec.Command("ip", "-6", "route", "add", "local", "::/0", "dev", "lo").CombinedOutput(); err != nil {
		t.Logf("without IPv6: %s", out)
	}
	var mu sync.Mutex
	var packets []string
	sniff(t, func(packet string) {
		mu.Lock()
		defer mu.Unlock()
		if !slices.Contains(packets, packet) {
			packets = append(packets, packet)
		}
	})
	all := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(packets)
	}
	// A listener that hears nothing may be deaf.
	for _, network := range []string{"tcp", "udp"} {
		conn, err := net.DialTimeout(network, "192.0.2.99:9", time.Second)
		if err != nil {
			continue // refused, after a packet
		}
		_, _ = conn.Write([]byte("x"))
		conn.Close()
	}
	eventually(t, "the test hears its own packets", func() error {
		if got := all(); !slices.Contains(got, "192.0.2.99 port 9 (tcp)") || !slices.Contains(got, "192.0.2.99 port 9 (udp)") {
			return fmt.Errorf("heard %v", got)
		}
		return nil
	})
	return func() []string {
		return slices.DeleteFunc(all(), func(packet string) bool { return strings.HasPrefix(packet, "192.0.2.99 ") })
	}
}

// sniff calls hear with each packet on the loopback device that does not go to a loopback address.
func sniff(t *testing.T, hear func(packet string)) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The kernel drops packets that a reader is too slow for, so it keeps only the others for us.
	// Offsets include 14 bytes of Ethernet.
	const (
		half  = unix.BPF_LD | unix.BPF_H | unix.BPF_ABS
		word  = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		octet = unix.BPF_LD | unix.BPF_B | unix.BPF_ABS
		equal = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		keep  = unix.BPF_RET | unix.BPF_K // the first K bytes
	)
	filter := []unix.SockFilter{
		{Code: half, K: 12},
		{Code: equal, K: unix.ETH_P_IP, Jt: 0, Jf: 2}, // IPv6: to 4
		{Code: octet, K: 30},
		{Code: equal, K: 127, Jt: 10, Jf: 9},
		{Code: equal, K: unix.ETH_P_IPV6, Jt: 0, Jf: 9},
		{Code: word, K: 38},
		{Code: equal, K: 0, Jt: 0, Jf: 6},
		{Code: word, K: 42},
		{Code: equal, K: 0, Jt: 0, Jf: 4},
		{Code: word, K: 46},
		{Code: equal, K: 0, Jt: 0, Jf: 2},
		{Code: word, K: 50},
		{Code: equal, K: 1, Jt: 1, Jf: 0},
		{Code: keep, K: 1 << 16},
		{Code: keep, K: 0},
	}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}); err != nil {
		t.Fatal(err)
	}
	all := endian.NativeEndian.Uint16(endian.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all}); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var stop atomic.Bool
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(ended)
		packet := make([]byte, 128)
		for !stop.Load() {
			if n, _, err := unix.Recvfrom(fd, packet, 0); err == nil {
				if text := destination(packet[:n]); text != "" {
					hear(text)
				}
			}
		}
	}()
	t.Cleanup(func() {
		stop.Store(true)
		<-ended
		unix.Close(fd)
	})
}

// destination says where a packet goes; "" if only the kernel itself sends such packets.
func destination(packet []byte) string {
	if len(packet) < 14+20 {
		return ""
	}
	var to []byte
	var protocol byte
	var payload []byte
	switch ip := packet[14:]; {
	case ip[0]>>4 == 4:
		to, protocol, payload = ip[16:20], ip[9], ip[min(len(ip), 4*int(ip[0]&15)):]
	case len(ip) >= 40:
		to, protocol, payload = ip[24:40], ip[6], ip[40:]
	default:
		return ""
	}
	address, _ := netip.AddrFromSlice(to)
	name, ported := map[byte]string{syscall.IPPROTO_TCP: "tcp", syscall.IPPROTO_UDP: "udp"}[protocol]
	switch {
	case !ported && address.IsMulticast():
		return "" // the kernel's neighbour discovery
	case !ported || len(payload) < 4:
		return fmt.Sprintf("%s (protocol %d)", address, protocol)
	}
	return fmt.Sprintf("%s port %d (%s)", address, endian.BigEndian.Uint16(payload[2:]), name)
}

// listenForNames counts the packets to the name servers on loopback that this machine may use.
func listenForNames(t *testing.T) *atomic.Int64 {
	t.Helper()
	heard := &atomic.Int64{}
	data, err := os.ReadFile("/etc/resolv.conf")
	if err != nil {
		return heard // Go asks 127.0.0.1 and ::1 then, where nothing listens
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" || !net.ParseIP(fields[1]).IsLoopback() {
			continue
		}
		conn, err := net.ListenPacket("udp", net.JoinHostPort(fields[1], "53"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		go func() {
			packet := make([]byte, 512)
			for {
				if _, _, err := conn.ReadFrom(packet); err != nil {
					return
				}
				heard.Add(1)
			}
		}()
	}
	return heard
}

// hook is a webhook that admits everything, and an extender that keeps every node.
type hook struct {
	server *httptest.Server
	// calls counts connections, even without a request.
	calls atomic.Int64
}

func newHook(t *testing.T) *hook {
	t.Helper()
	h := &hook{}
	h.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(r.Body).Decode(&review); err != nil || review.Request == nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
		_ = json.NewEncoder(w).Encode(review)
	}))
	h.server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			h.calls.Add(1)
		}
	}
	h.server.StartTLS()
	t.Cleanup(h.server.Close)
	return h
}

// importOfCallers names addresses of other machines, and LOOPBACK, wherever objects can.
const importOfCallers = `
apiVersion: v1
kind: Node
metadata: {name: real}
status:
  addresses: [{type: InternalIP, address: 192.0.2.10}, {type: Hostname, address: real.example.com}, {type: ExternalDNS, address: real.example.com}]
  capacity: {cpu: "8", memory: 16Gi, pods: "20"}
  allocatable: {cpu: "8", memory: 16Gi, pods: "20"}
  daemonEndpoints: {kubeletEndpoint: {Port: 10250}}
  conditions: [{type: Ready, status: "True", reason: KubeletReady}]
---
apiVersion: v1
kind: Pod
metadata: {name: real, namespace: default, labels: {app: real}}
spec: {nodeName: real, containers: [{name: c, image: registry.example.com/real, ports: [{containerPort: 80}]}]}
status:
  phase: Running
  hostIP: 192.0.2.10
  podIP: 192.0.2.20
  podIPs: [{ip: 192.0.2.20}]
  conditions: [{type: Ready, status: "True"}]
  containerStatuses: [{name: c, ready: true, image: registry.example.com/real, imageID: x, restartCount: 0, state: {running: {startedAt: "2026-01-02T03:04:05Z"}}}]
---
apiVersion: v1
kind: Service
metadata: {name: real, namespace: default}
spec: {selector: {app: real}, ports: [{port: 80}], clusterIP: 10.96.77.77}
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: default}
spec: {type: ExternalName, externalName: outside.example.com}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: everything}
webhooks:
- {name: far.example.com, clientConfig: {url: "https://192.0.2.30/hook"}, failurePolicy: Ignore, sideEffects: None, admissionReviewVersions: [v1], rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"]}]}
- {name: near.example.com, clientConfig: {url: "LOOPBACK/hook"}, failurePolicy: Ignore, sideEffects: None, admissionReviewVersions: [v1], rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"]}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: everything}
webhooks:
- {name: named.example.com, clientConfig: {url: "https://hook.example.com/hook"}, failurePolicy: Fail, sideEffects: None, admissionReviewVersions: [v1], rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: [pods, nodes]}]}
- {name: service.example.com, clientConfig: {service: {namespace: default, name: real}}, failurePolicy: Fail, sideEffects: None, admissionReviewVersions: [v1], rules: [{operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: [pods, nodes]}]}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.real.example.com}
spec: {group: real.example.com, version: v1, groupPriorityMinimum: 100, versionPriority: 100, insecureSkipTLSVerify: true, service: {namespace: default, name: outside}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: racks.example.com}
spec:
  group: example.com
  scope: Cluster
  names: {plural: racks, kind: Rack}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}, {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object}}}]
  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "LOOPBACK/convert"}}}
---
apiVersion: example.com/v1
kind: Rack
metadata: {name: a}
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- {urlPrefix: "http://192.0.2.40/extender", filterVerb: filter, ignorable: true}
- {urlPrefix: "LOOPBACK/extender", filterVerb: filter, prioritizeVerb: prioritize, weight: 1, ignorable: true}
`

// connectEverywhere asks for everything that a kubelet or a pod would answer, from the API server and
// through the proxy.
func (p *program) connectEverywhere(t *testing.T) {
	for _, path := range []string{
		"/api/v1/nodes/real/proxy/metrics", "/api/v1/nodes/real:10250/proxy/pods", "/api/v1/nodes/https:real:10250/proxy/",
		"/api/v1/namespaces/default/pods/real/proxy/", "/api/v1/namespaces/default/pods/http:real:80/proxy/a",
		"/api/v1/namespaces/default/services/real/proxy/", "/api/v1/namespaces/default/services/http:outside:80/proxy/",
		"/api/v1/namespaces/default/pods/real/exec?command=ls&stdout=true", "/api/v1/namespaces/default/pods/real/attach?stdout=true",
		"/api/v1/namespaces/default/pods/real/portforward?ports=80",
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			err := p.client.CoreV1().RESTClient().Verb(method).RequestURI(path).Do(t.Context()).Error()
			if err == nil || !strings.Contains(err.Error(), "no kubelet stands behind") {
				t.Errorf("%s %s: %v", method, path, err)
			}
			a, err := p.request(method, "/kubernetes"+path, nil, nil)
			if err != nil || a.status != http.StatusNotImplemented || !bytes.Contains(a.body, []byte("no kubelet stands behind")) {
				t.Errorf("%s %s through the proxy: %d %s, %v", method, path, a.status, a.body, err)
			}
		}
	}
	for _, follow := range []bool{false, true} {
		text, err := p.client.CoreV1().Pods("default").GetLogs("real", &corev1.PodLogOptions{Follow: follow}).Do(t.Context()).Raw()
		if err != nil || !bytes.Contains(text, []byte(`container "c" started on virtual node "real"`)) {
			t.Errorf("logs: %q, %v", text, err)
		}
	}
}

// imported uses what was imported, and tries to activate all of it.
func (p *program) imported(t *testing.T) {
	for _, path := range []string{"/apis/example.com/v2/racks", "/apis/real.example.com/v1", "/apis", "/api/v1/pods"} {
		if _, err := p.request(http.MethodGet, "/kubernetes"+path, nil, nil); err != nil {
			t.Error(err)
		}
	}
	for _, body := range []string{`{"kind":"ValidatingWebhookConfiguration"}`, `{"kind":"MutatingWebhookConfiguration"}`, `{"kind":"Extender","name":"http://192.0.2.40/extender"}`} {
		a, err := p.request(http.MethodPost, "/api/v1/inactive/activate", strings.NewReader(body), nil)
		if err != nil || a.status != http.StatusForbidden || !bytes.Contains(a.body, []byte("--allow-outbound")) {
			t.Errorf("activating %s: %d %s, %v", body, a.status, a.body, err)
		}
	}
	p.schedules(t, "second")
}

// callByHand creates objects that call other machines, and one that calls near.
func (p *program) callByHand(t *testing.T, near *hook) {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: near.server.Certificate().Raw})
	for name, to := range map[string]map[string]any{
		"near":    {"url": near.server.URL + "/hook", "caBundle": ca},
		"far":     {"url": "https://192.0.2.31/hook"},
		"named":   {"url": "https://hook.example.com/hook"},
		"service": {"service": map[string]any{"namespace": "default", "name": "real"}},
		"outside": {"service": map[string]any{"namespace": "default", "name": "outside"}},
	} {
		if _, err := p.client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		p.createRaw(t, "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration", "metadata": map[string]any{"name": "by-hand-" + name},
			"webhooks": []any{map[string]any{
				"name": name + ".example.com", "clientConfig": to, "failurePolicy": "Fail", "sideEffects": "None", "admissionReviewVersions": []any{"v1"},
				"namespaceSelector": map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: name}},
				"rules":             []any{map[string]any{"operations": []any{"CREATE"}, "apiGroups": []any{""}, "apiVersions": []any{"v1"}, "resources": []any{"configmaps"}}},
			}},
		})
		eventually(t, "admission calls the webhook "+name, func() error {
			_, err := p.client.CoreV1().ConfigMaps(name).Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "m-"}}, metav1.CreateOptions{})
			switch {
			case name == "near" && err == nil && near.calls.Load() > 0, name != "near" && err != nil:
				return nil
			case err != nil:
				return err
			}
			return errors.New("it does not")
		})
	}
	p.createRaw(t, "/apis/apiregistration.k8s.io/v1/apiservices", map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": map[string]any{"name": "v1.hand.example.com"},
		"spec": map[string]any{"group": "hand.example.com", "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100, "insecureSkipTLSVerify": true,
			"service": map[string]any{"namespace": "default", "name": "outside"}},
	})
	eventually(t, "the API server has looked for the other one", func() error {
		a, err := p.request(http.MethodGet, "/kubernetes/apis/apiregistration.k8s.io/v1/apiservices/v1.hand.example.com", nil, nil)
		if err == nil && !bytes.Contains(a.body, []byte("outside.example.com are not allowed")) {
			err = fmt.Errorf("%s", a.body)
		}
		return err
	})
	if a, err := p.request(http.MethodGet, "/kubernetes/apis/hand.example.com/v1/things", nil, nil); err != nil || a.status != http.StatusServiceUnavailable {
		t.Errorf("an API of another server: %d %s, %v", a.status, a.body, err)
	}
	const far = configurationHead + "extenders: [{urlPrefix: 'http://192.0.2.41', filterVerb: filter}]\n"
	a, err := p.request(http.MethodPut, configurationURL, strings.NewReader(far), nil)
	if err != nil || a.status != http.StatusUnprocessableEntity || !bytes.Contains(a.body, []byte("--allow-outbound")) {
		t.Errorf("an extender elsewhere: %d %s, %v", a.status, a.body, err)
	}
	p.schedules(t, "third")
}

// createRaw creates an object of any kind.
func (p *program) createRaw(t *testing.T, path string, object map[string]any) {
	t.Helper()
	body, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.client.CoreV1().RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").Body(body).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
}
