/** One session: tells the daemon what happens, and asks what is worth saying about it. Knows no AI SDK. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Place } from './address.js'
import { type Call, call, complaint, excerpt, isFailure } from './calls.js'
import type { Link } from './link.js'
import type { Fields } from './lines.js'
import { MAX_NOTE, Notes } from './notes.js'
import type { Budgets, Outcome, Problem } from './types.js'

/** Kinds of tools whose files are not worth a word: they were named, not opened. */
const ASIDE = new Set<string>(['list', 'web_fetch', 'web_search', 'task'])
/** Calls and files of a session that are kept in mind: more than one step can hold. */
const MAX_KEPT = 500
/** The first step before which there may be a note whatever happened. */
const FIRST_STEP = 5
/** The longest text of a person or of the agent that is told. */
const MAX_TEXT = 32_000
const MAX_TASK = 2_000
/** The most steps a limit may be raised to. */
const MAX_STEPS = 500
/** How long `end` waits for learning when it is told to. */
const LEARNING = 3_000

/** A call that was seen to begin. */
export interface Begun { id: string, call: Call, at: number }

export interface WatchOptions {
  link: Link
  session: string
  place: Place
  task: string | undefined
  budgets: Budgets
  problem: Problem
}

export class Watch {
  readonly session: string
  readonly notes = new Notes()
  readonly #options: WatchOptions
  readonly #seen = new Set<string>()
  /** Files of the project that the session went over. */
  readonly #touched = new Set<string>()
  /** Marks the ids of events: a session that is taken up again does not repeat them. */
  readonly #run = randomUUID().slice(0, 8)
  /** Memories that were said at the start, by id: the daemon counts only what is said later. */
  readonly #said = new Set<string>()
  #task: string
  #nEvents = 0
  #nBegun = 0
  #nSteps = 0
  #farewell: Promise<void> | undefined

  constructor(options: WatchOptions) {
    this.#options = options
    this.session = options.session
    this.#task = options.task ?? ''
  }

  begin(name: string, input: unknown, callId: string | undefined): Begun {
    const begun = { id: callId ?? randomUUID(), call: call(name, input, this.#options.place), at: performance.now() }
    remember(this.#touched, begun.call.paths)
    remember(this.#seen, [begun.id])
    const { kind, ...args } = begun.call
    this.#tell('tool_call', { call_id: begun.id, tool: kind, args })
    return begun
  }

  /** A call returned; a note about it, if there is one, will go with its result. */
  returned(begun: Begun, output: unknown): void {
    const note = this.#ended(begun, output)
    if (note) this.notes.about(begun.id, note)
  }

  /** A call threw: its result is the SDK's to write, so that a note goes with what comes next. */
  threw(begun: Begun, error: unknown, isAborted: boolean): void {
    this.#result(begun, false, complaint(error))
    const note = isAborted ? undefined : this.#about(begun, complaint(error))
    if (note) this.notes.next(note)
  }

  /** A call that only its step tells of, because its tool was not wrapped. */
  heard(callId: string, name: string, input: unknown, result: { output: unknown } | { error: unknown }): void {
    if (this.#seen.has(callId)) return
    const begun = this.begin(name, input, callId)
    if ('error' in result) return this.threw(begun, result.error, false)
    const note = this.#ended(begun, result.output)
    if (note) this.notes.next(note)
  }

  said(text: string): void {
    if (text === '') return
    this.#task ||= text.slice(0, MAX_TASK)
    this.#tell('user_message', { text: text.slice(0, MAX_TEXT) })
  }

  /** A step of the model ended. */
  step(thoughts: string[], usage: Fields | undefined): void {
    this.#nSteps += 1
    for (const text of thoughts.filter(it => it !== '')) this.#tell('reasoning', { text: text.slice(0, MAX_TEXT) })
    this.#tell('step_complete', usage ? { usage } : {})
  }

  /** A step begins: what to say before it, given the calls of the step that ended. */
  async between(calls: { name: string, input: unknown }[]): Promise<void> {
    const step = this.#nBegun++
    if (step < FIRST_STEP) return
    const { place, budgets } = this.#options
    const read = calls.map(it => call(it.name, it.input, place))
    const searches = read.map(it => it.query).filter(it => it !== undefined)
    const files = this.#absolute(read.flatMap(it => it.paths))
    const touched = this.#absolute([...this.#touched])
    const fields = { request: 'step_context', step, files, touched, searches, task: this.#task }
    this.notes.add(await this.#context(fields, budgets.step))
  }

  /** What an agent should know when it begins. */
  async start(about: Fields): Promise<string | undefined> {
    const request = { request: 'session_context', session_id: this.session, ...about }
    const answer = await this.#options.link.ask(request, this.#options.budgets.start)
    if (answer === undefined) return undefined
    const text = this.#text(answer)
    if (text !== '') for (const it of ids(answer)) this.#said.add(it)
    return text
  }

  /** How many steps a task that is planned with `base` may take, by what such tasks took before. */
  async limit(base: number): Promise<number> {
    const request = { request: 'stop_limit', session_id: this.session, base }
    const limit = (await this.#options.link.ask(request, this.#options.budgets.limit))?.limit
    const isSensible = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1
      && limit <= Math.min(base * 2, MAX_STEPS)
    return isSensible ? limit : base
  }

  end(outcome: Outcome | undefined, wait: boolean): Promise<void> {
    this.#farewell ??= this.#end(outcome, wait)
    return this.#farewell
  }

  async #end(outcome: Outcome | undefined, wait: boolean): Promise<void> {
    const { link, budgets } = this.#options
    const steps = this.#nSteps > 0 ? { steps: this.#nSteps } : {}
    const fields = { request: 'finish', session_id: this.session, ...(outcome ? { outcome } : {}), ...steps, wait }
    await link.ask(fields, wait ? Math.max(LEARNING, budgets.end) : budgets.end)
    link.close()
  }

  #ended(begun: Begun, output: unknown): Promise<string> | undefined {
    const error = isFailure(output) ? complaint(output) : undefined
    this.#result(begun, error === undefined, error ?? excerpt(output))
    return this.#about(begun, error)
  }

  #about({ call }: Begun, error: string | undefined): Promise<string> | undefined {
    const { budgets } = this.#options
    if (error !== undefined) {
      const command = call.command === undefined ? {} : { command: call.command }
      return this.#context({ request: 'step_context', tool: call.kind, ...command, error }, budgets.tool)
    }
    if (call.paths.length === 0 || ASIDE.has(call.kind)) return undefined
    return this.#context({ request: 'step_context', files: this.#absolute(call.paths) }, budgets.tool)
  }

  /** A note, or nothing; one that comes late is kept for the next moment, since it will not be said again. */
  async #context(fields: Fields, budget: number): Promise<string> {
    const request = { ...fields, session_id: this.session }
    const answer = await this.#options.link.ask(request, budget, it => this.notes.add(this.#news(it)))
    return answer ? this.#news(answer) : ''
  }

  /** A note, unless all of it was said at the start. */
  #news(answer: Fields): string {
    const about = ids(answer)
    const isOld = about.length > 0 && about.every(it => this.#said.has(it))
    return isOld ? '' : this.#text(answer)
  }

  #text({ text }: Fields): string {
    const isSayable = typeof text === 'string' && text.length <= MAX_NOTE
    if (!isSayable) this.#options.problem(typeof text === 'string' ? 'a note is too long to be said' : 'a note is no text')
    return isSayable ? text.trim() : ''
  }

  #result({ id, call, at }: Begun, ok: boolean, text: string): void {
    const duration_ms = Math.round(performance.now() - at)
    this.#tell('tool_result', { call_id: id, tool: call.kind, ok, duration_ms, ...(text === '' ? {} : { excerpt: text }) })
  }

  #absolute(paths: string[]): string[] {
    return paths.map(it => join(this.#options.place.root, it))
  }

  #tell(event: string, fields: Fields): void {
    const event_id = `${this.#run}-${++this.#nEvents}`
    this.#options.link.tell({ event, event_id, session_id: this.session, at: Date.now(), ...fields })
  }
}

function ids({ memories }: Fields): string[] {
  return Array.isArray(memories) ? memories.filter(it => typeof it === 'string') : []
}

/** Adds to a set that forgets what is oldest. */
function remember(acc: Set<string>, values: string[]): void {
  for (const it of values) acc.add(it)
  for (const it of acc) {
    if (acc.size <= MAX_KEPT) return
    acc.delete(it)
  }
}
