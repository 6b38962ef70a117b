// Package redact makes objects of a cluster fit to be shown to others: names,
// labels, images and whatever else people have thought up are replaced, and what
// scheduling does not look at is left out. The same word has the same replacement
// wherever it occurs, so a redacted cluster is scheduled as the original is.
//
// What stays is listed, not what goes: a field that no rule names is dropped, and
// so are values of an enumeration that Kubernetes does not know. Kept are amounts,
// ports, times, priorities, booleans, integers of fewer than twelve digits (node
// affinity compares them), what Kubernetes itself has named (system namespaces,
// keys of labels and taints in its domains, classes that begin with system-), and
// the resources and drivers of widespread products.
//
// Three things are not the same afterwards. The order of names, by which some
// ties are broken, is another one. Device selectors that look inside a string
// (startsWith, matches) no longer find what they did. StatefulSets come without
// claim templates, and objects of kinds that are not covered without all but
// their metadata.
//
// The package is pure. It imports nothing of the simulator.
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

// Redactor replaces words. It has no state but its salt, and may be used by many
// goroutines at once.
type Redactor struct {
	salt []byte
}

// saltBytes is as long as the hash: no dictionary reverses it.
const saltBytes = sha256.Size

// New returns a redactor. Those with the same salt replace alike, so that two
// files can be compared; whoever knows the salt can find out whether a guessed
// name is in a file. Without a salt it draws a random one, which nobody knows.
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

// Object redacts u in place. Of a kind that is not covered it leaves the kind and
// the metadata.
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

// Covers reports whether Object leaves more of such a kind than metadata. What
// it does not cover is better left out: its kind may be telling.
func Covers(kind schema.GroupKind) bool {
	_, covered := kinds[kind]
	return covered
}

// digest is different for every word, and tells nothing of it.
func (r *Redactor) digest(word string) []byte {
	h := hmac.New(sha256.New, r.salt)
	h.Write([]byte(word))
	return h.Sum(nil)
}

// wordBytes are 50 bits in ten characters: two of a hundred thousand words are
// alike once in two hundred thousand files.
const wordLength = 10

var lower = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// word returns the replacement of a word. The prefix only helps the reader.
func (r *Redactor) word(prefix, word string) string {
	return prefix + "-" + r.bare(word)
}

func (r *Redactor) bare(word string) string {
	return lower.EncodeToString(r.digest(word))[:wordLength]
}

// uid has the form of a UID.
func (r *Redactor) uid(uid string) string {
	d := hex.EncodeToString(r.digest(uid))
	return fmt.Sprintf("%s-%s-%s-%s-%s", d[:8], d[8:12], d[12:16], d[16:20], d[20:32])
}

// address is one of 10.0.0.0/8 for each, less those that name no machine.
func (r *Redactor) address(address string) string {
	switch address {
	case "", "0.0.0.0", "::", "127.0.0.1", "::1":
		return address
	}
	d := r.digest(address)
	return fmt.Sprintf("10.%d.%d.%d", d[0], d[1], 1+d[2]%254)
}

// image keeps what the scheduler looks at in an image's name: whether it has a
// tag, a digest, or neither, and which of them are equal.
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
