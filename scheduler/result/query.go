package result

import "k8s.io/apimachinery/pkg/types"

// Query selects summaries. Zero fields do not restrict.
type Query struct {
	Namespace, Name string
	UID             types.UID
	Outcome         Outcome
	// Limit bounds a page; 0 means the store's default, and a higher value than
	// MaxLimit means MaxLimit.
	Limit int
	// Continue is the previous page's Continue; empty starts at the newest.
	Continue string
}

// MaxLimit is the longest page of summaries.
const MaxLimit = 5000

// Page is a list of summaries, newest first.
type Page struct {
	Items []Summary `json:"items"`
	// Continue identifies the next page; empty on the last page.
	Continue string `json:"continue"`
}
