package bombs

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template"
)

// Values are what the templates of Template read.
func Values() map[string]any {
	list, fields := []any{}, map[string]any{}
	for i := range 100 {
		list, fields[fmt.Sprint(i)] = append(list, fmt.Sprint("a", i)), "aaaa"
	}
	return map[string]any{"text": strings.Repeat("a1 b,", 20), "list": list, "fields": fields}
}

// Template makes a template that calls the functions with what it has made before, also in loops. The choices say which.
func Template(functions template.FuncMap, choices []byte) string {
	names := slices.Sorted(maps.Keys(functions))
	next := func(n int) int {
		if len(choices) == 0 {
			return 0
		}
		c := int(choices[0])
		choices = choices[1:]
		return c % n
	}
	var out strings.Builder
	out.WriteString("{{$v0 := .text}}{{$v1 := .list}}{{$v2 := .fields}}")
	texts, values := []string{"$v0", "`a`", "``"}, []string{"$v0", "$v1", "$v2"}
	arg := func(of reflect.Type) string {
		switch of.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			return []string{"1", "0", "7", "100", "10000", "1000000000", "-1", "-9223372036854775808", "9223372036854775807"}[next(9)]
		case reflect.Float32, reflect.Float64:
			return []string{"1.5", "1e300", "-1.0"}[next(3)]
		case reflect.Bool:
			return []string{"true", "false"}[next(2)]
		case reflect.String:
			return texts[next(len(texts))]
		}
		return values[next(len(values))]
	}
	for made := 3; len(choices) > 0 && out.Len() < 8<<10; made++ {
		name, variable := names[next(len(names))], fmt.Sprintf("$v%d", made)
		of := reflect.TypeOf(functions[name])
		isText := of.Out(0).Kind() == reflect.String
		// In a loop, the variable is what the last round has made.
		rounds := []string{"", "60", "10000"}[next(3)]
		begin := values[next(len(values))]
		if isText {
			begin = texts[next(len(texts))]
		}
		if rounds != "" {
			texts, values = append(texts, variable), append(values, variable)
		}
		call := name
		for i := range of.NumIn() {
			if i < of.NumIn()-1 || !of.IsVariadic() {
				call += " " + arg(of.In(i))
				continue
			}
			for range next(4) {
				call += " " + arg(of.In(i).Elem())
			}
		}
		if rounds == "" {
			fmt.Fprintf(&out, "{{%s := %s}}", variable, call)
			values = append(values, variable)
			if isText {
				texts = append(texts, variable)
			}
		} else {
			fmt.Fprintf(&out, "{{%s := %s}}{{range %s}}{{%s = %s}}{{end}}", variable, begin, rounds, variable, call)
		}
	}
	fmt.Fprintf(&out, "{{range 10000}}{{%s}}{{end}}", values[len(values)-1])
	return out.String()
}
