package simulator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// readers are the functions of YAML libraries that read a text without the bounds of scheduler/yamlsource. Those that write, and the
// types of nodes, are free.
var readers = map[string][]string{
	"go.yaml.in/yaml/v3":                {"Unmarshal", "NewDecoder"},
	"gopkg.in/yaml.v3":                  {"Unmarshal", "NewDecoder"},
	"sigs.k8s.io/yaml":                  {"Unmarshal", "UnmarshalStrict", "YAMLToJSON", "YAMLToJSONStrict"},
	"k8s.io/apimachinery/pkg/util/yaml": {"Unmarshal", "ToJSON", "NewYAMLReader", "NewYAMLToJSONDecoder", "NewYAMLOrJSONDecoder", "NewDocumentDecoder"},
	"sigs.k8s.io/kustomize/kyaml/yaml":  {"Parse", "Unmarshal"},
	"sigs.k8s.io/yaml/goyaml.v2":        {"Unmarshal", "UnmarshalStrict", "NewDecoder"},
}

// ownTexts are packages that read with such a function only what is compiled into the program, or, in a tool of its own, what the tool's
// user gives it.
var ownTexts = []string{"scheduler/yamlsource", "simulator/batch/kueue/judge", "simulator/batch/kueue/judge/original", "simulator/cluster/definitions"}

// jsonReaders are the functions that read JSON without those bounds.
var jsonReaders = map[string][]string{
	"encoding/json":                     {"Unmarshal", "NewDecoder"},
	"sigs.k8s.io/json":                  {"Unmarshal", "UnmarshalStrict", "UnmarshalCaseSensitivePreserveInts"},
	"k8s.io/apimachinery/pkg/util/json": {"Unmarshal"},
}

// jsonOf says, for each package that reads JSON with such a function, where the text comes from.
var jsonOf = map[string]string{
	"scheduler/config":                        "arguments and documents that the one reader has read",
	"scheduler/config/adopt":                  "documents that the one reader has read",
	"scheduler/examples/extender/reservation": "the body of a scheduler's request, of a bounded length, in a program of its own",
	"scheduler/explain":                       "statements that this program has written",
	"scheduler/plugins/judge/adapt":           "what the go command lists, in a tool of its own",
	"scheduler/result":                        "results that this program has written",
	"scheduler/schedulertest":                 "what tests send",
	"scheduler/simulation":                    "patched objects that this program has encoded",
	"scheduler/supervisor":                    "revisions that this program has written",
	"scheduler/versions":                      "answers of the programs that are built with it",
	"scheduler/versions/decide":               "requests of package versions, in a program of its own",
	"scheduler/whatif":                        "documents of a question, which the one reader has read, and patched objects",
	"scheduler/yamlsource":                    "the one reader",
	"simulator/app":                           "configurations that the one reader has read",
	"simulator/batch/kueue/admission":         "statements that this program has written",
	"simulator/batch/kueue/configuration":     "sections of a document that the one reader has read",
	"simulator/batch/kueue/conversion":        "reviews of this program's API server",
	"simulator/batch/kueue/intake":            "shapes of pods that it has written, and metadata of its API server's objects",
	"simulator/batch/kueue/judge":             "what its own scenarios and Kueue's log have, in a tool of its own",
	"simulator/batch/kueue/ledger":            "entries that this program has written",
	"simulator/batch/sessions":                "entries and settings that this program has written",
	"simulator/bench":                         "answers of the program that it measures",
	"simulator/cluster/controlplane":          "the owner's mark in etcd, which a simulator has written",
	"simulator/cluster/controlplane/external": "the version that the API server of the user's own cluster reports",
	"simulator/cluster/objects":               "annotations that this program has written, of at most 256 KiB",
	"simulator/cluster/storedform":            "objects that the one reader, or an API server, has read",
	"simulator/cluster/virtualnode":           "objects of the API server, and stages and annotations that the one reader has read",
	"simulator/command/fanout":                "ConfigMaps of a sweep's own pods, of a bounded length",
	"simulator/command/runner":                "the results of runs that this program has written",
	"simulator/elsewhere/redact":              "objects and results that were read before",
	"simulator/elsewhere/transfer":            "answers of API servers, and objects that package manifest has read",
	"simulator/elsewhere/transfer/manifest":   "items, each of which the one reader bounds first",
	"simulator/host/crash":                    "the list of crashes, which this program has written",
	"simulator/host/datadir":                  "the inventory, which this program has written",
	"simulator/past/branch":                   "answers of branches, which are this program",
	"simulator/elsewhere/mirror":              "the version that the API server of the source serves",
	"simulator/past/replay":                   "objects and headers that checkObject bounds first, and the first line of a record file",
	"simulator/past/timeline":                 "objects and marks that this program has written",
	"simulator/questions/ask":                 "answers of the simulator that the user asks",
	"simulator/questions/hypothesis":          "documents of a question, which the one reader has read",
	"simulator/questions/standalone":          "objects that package manifest has read",
	"simulator/questions/upgrade":             "pods that its caller has read",
	"simulator/questions/why":                 "documents of a question, which the one reader has read, and changes that this program has written",
	"simulator/scenarios/draft":               "exports of this program",
	"simulator/scenarios/oncluster":           "patches of a scenario, which the one reader has read",
	"simulator/scenarios/perf":                "objects that the one reader has read",
	"simulator/scenarios/scenario":            "documents that the one reader has read",
	"simulator/server/watch":                  "answers of this program's API server, and frames of clients, of a bounded length",
	"simulator/server/watch/watchtest":        "what tests send",
}

// TestJSONHasOneReader: what comes from outside goes through scheduler/yamlsource first, which bounds what a text becomes.
func TestJSONHasOneReader(t *testing.T) {
	unused := maps.Clone(jsonOf)
	eachFile(t, func(dir string, fset *token.FileSet, file *ast.File) {
		if strings.HasPrefix(dir, "simulator/testing") {
			return
		}
		for _, call := range callsOf(file, jsonReaders, "json") {
			if delete(unused, dir); jsonOf[dir] == "" {
				t.Errorf("%s reads JSON by %s; scheduler/yamlsource bounds what a text becomes", fset.Position(call.Pos()), call.Sel.Name)
			}
		}
	})
	for dir := range unused {
		t.Errorf("%s reads no JSON any more", dir)
	}
}

// callsOf returns where a file names functions of packages. A package's name is last unless the file gives it another.
func callsOf(file *ast.File, functions map[string][]string, last string) (calls []*ast.SelectorExpr) {
	names := map[string][]string{}
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		if functions[path] == nil {
			continue
		}
		name := last
		if i.Name != nil {
			name = i.Name.Name
		}
		names[name] = functions[path]
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(names[of.Name], selector.Sel.Name) {
				calls = append(calls, selector)
			}
		}
		return true
	})
	return calls
}

// TestYAMLHasOneReader: nothing reads YAML beside scheduler/yamlsource, which bounds what a text becomes.
func TestYAMLHasOneReader(t *testing.T) {
	eachFile(t, func(dir string, fset *token.FileSet, file *ast.File) {
		if slices.Contains(ownTexts, dir) {
			return
		}
		for _, call := range callsOf(file, readers, "yaml") {
			t.Errorf("%s reads YAML by %s; scheduler/yamlsource bounds what a text becomes", fset.Position(call.Pos()), call.Sel.Name)
		}
	})
}

// bodyReaders are the functions of the server that touch the body of a request. All others get what these have read within bounds.
var bodyReaders = []string{
	"readBody", "readOptional", "buffered", "complete", "limitBody", // bodies in memory
	"putConfiguration", "putSessionConfiguration", "putKueueConfiguration", "readRun", // documents, which their readers bound
	"receive", "postReplay", "postUpgradeFile", // files, which are read from the disk within bounds
	"streamBranch", // which has none
}

// TestBodiesHaveOneReader: no route of the server reads a body otherwise.
func TestBodiesHaveOneReader(t *testing.T) {
	eachFile(t, func(dir string, fset *token.FileSet, file *ast.File) {
		if dir != "simulator/server" {
			return
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || slices.Contains(bodyReaders, f.Name.Name) {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				selector, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				_, call := selector.X.(*ast.CallExpr)
				of, ident := selector.X.(*ast.Ident)
				switch {
				case selector.Sel.Name == "Body" && (call || ident && of.Name == "r"), selector.Sel.Name == "Bind" && ident && of.Name == "c",
					selector.Sel.Name == "FormValue", selector.Sel.Name == "ParseForm", selector.Sel.Name == "ParseMultipartForm", selector.Sel.Name == "FormFile":
					t.Errorf("%s: %s reads a body by %s; readStrictly bounds what it becomes", fset.Position(n.Pos()), f.Name.Name, selector.Sel.Name)
				}
				return true
			})
		}
	})
}

// eachFile parses the program's files, without tests.
func eachFile(t *testing.T, visit func(dir string, fset *token.FileSet, file *ast.File)) {
	t.Helper()
	fset := token.NewFileSet()
	for _, root := range []string{"../scheduler", "../simulator"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(fset, path, nil, 0)
			if err != nil {
				return err
			}
			visit(strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../"), fset, file)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
