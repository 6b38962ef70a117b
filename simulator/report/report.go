// Package report makes an HTML file of a decision, or of two to compare. The file opens in a browser
// without a server or a network: it holds the decision, and the script and the style sheet of the web
// application's report. It is not a way to store decisions.
//
// What a decision says comes from the cluster, and whoever may write to the cluster chooses it. The
// file therefore holds it as data that no browser runs, and its Content-Security-Policy allows the
// one script by its hash and no connection.
//
// It may import the results, their explanations and the versions.
package report

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"regexp"
	"time"

	"kube-scheduler-simulator/scheduler/explain"
	"kube-scheduler-simulator/scheduler/result"
	"kube-scheduler-simulator/simulator/version"
)

// contentVersion counts incompatible changes of content. The web application refuses later ones.
const contentVersion = 1

// ErrNotBuilt says that this program was compiled without the web application.
var ErrNotBuilt = errors.New("this program was built without the web application, which draws reports")

// Report is what a file shows.
type Report struct {
	// Decision is the decision, Other the one that it is compared with; nil for none.
	Decision, Other *result.Cycle
	// Attempts are those of the decision's pod, oldest first.
	Attempts []result.Summary
	// Exported is when the file is made.
	Exported time.Time
}

// content is the JSON in a file.
type content struct {
	Version    int                `json:"version"`
	Provenance provenance         `json:"provenance"`
	Attempts   []result.Summary   `json:"attempts"`
	Decision   explain.Explained  `json:"decision"`
	Other      *explain.Explained `json:"other,omitempty"`
}

type provenance struct {
	Simulator  string    `json:"simulator"`
	Kubernetes string    `json:"kubernetes"`
	Exported   time.Time `json:"exported"`
}

// policyOf is the Content-Security-Policy of a file with this script: what the file holds itself, and no
// connection.
func policyOf(script []byte) string {
	sum := sha256.Sum256(script)
	return "default-src 'none'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; " +
		"style-src 'unsafe-inline'; img-src data:; font-src data:; base-uri 'none'; form-action 'none'"
}

// HTML returns the file and its Content-Security-Policy, which the file also states. application is the
// built web application; without its report the error is ErrNotBuilt.
func HTML(application fs.FS, r Report) (file []byte, policy string, err error) {
	script, err := read(application, "report/report.js")
	if err != nil {
		return nil, "", err
	}
	style, err := read(application, "report/report.css")
	if err != nil {
		return nil, "", err
	}
	var other *explain.Explained
	if r.Other != nil {
		other = new(explain.With(r.Other))
	}
	packed, err := pack(content{
		Version:    contentVersion,
		Provenance: provenance{Simulator: version.Get().Simulator, Kubernetes: version.Get().Kubernetes, Exported: r.Exported.UTC()},
		Attempts:   r.Attempts,
		Decision:   explain.With(r.Decision),
		Other:      other,
	})
	if err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256([]byte(packed))
	title := fmt.Sprintf("%s/%s, attempt %d", r.Decision.Pod.Namespace, r.Decision.Pod.Name, r.Decision.Attempt)
	policy = policyOf(script)
	return fmt.Appendf(nil, page, policy, html.EscapeString(title), style, hex.EncodeToString(sum[:]), packed, script), policy, nil
}

// page is the file: its policy, title, style sheet, the sum of the content, the content and the script.
// The script must follow the content, which it reads.
const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>%s</style>
</head>
<body>
<div id="app"></div>
<script type="text/plain" id="report" data-sha256="%s">%s</script>
<script type="module">%s</script>
</body>
</html>
`

func pack(c content) (string, error) {
	var out bytes.Buffer
	encoder := base64.NewEncoder(base64.StdEncoding, &out)
	compressor := gzip.NewWriter(encoder)
	if err := json.NewEncoder(compressor).Encode(c); err != nil {
		return "", fmt.Errorf("encoding the decision: %w", err)
	}
	if err := errors.Join(compressor.Close(), encoder.Close()); err != nil {
		return "", fmt.Errorf("packing the decision: %w", err)
	}
	return out.String(), nil
}

// read returns a file of the application, written so that it cannot end the element that it is put into.
func read(application fs.FS, name string) ([]byte, error) {
	text, err := fs.ReadFile(application, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotBuilt
	}
	if err != nil {
		return nil, fmt.Errorf("reading the web application: %w", err)
	}
	return ending.ReplaceAll(text, []byte(`<\$1`)), nil
}

// ending matches what ends a script or a style sheet in HTML, or hides its end, also within a string
// or a comment. A backslash after < means nothing there, so it does no harm.
var ending = regexp.MustCompile(`(?i)<(/script|/style|!--)`)
