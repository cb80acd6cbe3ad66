//! Resolution of TypeScript and JavaScript: modules, members, types.
//!
//! A line `== path` in a script begins a file. An expected line is `from kind to (evidence)`:
//! `a.ts:run calls b.ts:Store.save (type)`. The evidence is the way by which the target was found:
//! `scope` (same file), `import`, `member` (of the own type or a base), `type` (of the value),
//! `overload` (one of several), `unique` (the only method with the name). The list is complete: a
//! call in a script without a line must stay unresolved.

use expect_test::expect;
use waylore_graph::EdgeKind;

use crate::fixture::{build_graph, check_edge_kinds, check_edges, format_edges};

#[test]
fn imports_follow_aliases_barrel_files_and_default_exports() {
    check_edges(
        "
== lib/index.ts
export * from './deep'
export { hidden as shown } from './deep'
export { default as Thing } from './thing'
export * as tools from './tools'
== lib/deep.ts
export function far() {}
function hidden() {}
export { hidden }
== lib/thing.ts
export default class Real { go() {} }
== lib/tools.ts
export const cut = () => {}
== app.ts
import { far as near, shown, Thing, tools } from './lib'
import * as all from './lib/index.js'
near(); shown(); new Thing().go(); tools.cut(); all.far()
",
        expect![[r"
            app.ts calls lib/deep.ts:far (import)
            app.ts calls lib/deep.ts:hidden (import)
            app.ts calls lib/thing.ts:Real.go (type)
            app.ts calls lib/tools.ts:cut (import)
            app.ts instantiates lib/thing.ts:Real (import)
        "]],
    );
}

/// The package maps `.` to build output, whose source is found in `src`. `path` is external.
#[test]
fn path_mappings_and_workspace_packages_are_followed() {
    check_edges(
        r#"
== tsconfig.base.json
{ "compilerOptions": { "baseUrl": ".", /* aliases */ "paths": { "@app/*": ["./src/*"], }, } }
== tsconfig.json
{ "extends": "./tsconfig.base.json" }
== packages/math/package.json
{ "name": "@org/math", "exports": { ".": { "types": "./dist/index.d.ts", "import": "./dist/index.js" }, "./extra": "./src/extra.ts" } }
== packages/math/src/index.ts
export function add() {}
== packages/math/src/extra.ts
export function more() {}
== src/util/text.ts
export function trim() {}
== src/main.ts
import { trim } from '@app/util/text'
import { add } from '@org/math'
import { more } from '@org/math/extra'
import { join } from 'path'
export function main() { trim(); add(); more(); join() }
"#,
        expect![[r"
            src/main.ts:main calls packages/math/src/extra.ts:more (import)
            src/main.ts:main calls packages/math/src/index.ts:add (import)
            src/main.ts:main calls src/util/text.ts:trim (import)
        "]],
    );
}

#[test]
fn types_of_parameters_fields_results_and_callbacks_are_followed() {
    check_edges(
        "
== scene.ts
export class Node { draw(): void {} next(): Node | null { return null } }
export class Scene {
  private nodes: Map<string, Node> = new Map()
  list: readonly Node[] = []
  constructor(private root: Node) {}
  get first() { return this.list[0] }
  async find(id: string): Promise<Node> { return this.nodes.get(id)! }
  all() {
    this.root.draw()
    this.list.forEach((it) => it.next()?.draw())
    for (const node of this.list) node.draw()
    this.first.draw()
  }
}
export const make = (root: Node) => new Scene(root)
== app.ts
import { make, type Scene } from './scene'
const use = async ({ scene }: { scene: Scene }) => {
  (await scene.find('a')).draw()
  make(scene.first).all()
}
",
        expect![[r"
            app.ts:use calls scene.ts:Node.draw (type)
            app.ts:use calls scene.ts:Scene.all (type)
            app.ts:use calls scene.ts:Scene.find (type)
            app.ts:use calls scene.ts:make (import)
            scene.ts:Scene.all calls scene.ts:Node.draw (type)
            scene.ts:Scene.all calls scene.ts:Node.next (type)
            scene.ts:make instantiates scene.ts:Scene (scope)
        "]],
    );
}

/// `first` is item 0 of the tuple, `second` a member of its item 1.
#[test]
fn defaults_in_patterns_do_not_change_which_part_a_variable_gets() {
    check_edges(
        "
== a.ts
class A { run() {} }
class B { run() {} }
function load(): [A, { b: B }] { return null }
const [first = null, { b: second = first }] = load()
const main = () => { first.run(); second.run() }
",
        expect![[r"
            a.ts calls a.ts:load (scope)
            a.ts:main calls a.ts:A.run (type)
            a.ts:main calls a.ts:B.run (type)
        "]],
    );
}

#[test]
fn holes_take_a_position_in_a_pattern_and_comments_take_none() {
    check_edges(
        "
== a.ts
class A { run() {} }
class B { run() {} }
function load(): [/* first */ A, B] { return null }
const [, second] = load()
const top = () => second.run()
function hole() { const [, item] = load(); item.run() }
function comment() { const [/* the */ item] = load(); item.run() }
",
        expect![[r"
            a.ts calls a.ts:load (scope)
            a.ts:comment calls a.ts:A.run (type)
            a.ts:comment calls a.ts:load (scope)
            a.ts:hole calls a.ts:B.run (type)
            a.ts:hole calls a.ts:load (scope)
            a.ts:top calls a.ts:B.run (type)
        "]],
    );
}

#[test]
fn a_value_behind_a_comment_is_returned_all_the_same() {
    check_edges(
        "
== a.ts
class Store { run() {} }
class Other { run() {} }
function make() { return /* cached */ new Store() }
function main() { make().run() }
",
        expect![[r"
            a.ts:main calls a.ts:Store.run (type)
            a.ts:main calls a.ts:make (scope)
            a.ts:make instantiates a.ts:Store (scope)
        "]],
    );
}

/// Only the receiver `x` is unknown: there the unique name is a guess.
#[test]
fn foreign_objects_are_never_bound_to_equally_named_members() {
    check_edges(
        "
== own.ts
export class Store { fetchAll() {} get() {} }
export function render() {}
== app.ts
import { render } from 'react-dom'
import type { Client } from 'client'
export function main(client: Client, list: string[], x) {
  render(); client.fetchAll(); list.get(); 'a'.get(); JSON.fetchAll(); x.fetchAll()
}
",
        expect![[r"
            app.ts:main calls own.ts:Store.fetchAll (unique)
        "]],
    );
}

#[test]
fn equally_named_methods_of_two_classes_are_kept_apart() {
    check_edges(
        "
== a.ts
export class A { run() { this.step() } step() {} }
export class B extends A { run() { super.run() } step() {} }
export const main = (a: A, b: B) => { a.run(); b.run(); b.step() }
",
        expect![[r"
            a.ts:A.run calls a.ts:A.step (member)
            a.ts:B extends a.ts:A (scope)
            a.ts:B.run calls a.ts:A.run (member)
            a.ts:B.run overrides a.ts:A.run (member)
            a.ts:B.step overrides a.ts:A.step (member)
            a.ts:main calls a.ts:A.run (type)
            a.ts:main calls a.ts:B.run (type)
            a.ts:main calls a.ts:B.step (type)
        "]],
    );
}

#[test]
fn calls_in_closures_belong_to_the_enclosing_function() {
    check_edges(
        "
== a.tsx
export function work() {}
export const Page = ({ items }) => {
  const onClick = () => { work() }
  useEffect(() => { items.map(() => work()) })
  return <Button onClick={onClick}><Label /></Button>
}
const Button = (props) => <b {...props} />
function Label() { return null }
",
        expect![[r"
            a.tsx:Page calls a.tsx:Button (scope)
            a.tsx:Page calls a.tsx:Label (scope)
            a.tsx:Page calls a.tsx:work (scope)
        "]],
    );
}

#[test]
fn a_function_that_is_passed_as_a_value_is_used() {
    check_edge_kinds(
        "
== a.ts
export function handler() {}
export class Config {}
== b.ts
import { handler, Config } from './a'
export function start(config: Config) { register(handler) }
",
        &[EdgeKind::Uses, EdgeKind::TypedAs, EdgeKind::Imports, EdgeKind::ImportsSymbol],
        expect![[r"
            b.ts imports a.ts (import)
            b.ts imports_symbol a.ts:Config (import)
            b.ts imports_symbol a.ts:handler (import)
            b.ts:start typed_as a.ts:Config (import)
            b.ts:start uses a.ts:handler (import)
        "]],
    );
}

#[test]
fn test_cases_are_named_by_their_titles() {
    check_edges(
        "
== a.ts
export function work() {}
== a.test.ts
import { work } from './a'
describe('work', () => { it('works', () => { work() }) })
",
        expect![[r"
            a.test.ts:work.works calls a.ts:work (import)
        "]],
    );
}

/// The types of the parameters come from a method with a rest parameter, an alias of a union, an
/// interface with generic overloads and a rest tuple, a constructor, and an inline type. `Other`
/// keeps the names from being unique.
#[test]
fn parameters_of_callbacks_have_the_types_that_the_called_function_declares() {
    check_edges(
        "
== context.ts
export class Context<E = any> { json() {} }
class Other { json() {} }
export type Next = () => Promise<void>
export type Handler<E = any> = (c: Context<E>, next: Next) => Response
export type Middleware = (c: Context, next: Next) => Promise<void>
export type H<E = any> = Handler<E> | Middleware
== app.ts
import type { Context, H, Handler } from './context'
export interface Route<E> {
  <P extends string, E2 extends E = E>(handler: H<E2>): App<E2>
  <P extends string>(path: P, handler: H<E>): App<E>
  <P extends string>(path: P, ...handlers: [H<E>, H<E>]): App<E>
}
export class App<E = any> {
  get!: Route<E>
  constructor(setup?: (c: Context) => void) {}
  use(path: string, ...handlers: Handler[]) {}
  each(visit: { (c: Context): void }) {}
}
== main.ts
import { App } from './app'
const app = new App()
function built() { new App(c => c.json()) }
function variadic() { app.use('/', async (c, next) => c.json()) }
function overloaded() { app.get('/', c => c.json()) }
function chained() { app.get('/').get('/', function (c) { return c.json() }) }
function tuple() { app.get('/', next, (c) => c.json()) }
function inline() { app.each(c => c.json()) }
function external() { other(c => c.json()) }
",
        expect![[r"
            main.ts:app instantiates app.ts:App (import)
            main.ts:built calls context.ts:Context.json (type)
            main.ts:built instantiates app.ts:App (import)
            main.ts:chained calls app.ts:App.get (type)
            main.ts:chained calls context.ts:Context.json (type)
            main.ts:inline calls app.ts:App.each (type)
            main.ts:inline calls context.ts:Context.json (type)
            main.ts:overloaded calls app.ts:App.get (type)
            main.ts:overloaded calls context.ts:Context.json (type)
            main.ts:tuple calls app.ts:App.get (type)
            main.ts:tuple calls context.ts:Context.json (type)
            main.ts:variadic calls app.ts:App.use (type)
            main.ts:variadic calls context.ts:Context.json (type)
        "]],
    );
}

#[test]
fn a_declared_type_gives_the_parameters_of_a_function_their_types() {
    check_edges(
        "
== context.ts
export class Context { json() {} }
class Other { json() {} }
export type Handler = (c: Context) => void
export interface Options { fetch: Handler; hooks: { done(c: Context): void } }
export function serve(options: Options) {}
== main.ts
import { serve, type Context, type Handler, type Options } from './context'
export const plain: Handler = c => { c.json() }
export function make(): Handler { return (c) => c.json() }
export const curried = (): Handler => (c) => c.json()
export const typed = (c: string) => c.json()
export class Page { handle: Handler = (c) => c.json() }
export function property() { serve({ fetch: c => c.json() }) }
export function nested() { serve({ hooks: { done(c) { c.json() } } }) }
export function local() { const inner: Options = { fetch(c) { c.json() } } }
",
        expect![[r"
            main.ts:Page.handle calls context.ts:Context.json (type)
            main.ts:curried calls context.ts:Context.json (type)
            main.ts:local calls context.ts:Context.json (type)
            main.ts:make calls context.ts:Context.json (type)
            main.ts:nested calls context.ts:Context.json (type)
            main.ts:nested calls context.ts:serve (import)
            main.ts:plain calls context.ts:Context.json (type)
            main.ts:property calls context.ts:Context.json (type)
            main.ts:property calls context.ts:serve (import)
        "]],
    );
}

/// A type parameter of the class has the value of the object; one of the function itself is not
/// inferred. Overloads that disagree decide nothing.
#[test]
fn an_unclear_type_of_a_callback_parameter_leaves_calls_unresolved() {
    check_edges(
        "
== main.ts
class User { save() {} }
class Team { save() {} }
class Emitter<T> { on(listener: (value: T) => void) {} }
function visit<T>(items: T[], visitor: (item: T) => void) {}
function open(callback: (user: User) => void): void
function open(callback: (team: Team) => void): void
function open(callback: any) {}
type Endless = (next: Endless) => Endless
declare const endless: Endless
function known(emitter: Emitter<User>) { emitter.on(user => user.save()) }
function generic(users: User[]) { visit(users, user => user.save()) }
function ambiguous() { open(it => it.save()) }
function recursive() { endless(a => a(b => b(c => c.save()))) }
",
        expect![[r"
            main.ts:ambiguous calls main.ts:open (scope)
            main.ts:generic calls main.ts:visit (scope)
            main.ts:known calls main.ts:Emitter.on (type)
            main.ts:known calls main.ts:User.save (type)
            main.ts:recursive calls main.ts:endless (scope)
        "]],
    );
}

/// The `store` of the function is its parameter, and not the constant around it.
#[test]
fn the_body_of_a_function_value_does_not_take_its_parameter_for_a_name_around_it() {
    for parameter in ["store", "(store)"] {
        let script = format!(
            "
== main.ts
class User {{ save() {{}} }}
class Team {{ save() {{}} }}
class Store {{ user = new User() }}
const store = new Store()
function make() {{ return {{ pick: {parameter} => store.user }} }}
function run(other: any) {{ make().pick(other).save() }}
"
        );
        let edges = format_edges(&build_graph(&script), &[EdgeKind::Calls]);
        assert!(edges.iter().all(|it| !it.contains("User.save")), "{parameter}: {edges:?}");
    }
}
