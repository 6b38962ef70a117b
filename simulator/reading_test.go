package simulator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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

// ownTexts are packages that read with such a function only what is compiled into the program.
var ownTexts = []string{"scheduler/yamlsource", "simulator/cluster/definitions"}

// TestYAMLHasOneReader: nothing reads YAML beside scheduler/yamlsource, which bounds what a text becomes.
func TestYAMLHasOneReader(t *testing.T) {
	eachFile(t, func(dir string, fset *token.FileSet, file *ast.File) {
		if slices.Contains(ownTexts, dir) {
			return
		}
		names := map[string][]string{}
		for _, i := range file.Imports {
			path, _ := strconv.Unquote(i.Path.Value)
			if readers[path] == nil {
				continue
			}
			name := "yaml"
			if i.Name != nil {
				name = i.Name.Name
			}
			names[name] = readers[path]
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if of, ok := selector.X.(*ast.Ident); ok && slices.Contains(names[of.Name], selector.Sel.Name) {
				t.Errorf("%s reads YAML by %s.%s; scheduler/yamlsource bounds what a text becomes", fset.Position(n.Pos()), of.Name, selector.Sel.Name)
			}
			return true
		})
	})
}

// bodyReaders are the functions of the server that touch the body of a request. All others get what these have read within bounds.
var bodyReaders = []string{
	"readBody", "readOptional", "buffered", "complete", "limitBody", // bodies in memory
	"putConfiguration", "putSessionConfiguration", "putKueueConfiguration", "postRun", // documents, which their readers bound
	"receive", "postReplay", // files, which are read from the disk within bounds
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
