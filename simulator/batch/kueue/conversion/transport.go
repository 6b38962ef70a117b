package conversion

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// ServiceName and ServiceNamespace are the service that the definitions name as their webhook, the same
// one as in a cluster with Kueue. No program runs behind it here.
const (
	ServiceName      = "kueue-webhook-service"
	ServiceNamespace = "kueue-system"
)

// Transport answers the requests to the webhook in this process, so that conversion needs no port and
// no certificate, and works as soon as the API server does.
type Transport struct{}

var _ http.RoundTripper = Transport{}

// RoundTrip implements http.RoundTripper. The request's body is a ConversionReview.
func (Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	review := &apiextensionsv1.ConversionReview{}
	if err := json.NewDecoder(r.Body).Decode(review); err != nil || review.Request == nil {
		return nil, fmt.Errorf("reading a conversion review: %w", err)
	}
	review.Response = answer(review.Request)
	review.Request = nil
	body, err := json.Marshal(review)
	if err != nil {
		return nil, fmt.Errorf("writing a conversion review: %w", err)
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": []string{runtime.ContentTypeJSON}}, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)),
	}, nil
}

func answer(request *apiextensionsv1.ConversionRequest) *apiextensionsv1.ConversionResponse {
	response := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, raw := range request.Objects {
		in := &unstructured.Unstructured{}
		err := in.UnmarshalJSON(raw.Raw)
		var out *unstructured.Unstructured
		if err == nil {
			out, err = Convert(in, request.DesiredAPIVersion)
		}
		if err != nil {
			return &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusFailure, Message: err.Error()}}
		}
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Object: out})
	}
	return response
}
