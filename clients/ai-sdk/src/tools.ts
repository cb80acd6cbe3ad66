/**
 * Tools that are watched. What a tool returns to the program stays as it is; only what the model is given of it gets a
 * note, in `toModelOutput`. Whatever the tool's author wrote runs as before, with the same `this`.
 */

import { type Fields, isFields } from './lines.js'
import type { Begun, Watch } from './watch.js'

type Execute = (input: unknown, options: unknown) => unknown
type ToModelOutput = (options: { toolCallId: string, input: unknown, output: unknown }) => unknown

/** What both versions of the SDK take for the result of a tool. */
interface ModelOutput { type: string, value?: unknown }

const wrapped = new WeakMap<object, Watch>()

/** The same tools, each that runs here watched; those that run elsewhere are left alone. */
export function wrapTools<TOOLS extends object>(tools: TOOLS, watch: Watch): TOOLS {
  const properties = Object.getOwnPropertyDescriptors(tools) as Record<string, PropertyDescriptor>
  for (const [name, property] of Object.entries(properties)) {
    const tool: unknown = (tools as Fields)[name]
    if (!isFields(tool) || typeof tool.execute !== 'function' || wrapped.get(tool) === watch) continue
    properties[name] = own(wrap(name, tool, watch), property.enumerable)
  }
  return Object.create(Object.getPrototypeOf(tools) as object | null, properties) as TOOLS
}

function wrap(name: string, tool: Fields, watch: Watch): object {
  const inner = tool.execute as Execute
  const innerOutput = tool.toModelOutput as ToModelOutput | undefined
  const isProviders = typeof tool.type === 'string' && tool.type.startsWith('provider')

  const execute: Execute = (input, options) => {
    const watching = new Watching(watch, name, input, options)
    let result: unknown
    try {
      result = Reflect.apply(inner, tool, [input, options])
    } catch (error) {
      watching.threw(error)
      throw error
    }
    if (isAsyncIterable(result)) return watching.stream(result)
    if (isPromiseLike(result)) return watching.promise(result)
    watching.returned(result)
    return result
  }

  const toModelOutput: ToModelOutput = async options => {
    const output = innerOutput ? await Reflect.apply(innerOutput, tool, [options]) : usual(options.output)
    try {
      const note = await watch.notes.of(options.toolCallId)
      if (note === '') return output
      const noted = withNote(output, note, isProviders)
      if (noted === undefined) watch.notes.add(note)
      return noted ?? output
    } catch {
      return output
    }
  }

  const properties = Object.getOwnPropertyDescriptors(tool) as Record<string, PropertyDescriptor>
  const all = { ...properties, execute: own(execute), toModelOutput: own(toModelOutput) }
  const res = Object.create(Object.getPrototypeOf(tool) as object | null, all) as object
  wrapped.set(res, watch)
  return res
}

/** One call. None of its methods throws what is not the tool's own. */
class Watching {
  readonly #watch: Watch
  readonly #begun: Begun | undefined
  readonly #signal: AbortSignal | undefined

  constructor(watch: Watch, name: string, input: unknown, options: unknown) {
    this.#watch = watch
    const { toolCallId, abortSignal } = isFields(options) ? options : {}
    this.#signal = abortSignal as AbortSignal | undefined
    this.#begun = quietly(() => watch.begin(name, input, typeof toolCallId === 'string' ? toolCallId : undefined))
  }

  returned(output: unknown): void {
    const begun = this.#begun
    if (begun) quietly(() => this.#watch.returned(begun, output))
  }

  threw(error: unknown): void {
    const begun = this.#begun
    if (begun) quietly(() => this.#watch.threw(begun, error, this.#signal?.aborted === true))
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

  /** The last value is the result; those before are how far it is. */
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

/** What the SDK makes of a result when the tool does not say. */
function usual(output: unknown): ModelOutput {
  if (typeof output === 'string') return { type: 'text', value: output }
  try {
    const text = JSON.stringify(output)
    return { type: 'json', value: text === undefined ? null : JSON.parse(text) }
  } catch {
    // Not JSON: the SDK says so in its own words.
    return { type: 'json', value: output }
  }
}

/**
 * A result and a note, in a form that every provider understands; nothing for a form that has no place for it. JSON
 * becomes text, unless the provider has defined the tool: it then reads the fields of the result itself.
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

function own(value: unknown, enumerable = true): PropertyDescriptor {
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
