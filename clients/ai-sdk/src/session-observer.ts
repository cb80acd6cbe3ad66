/** Observer of one session: sends its events to the daemon and requests notes. Independent of the AI SDK. */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { ProjectPlace } from './address.js'
import { errorText, excerpt, isFailure, parseCall, type ToolCall } from './calls.js'
import type { DaemonConnection } from './connection.js'
import type { Fields } from './lines.js'
import { MAX_NOTE, NoteQueue } from './notes.js'
import type { Budgets, Outcome, Problem } from './types.js'

/** Kinds of tools without notes about their files: they name files but do not open them. */
const KINDS_WITHOUT_NOTES = new Set<string>(['list', 'web_fetch', 'web_search', 'task'])
/** Most calls and files of a session that are tracked; more than one step can contain. */
const MAX_TRACKED = 500
/** First step before which a note may be requested. */
const FIRST_STEP_WITH_NOTE = 5
/** Longest text of a message and of the task, in characters. */
const MAX_TEXT = 32_000
const MAX_TASK = 2_000
/** Upper bound of a step limit. */
const MAX_STEPS = 500
/** Time that `end` waits for learning, in milliseconds. */
const LEARNING_TIMEOUT = 3_000

/** A call that has started. */
export interface StartedCall { id: string, call: ToolCall, at: number }

export interface ObserverOptions {
  connection: DaemonConnection
  session: string
  place: ProjectPlace
  task: string | undefined
  budgets: Budgets
  problem: Problem
}

export class SessionObserver {
  readonly session: string
  readonly notes = new NoteQueue()
  readonly #options: ObserverOptions
  readonly #seen = new Set<string>()
  /** Project files that the session accessed. */
  readonly #touched = new Set<string>()
  /** Prefix of event ids, so that a continued session does not repeat them. */
  readonly #run = randomUUID().slice(0, 8)
  /** Ids of the memories that were shown at the start; the daemon records only those shown later. */
  readonly #shownAtStart = new Set<string>()
  #task: string
  #nEvents = 0
  #nBegun = 0
  #nSteps = 0
  #ending: Promise<void> | undefined

  constructor(options: ObserverOptions) {
    this.#options = options
    this.session = options.session
    this.#task = options.task ?? ''
  }

  startCall(name: string, input: unknown, callId: string | undefined): StartedCall {
    const started = { id: callId ?? randomUUID(), call: parseCall(name, input, this.#options.place), at: performance.now() }
    addTracked(this.#touched, started.call.paths)
    addTracked(this.#seen, [started.id])
    const { kind, ...args } = started.call
    this.#sendEvent('tool_call', { call_id: started.id, tool: kind, args })
    return started
  }

  /** A call returned; its note, if there is one, is attached to its result. */
  returned(started: StartedCall, output: unknown): void {
    const note = this.#finishCall(started, output)
    if (note) this.notes.attachToCall(started.id, note)
  }

  /** A call threw. The SDK writes its result, so the note is attached to the next result or step. */
  threw(started: StartedCall, error: unknown, isAborted: boolean): void {
    this.#sendResult(started, false, errorText(error))
    const note = isAborted ? undefined : this.#requestNote(started, errorText(error))
    if (note) this.notes.attachToNext(note)
  }

  /** Observes a call from its step, because its tool was not wrapped. */
  observeUnwrapped(callId: string, name: string, input: unknown, result: { output: unknown } | { error: unknown }): void {
    if (this.#seen.has(callId)) return
    const started = this.startCall(name, input, callId)
    if ('error' in result) return this.threw(started, result.error, false)
    const note = this.#finishCall(started, result.output)
    if (note) this.notes.attachToNext(note)
  }

  observePrompt(text: string): void {
    if (text === '') return
    this.#task ||= text.slice(0, MAX_TASK)
    this.#sendEvent('user_message', { text: text.slice(0, MAX_TEXT) })
  }

  /** A step of the model has ended. */
  finishStep(thoughts: string[], usage: Fields | undefined): void {
    this.#nSteps += 1
    for (const text of thoughts.filter(it => it !== '')) this.#sendEvent('reasoning', { text: text.slice(0, MAX_TEXT) })
    this.#sendEvent('step_complete', usage ? { usage } : {})
  }

  /** Requests the note before a step, given the calls of the previous step. */
  async requestStepNote(calls: { name: string, input: unknown }[]): Promise<void> {
    const step = this.#nBegun++
    if (step < FIRST_STEP_WITH_NOTE) return
    const { place, budgets } = this.#options
    const read = calls.map(it => parseCall(it.name, it.input, place))
    const searches = read.map(it => it.query).filter(it => it !== undefined)
    const files = this.#absolute(read.flatMap(it => it.paths))
    const touched = this.#absolute([...this.#touched])
    const fields = { request: 'step_context', step, files, touched, searches, task: this.#task }
    this.notes.add(await this.#requestContext(fields, budgets.step))
  }

  /** Requests the notes for the start of the session. */
  async requestStartNotes(about: Fields): Promise<string | undefined> {
    const request = { request: 'session_context', session_id: this.session, ...about }
    const answer = await this.#options.connection.request(request, this.#options.budgets.start)
    if (answer === undefined) return undefined
    const text = this.#noteText(answer)
    if (text !== '') for (const it of ids(answer)) this.#shownAtStart.add(it)
    return text
  }

  /** Requests the step limit for a task planned with `base` steps. */
  async requestStepLimit(base: number): Promise<number> {
    const request = { request: 'stop_limit', session_id: this.session, base }
    const limit = (await this.#options.connection.request(request, this.#options.budgets.limit))?.limit
    const isSensible = typeof limit === 'number' && Number.isInteger(limit) && limit >= 1
      && limit <= Math.min(base * 2, MAX_STEPS)
    return isSensible ? limit : base
  }

  end(outcome: Outcome | undefined, wait: boolean): Promise<void> {
    this.#ending ??= this.#finish(outcome, wait)
    return this.#ending
  }

  async #finish(outcome: Outcome | undefined, wait: boolean): Promise<void> {
    const { connection, budgets } = this.#options
    const steps = this.#nSteps > 0 ? { steps: this.#nSteps } : {}
    const fields = { request: 'finish', session_id: this.session, ...(outcome ? { outcome } : {}), ...steps, wait }
    await connection.request(fields, wait ? Math.max(LEARNING_TIMEOUT, budgets.end) : budgets.end)
    connection.close()
  }

  #finishCall(started: StartedCall, output: unknown): Promise<string> | undefined {
    const error = isFailure(output) ? errorText(output) : undefined
    this.#sendResult(started, error === undefined, error ?? excerpt(output))
    return this.#requestNote(started, error)
  }

  #requestNote({ call }: StartedCall, error: string | undefined): Promise<string> | undefined {
    const { budgets } = this.#options
    if (error !== undefined) {
      const command = call.command === undefined ? {} : { command: call.command }
      return this.#requestContext({ request: 'step_context', tool: call.kind, ...command, error }, budgets.tool)
    }
    if (call.paths.length === 0 || KINDS_WITHOUT_NOTES.has(call.kind)) return undefined
    return this.#requestContext({ request: 'step_context', files: this.#absolute(call.paths) }, budgets.tool)
  }

  /** Requests a note. A late one is queued for the next step, because the daemon sends each only once. */
  async #requestContext(fields: Fields, budget: number): Promise<string> {
    const request = { ...fields, session_id: this.session }
    const answer = await this.#options.connection.request(request, budget, it => this.notes.add(this.#newText(it)))
    return answer ? this.#newText(answer) : ''
  }

  /** Text of an answer, unless all of its memories were shown at the start. */
  #newText(answer: Fields): string {
    const about = ids(answer)
    const isOld = about.length > 0 && about.every(it => this.#shownAtStart.has(it))
    return isOld ? '' : this.#noteText(answer)
  }

  #noteText({ text }: Fields): string {
    const isUsable = typeof text === 'string' && text.length <= MAX_NOTE
    if (!isUsable) this.#options.problem(typeof text === 'string' ? 'a note is too long' : 'a note is not a string')
    return isUsable ? text.trim() : ''
  }

  #sendResult({ id, call, at }: StartedCall, ok: boolean, text: string): void {
    const duration_ms = Math.round(performance.now() - at)
    this.#sendEvent('tool_result', { call_id: id, tool: call.kind, ok, duration_ms, ...(text === '' ? {} : { excerpt: text }) })
  }

  #absolute(paths: string[]): string[] {
    return paths.map(it => join(this.#options.place.root, it))
  }

  #sendEvent(event: string, fields: Fields): void {
    const event_id = `${this.#run}-${++this.#nEvents}`
    this.#options.connection.sendEvent({ event, event_id, session_id: this.session, at: Date.now(), ...fields })
  }
}

function ids({ memories }: Fields): string[] {
  return Array.isArray(memories) ? memories.filter(it => typeof it === 'string') : []
}

/** Adds to a set that drops its oldest values. */
function addTracked(acc: Set<string>, values: string[]): void {
  for (const it of values) acc.add(it)
  for (const it of acc) {
    if (acc.size <= MAX_TRACKED) return
    acc.delete(it)
  }
}
