//! Resolution of C and C++: prototypes and definitions, members outside their class, namespaces,
//! test macros.
//!
//! A line `== path` in a script begins a file. An expected line is `from kind to (evidence)`:
//! `a.ts:run calls b.ts:Store.save (type)`. The evidence is the way by which the target was found:
//! `scope` (same file), `import`, `member` (of the own type or a base), `type` (of the value),
//! `overload` (one of several), `unique` (the only method with the name). The list is complete: a
//! call in a script without a line must stay unresolved.

use expect_test::expect;

use crate::fixture::check_edges;

/// A static function is visible in its own file only, so the two `grow` are kept apart.
#[test]
fn c_calls_lead_from_the_prototype_in_a_header_to_the_definition() {
    check_edges(
        r#"
== include/list.h
struct list { int n; };
int list_add(struct list *l, int v);
== src/list.c
#include "list.h"
static int grow(struct list *l) { return 1; }
int list_add(struct list *l, int v) { return grow(l); }
== src/other.c
static int grow(int x) { return x; }
int twice(void) { return grow(2); }
== src/main.c
#include <stdio.h>
#include "list.h"
int main(void) { struct list l; list_add(&l, 1); printf("x"); return 0; }
"#,
        expect![[r"
            src/list.c:list_add calls src/list.c:grow (scope)
            src/list.c:list_add implements include/list.h:list_add (member)
            src/main.c:main calls src/list.c:list_add (import)
            src/other.c:twice calls src/other.c:grow (scope)
        "]],
    );
}

#[test]
fn cpp_members_defined_outside_their_class_belong_to_it() {
    check_edges(
        r#"
== engine.h
class Part { public: void turn(); };
class Engine : public Machine { public: void run(); Part part; static Engine* make(); };
class Machine { public: void stop() {} };
== engine.cpp
#include "engine.h"
void Part::turn() {}
void Engine::run() { part.turn(); this->stop(); helper(); }
Engine* Engine::make() { return new Engine(); }
static void helper() {}
== main.cpp
#include "engine.h"
int main() { Engine* e = Engine::make(); e->run(); Engine f; f.part.turn(); }
"#,
        expect![[r"
            engine.cpp:Engine.make implements engine.h:Engine.make (member)
            engine.cpp:Engine.make instantiates engine.h:Engine (import)
            engine.cpp:Engine.run calls engine.cpp:Part.turn (type)
            engine.cpp:Engine.run calls engine.cpp:helper (scope)
            engine.cpp:Engine.run calls engine.h:Machine.stop (type)
            engine.cpp:Engine.run implements engine.h:Engine.run (member)
            engine.cpp:Part.turn implements engine.h:Part.turn (member)
            engine.h:Engine extends engine.h:Machine (scope)
            main.cpp:main calls engine.cpp:Engine.make (member)
            main.cpp:main calls engine.cpp:Engine.run (type)
            main.cpp:main calls engine.cpp:Part.turn (type)
            main.cpp:main instantiates engine.h:Engine (import)
        "]],
    );
}

/// `help` is a function of two namespaces, `put` has two overloads, and `secret` is in an anonymous
/// namespace of two files.
#[test]
fn cpp_namespaces_separate_equal_names() {
    check_edges(
        r#"
== include/a/core.h
namespace a::b {
class API_EXPORT Store {
 public:
  Store(int size);
  virtual void put(const char* key, int n = 1);
  void put(const Store& other);
  static Store* open(const std::string& name);
};
void help(int x, int y = 0);
inline namespace v1 { void current(); }
}
namespace c { void help(int x); }
== src/core.cc
#include "a/core.h"
namespace a {
namespace b {
namespace { void secret() {} }
Store::Store(int size) { secret(); }
void Store::put(const char* key, int n) { help(n); grow(); this->put(*this); }
void Store::put(const Store& other) { current(); }
Store* Store::open(const std::string& name) { return new Store(1); }
void help(int x, int y) {}
void current() {}
}
}
void c::help(int x) {}
== src/other.cc
namespace { void secret() {} }
void grow() {}
void run() { secret(); help(1); }
== src/main.cc
#include "a/core.h"
namespace ab = a::b;
using namespace c;
using a::b::Store;
int main() {
  std::unique_ptr<Store> store(a::b::Store::open("x"));
  store->put("key");
  store->put(*store);
  help(1);
  ab::help(1, 2);
  ::a::b::help(1);
  std::vector<ab::Store> all;
  for (auto& help : all) { help.put("x", 2); }
  ab::Store one(1);
}
"#,
        expect![[r"
            src/core.cc:a.b.Store.Store calls src/core.cc:a.b.secret (scope)
            src/core.cc:a.b.Store.Store implements include/a/core.h:a.b.Store.Store (member)
            src/core.cc:a.b.Store.open implements include/a/core.h:a.b.Store.open (member)
            src/core.cc:a.b.Store.open instantiates include/a/core.h:a.b.Store (import)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.Store.put (type)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.current (scope)
            src/core.cc:a.b.Store.put calls src/core.cc:a.b.help (import)
            src/core.cc:a.b.Store.put calls src/other.cc:grow (import)
            src/core.cc:a.b.Store.put implements include/a/core.h:a.b.Store.put (member)
            src/core.cc:a.b.Store.put implements include/a/core.h:a.b.Store.put (member)
            src/core.cc:a.b.current implements include/a/core.h:a.b.current (member)
            src/core.cc:a.b.help implements include/a/core.h:a.b.help (member)
            src/core.cc:c.help implements include/a/core.h:c.help (member)
            src/main.cc:main calls src/core.cc:a.b.Store.open (member)
            src/main.cc:main calls src/core.cc:a.b.Store.put (type)
            src/main.cc:main calls src/core.cc:a.b.Store.put (type)
            src/main.cc:main calls src/core.cc:a.b.help (import)
            src/main.cc:main calls src/core.cc:c.help (import)
            src/main.cc:main instantiates include/a/core.h:a.b.Store (import)
            src/other.cc:run calls src/other.cc:secret (scope)
        "]],
    );
}

/// A test case of `GoogleTest` is a subclass of its fixture.
#[test]
fn cpp_test_cases_see_the_members_of_their_fixture() {
    check_edges(
        r#"
== store.h
class Store { public: int size() const; int n GUARDED_BY(mutex_); };
LIB_INLINE int Store::size() const { return n; }
== store_test.cc
#include "store.h"
class Fixture { protected: void fill(int n) {} Store store; Fixture& self() { return *this; } };
class StoreTest : public Fixture { void fill() {} };
TEST_F(StoreTest, KeepsOrder) { self().fill(1); store.size(); helper(); StoreTest::fill(); }
TEST(Plain, Works) { auto make = [](Store* it) { return it->size(); }; }
static void helper() {}
"#,
        expect![[r"
            store.h:Store.size implements store.h:Store.size (member)
            store_test.cc:Plain.Works calls store.h:Store.size (type)
            store_test.cc:StoreTest extends store_test.cc:Fixture (scope)
            store_test.cc:StoreTest.KeepsOrder calls store.h:Store.size (type)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:Fixture.fill (type)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:Fixture.self (member)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:StoreTest.fill (member)
            store_test.cc:StoreTest.KeepsOrder calls store_test.cc:helper (scope)
            store_test.cc:StoreTest.fill overrides store_test.cc:Fixture.fill (member)
        "]],
    );
}
