// Package redact makes objects of a cluster fit to be shown to others: it replaces names, labels,
// images and everything else that people have made up, and drops fields that scheduling does not
// look at. A word has the same replacement wherever it occurs, so the scheduler treats a redacted
// cluster like the original.
//
// The rules list what stays, not what goes: redact drops a field without a rule, and values of an
// enumeration that Kubernetes does not know. Amounts, ports, times, priorities, booleans and
// integers of fewer than twelve digits stay (node affinity compares them), and so do names that
// Kubernetes itself has given (system namespaces, keys of labels and taints in its domains, classes
// that begin with system-), and the resources and drivers of widespread products.
//
// Three things differ afterwards. Names sort in another order, which breaks some ties. Device
// selectors that look inside a string (startsWith, matches) no longer match. StatefulSets lose
// their claim templates, and objects of kinds without rules lose everything but their metadata.
//
// Decisions have rules of the same kind. They are about a record, not about an object.
//
// The package does no I/O. It may import simulator/cluster/objects, which names the annotations,
// the results, and Kubernetes' API machinery.
package redact

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Redactor replaces words. Its only state is its salt, and many goroutines may use it at once.
type Redactor struct {
	salt []byte
}

// saltBytes is the length of the hash, so that no dictionary reverses it.
const saltBytes = sha256.Size

// New returns a redactor. Redactors with the same salt make the same replacements, so that people
// can compare two files; but a reader who knows the salt can test whether a guessed name is in a
// file. Without a salt New draws a random one and keeps it secret.
func New(salt []byte) *Redactor {
	if len(salt) == 0 {
		salt = NewSalt()
	}
	return &Redactor{salt: salt}
}

// NewSalt draws a salt at random.
func NewSalt() []byte {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // it never fails
	return salt
}

// Object redacts u in place. Of a kind without rules it leaves the kind and the metadata.
func (r *Redactor) Object(u *unstructured.Unstructured) {
	gvk := u.GroupVersionKind()
	known, covered := kinds[gvk.GroupKind()]
	out := map[string]any{"apiVersion": u.Object["apiVersion"], "kind": u.Object["kind"]}
	if !covered {
		known = kind{name: words("object"), fields: fields{}}
	}
	if metadata := metadataRule(known.name)(r, u.Object["metadata"]); metadata != nil {
		out["metadata"] = metadata
	}
	for name, rule := range known.fields {
		if value := rule.apply(r, u.Object[name]); value != nil {
			out[name] = value
		}
	}
	u.Object = out
}

// Covers reports whether Object leaves more than metadata of a kind. Leave out objects of other
// kinds: the kind itself may give something away.
func Covers(kind schema.GroupKind) bool {
	_, covered := kinds[kind]
	return covered
}

// digest differs for every word and reveals nothing about it.
func (r *Redactor) digest(word string) []byte {
	h := hmac.New(sha256.New, r.salt)
	h.Write([]byte(word))
	return h.Sum(nil)
}

// wordLength characters hold 50 bits: among a hundred thousand words two are equal once in two
// hundred thousand files.
const wordLength = 10

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// The prefix only helps the reader.
func (r *Redactor) word(prefix, word string) string {
	return prefix + "-" + r.bare(word)
}

func (r *Redactor) bare(word string) string {
	return lower.EncodeToString(r.digest(word))[:wordLength]
}

// uid returns a replacement in the form of a UID.
func (r *Redactor) uid(uid string) string {
	d := hex.EncodeToString(r.digest(uid))
	return fmt.Sprintf("%s-%s-%s-%s-%s", d[:8], d[8:12], d[12:16], d[16:20], d[20:32])
}

// address returns one of 10.0.0.0/8 for each address, except those that name no machine.
func (r *Redactor) address(address string) string {
	switch address {
	case "", "0.0.0.0", "::", "127.0.0.1", "::1":
		return address
	}
	d := r.digest(address)
	return fmt.Sprintf("10.%d.%d.%d", d[0], d[1], 1+d[2]%254)
}

// image keeps the properties of an image name that the scheduler looks at: whether it has a tag, a
// digest, or neither, and which names are equal.
func (r *Redactor) image(image string) string {
	if image == "" {
		return ""
	}
	name, digest, hasDigest := strings.Cut(image, "@")
	repository, tag := name, ""
	if at := strings.LastIndex(name, ":"); at > strings.LastIndex(name, "/") {
		repository, tag = name[:at], name[at+1:]
	}
	out := r.word("image", repository)
	switch tag {
	case "":
	case "latest":
		out += ":latest"
	default:
		out += ":t" + r.bare(tag)
	}
	if hasDigest {
		out += "@sha256:" + hex.EncodeToString(r.digest(digest))
	}
	return out
}
