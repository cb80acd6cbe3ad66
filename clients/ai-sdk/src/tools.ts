/**
 * Wrapped tools. The value that a tool returns to the program is unchanged; a note is added only to the output for the
 * model, in `toModelOutput`. The author's functions run as before, with the same `this`.
 */

import { type Fields, isFields } from './lines.js'
import type { StartedCall, SessionObserver } from './session-observer.js'

type Execute = (input: unknown, options: unknown) => unknown
type ToModelOutput = (options: { toolCallId: string, input: unknown, output: unknown }) => unknown

/** Output of a tool for the model, in both versions of the SDK. */
interface ModelOutput { type: string, value?: unknown }

const wrapped = new WeakMap<object, SessionObserver>()

/** Wraps the tools that run in this process; others stay unchanged. */
export function wrapTools<TOOLS extends object>(tools: TOOLS, observer: SessionObserver): TOOLS {
  const properties = Object.getOwnPropertyDescriptors(tools) as Record<string, PropertyDescriptor>
  for (const [name, property] of Object.entries(properties)) {
    const tool: unknown = (tools as Fields)[name]
    if (!isFields(tool) || typeof tool.execute !== 'function' || wrapped.get(tool) === observer) continue
    properties[name] = dataProperty(wrap(name, tool, observer), property.enumerable)
  }
  return Object.create(Object.getPrototypeOf(tools) as object | null, properties) as TOOLS
}

function wrap(name: string, tool: Fields, observer: SessionObserver): object {
  const inner = tool.execute as Execute
  const innerOutput = tool.toModelOutput as ToModelOutput | undefined
  const isProviders = typeof tool.type === 'string' && tool.type.startsWith('provider')

  const execute: Execute = (input, options) => {
    const observed = new ObservedCall(observer, name, input, options)
    let result: unknown
    try {
      result = Reflect.apply(inner, tool, [input, options])
    } catch (error) {
      observed.threw(error)
      throw error
    }
    if (isAsyncIterable(result)) return observed.stream(result)
    if (isPromiseLike(result)) return observed.promise(result)
    observed.returned(result)
    return result
  }

  const toModelOutput: ToModelOutput = async options => {
    const output = innerOutput ? await Reflect.apply(innerOutput, tool, [options]) : defaultOutput(options.output)
    try {
      const note = await observer.notes.noteForCall(options.toolCallId)
      if (note === '') return output
      const noted = withNote(output, note, isProviders)
      if (noted === undefined) observer.notes.add(note)
      return noted ?? output
    } catch {
      return output
    }
  }

  const properties = Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>
  const all = { ...properties, execute: dataProperty(execute), toModelOutput: dataProperty(toModelOutput) }
  const res = Object.create(Object.getPrototypeOf(tool) as object | null, all) as object
  wrapped.set(res, observer)
  return res
}

/** One observed call. Its methods throw only errors of the tool itself. */
class ObservedCall {
  readonly #observer: SessionObserver
  readonly #started: StartedCall | undefined
  readonly #signal: AbortSignal | undefined

  constructor(observer: SessionObserver, name: string, input: unknown, options: unknown) {
    this.#observer = observer
    const { toolCallId, abortSignal } = isFields(options) ? options : {}
    this.#signal = abortSignal as AbortSignal | undefined
    this.#started = quietly(() => observer.startCall(name, input, typeof toolCallId === 'string' ? toolCallId : undefined))
  }

  returned(output: unknown): void {
    const started = this.#started
    if (started) quietly(() => this.#observer.returned(started, output))
  }

  threw(error: unknown): void {
    const started = this.#started
    if (started) quietly(() => this.#observer.threw(started, error, this.#signal?.aborted === true))
  }

  promise(result: PromiseLike<unknown>): PromiseLike<unknown> {
    const done = (output: unknown): unknown => {
      this.returned(output)
      return output
    }
    return result.then(done, (error: unknown) => {
      this.threw(error)
      throw error
    })
  }

  /** The last value is the result; the others report progress. */
  async* stream(values: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    let last: unknown
    try {
      for await (const it of values) {
        last = it
        yield it
      }
    } catch (error) {
      this.threw(error)
      throw error
    }
    this.returned(last)
  }
}

/** The SDK's own conversion of a result, for tools without `toModelOutput`. */
function defaultOutput(output: unknown): ModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  try {
    const text = JSON.stringify(output)
    return { type: 'json', value: text === undefined ? null : JSON.parse(text) }
  } catch {
    // Not JSON: the SDK reports that itself.
    return { type: 'json', value: output }
  }
}

/**
 * Adds a note to an output, in a form that every provider accepts; undefined if the form has no place for it. JSON becomes
 * text, unless the provider defined the tool and reads the fields of the result itself.
 */
function withNote(output: unknown, note: string, isProviders: boolean): ModelOutput | undefined {
  if (!isFields(output)) return undefined
  const { type, value } = output
  const after = (text: string): string => (text === '' ? note : `${text}\n\n${note}`)
  switch (type) {
    case 'text':
    case 'error-text':
      return { ...output, type, value: after(String(value)) }
    case 'json':
      return isProviders ? undefined : { ...output, type: 'text', value: after(JSON.stringify(value)) }
    case 'error-json':
      return isProviders ? undefined : { ...output, type: 'error-text', value: after(JSON.stringify(value)) }
    case 'content':
      return Array.isArray(value) ? { ...output, type, value: [...value as unknown[], { type: 'text', text: note }] } : undefined
    default:
      return undefined
  }
}

function dataProperty(value: unknown, enumerable = true): PropertyDescriptor {
  return { value, enumerable, configurable: true, writable: true }
}

function quietly<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value
}

function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
