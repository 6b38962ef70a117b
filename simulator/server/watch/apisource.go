package watch

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// NewClient returns a client for Backend, which reads any kind as JSON.
func NewClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})

	config = rest.CopyConfig(config)
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.UserAgent = rest.AddUserAgent(config, "watch-hub").UserAgent
	config.DisableCompression = true
	config.QPS = -1
	config.RateLimiter = nil
	config.Timeout = 0
	config.WarningHandler, config.WarningHandlerWithContext = rest.NoWarnings{}, nil
	return rest.UnversionedRESTClientFor(config)
}

type apiSource struct {
	client rest.Interface
	key    feedKey
	// refused gets the errors that make a retry pointless.
	refused func(*apierrors.StatusError)
}

func (a *apiSource) request(options *metav1.ListOptions) *rest.Request {
	path := []string{"apis", a.key.Group, a.key.Version}
	if a.key.Group == "" {
		path = []string{"api", a.key.Version}
	}
	if a.key.namespace != "" {
		path = append(path, "namespaces", a.key.namespace)
	}
	return a.client.Get().AbsPath(append(path, a.key.Resource)...).VersionedParams(options, metav1.ParameterCodec)
}

func (a *apiSource) check(err error) error {
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return err
	}
	switch status.ErrStatus.Code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed:
		a.refused(status)
	}
	return err
}

// ask calls refused if the API server cannot list the kind at all. A server that is overloaded,
// starting or stopping may do so later.
func (a *apiSource) ask(ctx context.Context) {
	_, err := a.request(&metav1.ListOptions{Limit: 1}).MaxRetries(0).DoRaw(ctx)
	status, ok := errors.AsType[*apierrors.StatusError](err)
	if !ok {
		return
	}
	switch status.ErrStatus.Code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
	default:
		a.refused(status)
	}
}

type objectList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []runtime.Object `json:"-"`
}

func (l *objectList) DeepCopyObject() runtime.Object { return l }

// The reflector calls ListWithContext if the API server does not stream lists.
func (a *apiSource) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	data, err := a.request(&options).DoRaw(ctx)
	if err != nil {
		return nil, a.check(err)
	}
	var raw struct {
		objectList
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return nil, fmt.Errorf("reading the list of %s: %w", a.key.Resource, err)
	}
	list := raw.objectList
	kind := metav1.TypeMeta{Kind: strings.TrimSuffix(list.Kind, "List"), APIVersion: list.APIVersion}
	for _, item := range raw.Items {
		o, err := parseObject(item, kind)
		if err != nil {
			return nil, fmt.Errorf("reading the list of %s: %w", a.key.Resource, err)
		}
		list.Items = append(list.Items, o)
	}
	return &list, nil
}

func (a *apiSource) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	body, err := a.request(&options).Stream(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		// The hub stops. The reflector logs every other error.
		return nil, io.EOF
	case err != nil:
		return nil, a.check(err)
	}
	d := &watchDecoder{body: body, lines: bufio.NewReaderSize(body, 64<<10)}
	return watch.NewStreamWatcher(d, apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")), nil
}

// List and Watch complete cache.ListerWatcher. The reflector prefers the methods that take a
// context.
func (a *apiSource) List(options metav1.ListOptions) (runtime.Object, error) {
	return a.ListWithContext(context.Background(), options)
}

func (a *apiSource) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return a.WatchWithContext(context.Background(), options)
}

// watchDecoder reads the body of a watch: one JSON object per line.
type watchDecoder struct {
	body  io.ReadCloser
	lines *bufio.Reader
	long  []byte
}

// maxWatchLine bounds an event, in bytes. It is far more than the API server stores of one object.
const maxWatchLine = 16 << 20

func (d *watchDecoder) Decode() (watch.EventType, runtime.Object, error) {
	line, err := d.line()
	if err != nil {
		return "", nil, err
	}
	s := scanner{data: line}
	var change watch.EventType
	var seen runtime.Object
	err = s.members(func(name []byte) (err error) {
		switch {
		case string(name) == `"type"`:
			var text string
			text, err = s.text()
			change = watch.EventType(text)
		case string(name) != `"object"`:
			_, err = s.value()
		case change == watch.Error:
			seen, err = scanStatus(&s)
		default:
			seen, err = scanObject(&s, metav1.TypeMeta{})
		}
		return err
	})
	if err != nil {
		return "", nil, fmt.Errorf("reading a watch: %w", err)
	}
	return change, seen, nil
}

// scanStatus reads the error that ends a watch.
func scanStatus(s *scanner) (runtime.Object, error) {
	data, err := s.value()
	if err != nil {
		return nil, err
	}
	status := &metav1.Status{}
	return status, json.Unmarshal(data, status)
}

// line returns the next line that is not empty, valid until the next call.
func (d *watchDecoder) line() ([]byte, error) {
	d.long = d.long[:0]
	for {
		part, err := d.lines.ReadSlice('\n')
		if err == nil && len(d.long) == 0 {
			if part = bytes.TrimSpace(part); len(part) > 0 {
				return part, nil
			}
			continue
		}
		d.long = append(d.long, part...)
		switch {
		case len(d.long) > maxWatchLine:
			return nil, fmt.Errorf("reading a watch: an event is larger than %d bytes", maxWatchLine)
		case err == nil:
			return d.long, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func (d *watchDecoder) Close() { d.body.Close() }

var (
	_ cache.ListerWatcherWithContext = (*apiSource)(nil)
	_ cache.ListerWatcher            = (*apiSource)(nil)
	_ watch.Decoder                  = (*watchDecoder)(nil)
	_ metav1.ListInterface           = (*objectList)(nil)
)
