package derive
import ("testing";"fmt";"os";"github.com/nl-hecate/hecate/gen/ir";"github.com/nl-hecate/hecate/gen/autodiff";"github.com/nl-hecate/hecate/gen/irbuild";"github.com/nl-hecate/hecate/gen/diag";"github.com/nl-hecate/hecate/gen/check"; "github.com/nl-hecate/hecate/gen/markdown";"github.com/nl-hecate/hecate/gen/source";"github.com/nl-hecate/hecate/gen/notation";"github.com/nl-hecate/hecate/gen/spec";"path/filepath";"io/fs";"strings")
func load() *check.Tree {
 var pages []*spec.Page
 filepath.WalkDir("../../specs", func(p string, d fs.DirEntry, err error) error { if strings.HasSuffix(p,".md"){ b,_:=os.ReadFile(p); pg,_:=markdown.Parse(source.NewFile(p,string(b))); pages=append(pages,pg)}; return nil})
 known:=map[string]bool{}
 in:=func(p *spec.Page) (out []notation.Input){ for _,b:=range p.Blocks{ if b.IsHecate{ out=append(out,notation.Input{Text:b.Text,Offset:b.FileOffset,File:p.File,Example:b.IsExample,Known:known})}}; return}
 for _,p:=range pages{ for n:=range notation.Known(in(p)){known[n]=true}}
 var fs_ []*notation.File
 for _,p:=range pages{ if !p.Emits(){continue}; f,_:=notation.Parse(p.File,in(p)); fs_=append(fs_,f)}
 t,_:=check.Collect(fs_); return t
}
func TestZZ(t *testing.T){
 tr:=load()
 b,_:=check.Instantiate(tr, tr.Units[os.Getenv("U")])
 var ds diag.List
 if b.Unit.Kind==notation.OpUnit { f:=irbuild.Op(b,&ds); p:=autodiff.NewPair(f); fmt.Println(p.Fwd, p.Bwd); return }
 f:=irbuild.Rule(b,&ds)
 for _,in:=range f.Body{ if in.Scan!=nil { g,_:=in.Scan.Body.Clone(); fmt.Println(g)
  seeds:=map[*ir.Value]*ir.Value{}
  for _,r:=range g.Results{ seeds[r.Val]=g.AddParam(r.Name+".bar",ir.Adjoint,ir.Real,r.Val.Axes...)}
  var wrt []*ir.Value
  for _,p:=range g.Params{ if p.Elem==ir.Real&&p.Role!=ir.Adjoint{wrt=append(wrt,p)}}
  for _,in:=range g.Body{ for _,v:=range in.Defines(){ if v.Name[0]!='%'&&v.Elem==ir.Real{wrt=append(wrt,v)}}}
  adj:=autodiff.Reverse(&ir.Builder{F:g},seeds,wrt)
  for _,v:=range wrt{ if a:=adj[v];a!=nil{ g.Results=append(g.Results,ir.Result{Name:v.Name+".bar",Val:a})}; if v.Def!=nil {g.Results=append(g.Results,ir.Result{Name:v.Name,Val:v})}}
  autodiff.Simplify(g)
  fmt.Println(g)
 }}
}
