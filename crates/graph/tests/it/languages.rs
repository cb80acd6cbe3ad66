//! Resolution of Python, Go, C#, Ruby and PHP.
//!
//! A line `== path` in a script begins a file. An expected line is `from kind to (evidence)`:
//! `a.ts:run calls b.ts:Store.save (type)`. The evidence is the way by which the target was found:
//! `scope` (same file), `import`, `member` (of the own type or a base), `type` (of the value),
//! `overload` (one of several), `unique` (the only method with the name). The list is complete: a
//! call in a script without a line must stay unresolved.

use expect_test::expect;
use waylore_graph::{ArityRange, extract_facts, language_of_path};

use crate::fixture::check_edges;

/// `import json` in a package means the standard library, not the module `pkg.json` beside it.
#[test]
fn python_calls_lead_through_packages_bases_and_annotations() {
    check_edges(
        "
== src/pkg/__init__.py
from .core import helper as exported
== src/pkg/core.py
import json
from os import path
def helper(): return json.loads('x')
class Base:
    def save(self): self.clean()
    def clean(self): ...
class Model(Base):
    items: list[Base]
    def clean(self):
        super().clean()
        for it in self.items:
            it.save()
    @classmethod
    def make(cls) -> 'Model': return cls()
    @property
    def base(self) -> Base: return Base()
== src/pkg/json.py
def loads(): ...
== src/app.py
import pkg.core
from pkg import exported, core as c
def main():
    exported()
    pkg.core.helper()
    m = c.Model.make()
    m.save()
    m.base.clean()
    def inner(): helper()
    return [x.save() for x in m.items]
",
        expect![[r"
            src/app.py:main calls src/pkg/core.py:Base.clean (type)
            src/app.py:main calls src/pkg/core.py:Base.save (type)
            src/app.py:main calls src/pkg/core.py:Model.make (member)
            src/app.py:main calls src/pkg/core.py:helper (import)
            src/pkg/core.py:Base.save calls src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model extends src/pkg/core.py:Base (scope)
            src/pkg/core.py:Model.base instantiates src/pkg/core.py:Base (scope)
            src/pkg/core.py:Model.clean calls src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model.clean calls src/pkg/core.py:Base.save (type)
            src/pkg/core.py:Model.clean overrides src/pkg/core.py:Base.clean (member)
            src/pkg/core.py:Model.make instantiates src/pkg/core.py:Model (scope)
        "]],
    );
}

/// `Store` embeds `Base`, so it has the method `Close`.
#[test]
fn go_calls_lead_through_packages_and_embedded_types() {
    check_edges(
        r#"
== go.mod
module example.com/app
== store/store.go
package store
type Base struct{}
func (b *Base) Close() error { return nil }
type Store struct { *Base; next *Store; all []*Store }
func Open(name string) (*Store, error) { return &Store{}, nil }
func (s *Store) Get() *Store { return s.next }
== store/more.go
package store
func reset(s *Store) { s.Close(); for _, it := range s.all { it.Get().Close() } }
== main.go
package main
import (
	"fmt"
	st "example.com/app/store"
)
func main() {
	s, err := st.Open("a")
	if err != nil { fmt.Println(err) }
	s.Get().Close()
	func() { helper() }()
}
func helper() {}
"#,
        expect![[r"
            main.go:main calls main.go:helper (scope)
            main.go:main calls store/store.go:Base.Close (type)
            main.go:main calls store/store.go:Open (import)
            main.go:main calls store/store.go:Store.Get (type)
            store/more.go:reset calls store/store.go:Base.Close (type)
            store/more.go:reset calls store/store.go:Store.Get (type)
            store/store.go:Open instantiates store/store.go:Store (scope)
            store/store.go:Store extends store/store.go:Base (scope)
        "]],
    );
}

#[test]
fn csharp_calls_lead_through_namespaces_fields_and_bases() {
    check_edges(
        "
== App/Repo.cs
namespace App.Data { public class Repo { public void Save() { Log(); } void Log() {} } }
== App/Service.cs
using App.Data;
namespace App { class Service : Base { private Repo repo = new Repo(); void Run(Repo other) { repo.Save(); other.Save(); Help(); } } class Base { protected void Help() {} } }
",
        expect![[r"
            App/Repo.cs:Repo.Save calls App/Repo.cs:Repo.Log (member)
            App/Service.cs:Service extends App/Service.cs:Base (scope)
            App/Service.cs:Service instantiates App/Repo.cs:Repo (import)
            App/Service.cs:Service.Run calls App/Repo.cs:Repo.Save (type)
            App/Service.cs:Service.Run calls App/Service.cs:Base.Help (member)
        "]],
    );
}

/// The four edges lead to four overloads. `char.IsLong` is external, not the method of `Text`.
#[test]
fn csharp_overloads_are_selected_by_argument_types() {
    check_edges(
        r#"
== A.cs
namespace A { class Writer { public void Put(string s) {} public void Put(int n) {} public void Put(object o, bool b) {} public void Put(string s, params int[] all) {} } }
== B.cs
namespace A { class Use { void Run(Writer w, int n) { w.Put("x"); w.Put(n); w.Put(w, true); w.Put("x", 1, 2); char.IsLong('x'); } } class Text { bool IsLong(char c) { return true; } } }
"#,
        expect![[r"
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
            B.cs:Use.Run calls A.cs:Writer.Put (type)
        "]],
    );
}

#[test]
fn ruby_calls_lead_through_bases_and_instance_variables() {
    check_edges(
        "
== lib/user.rb
require_relative 'base'
class User < Base
  def initialize(store)
    @mailer = Mailer.new
  end
  def save
    validate
    @mailer.deliver_now_or_never
  end
end
class Mailer
  def deliver_now_or_never; end
end
== lib/base.rb
class Base
  def validate; end
end
",
        expect![[r"
            lib/user.rb:User extends lib/base.rb:Base (import)
            lib/user.rb:User.initialize instantiates lib/user.rb:Mailer (scope)
            lib/user.rb:User.save calls lib/base.rb:Base.validate (member)
            lib/user.rb:User.save calls lib/user.rb:Mailer.deliver_now_or_never (type)
        "]],
    );
}

/// `two_spec.rb` requires nothing, so it sees no helper. `mock_app` is inside a block and not even
/// visible to files that require its file. `length_of_all` is the only method with its name, which is
/// no evidence in Ruby.
#[test]
fn a_ruby_helper_is_visible_only_to_files_that_require_it() {
    check_edges(
        "
== spec/one_spec.rb
describe 'one' do
  def mock_app; end
  it('works') { mock_app }
end
def shared; end
== spec/two_spec.rb
mock_app
shared
names.length_of_all
== spec/three_spec.rb
require_relative 'one_spec'
shared
mock_app
class Names; def length_of_all; end; end
",
        expect![[r"
            spec/one_spec.rb calls spec/one_spec.rb:mock_app (scope)
            spec/three_spec.rb calls spec/one_spec.rb:shared (import)
        "]],
    );
}

#[test]
fn php_calls_lead_through_namespaces_and_properties() {
    check_edges(
        r"
== src/Model/User.php
<?php namespace App\Model; use App\Tool\Log;
class User { private Log $log; function save(Log $other): void { $this->log->write2(); $other->write2(); $x = new Log(); self::make(); } static function make() {} }
== src/Tool/Log.php
<?php namespace App\Tool; class Log { function write2() { helper(); } } function helper() {}
",
        expect![[r"
            src/Model/User.php:User.save calls src/Model/User.php:User.make (member)
            src/Model/User.php:User.save calls src/Tool/Log.php:Log.write2 (type)
            src/Model/User.php:User.save instantiates src/Tool/Log.php:Log (import)
            src/Tool/Log.php:Log.write2 calls src/Tool/Log.php:helper (scope)
        "]],
    );
}

/// `\json_encode` is the function of the language; without the backslash it is the own one.
#[test]
fn a_php_name_with_a_leading_backslash_is_not_in_the_own_namespace() {
    check_edges(
        r"
== src/f.php
<?php namespace App; function json_encode() {} function run() { \json_encode(1); json_encode(1); }
",
        expect![[r"
            src/f.php:run calls src/f.php:json_encode (scope)
        "]],
    );
}

/// Checks how many arguments the only function named `f` in a file accepts.
fn check_arity(path: &str, text: &str, min: u8, max: u8) {
    let facts = extract_facts(language_of_path(path).unwrap(), path, text.as_bytes());
    let mut functions = facts.defs.iter().filter(|it| facts.string(it.name) == "f");
    assert_eq!(functions.next().unwrap().arity, ArityRange { min, max }, "{text}");
    assert!(functions.next().is_none(), "{text}");
}

#[test]
fn a_modifier_of_a_parameter_is_no_default_value() {
    check_arity("a.php", "<?php class A { function f(private Db $a, #[Id] int $b) {} }", 2, 2);
    check_arity(
        "a.php",
        "<?php class A { function f(private Db $a, protected int $b = 1) {} }",
        1,
        2,
    );
    check_arity("a.cs", "class A { void f(ref int a, [Id] int b) {} }", 2, 2);
    check_arity("a.cs", "class A { void f(int a, in int b = 1) {} }", 1, 2);
    check_arity("a.cs", "static class A { static void f(this Db a) {} }", 1, 1);
    check_arity("a.rb", "def f((a, b, c), d = 1); end", 1, 2);
}
