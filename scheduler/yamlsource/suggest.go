package yamlsource

import "strings"

// DidYouMean suggests the most similar known name, if one is similar enough.
func DidYouMean(name string, known []string) string {
	if len(name) > 60 {
		return ""
	}
	best, distance := "", min(3, len(name)/2)+1
	for _, k := range known {
		if strings.EqualFold(k, name) {
			best = k
			break
		}
		if d := editDistance(strings.ToLower(name), strings.ToLower(k)); d < distance {
			best, distance = k, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// editDistance counts the bytes to insert, delete and replace.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
