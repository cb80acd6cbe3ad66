/**
 * NoteQueue between two steps. A note is a message of its own with a fixed position. v6 discards the messages that
 * `prepareStep` returned, v7 keeps them; so all notes are removed and inserted again, and each appears once in both.
 */

import { type Fields, isFields } from './lines.js'
import type { StepOptions } from './types.js'
import type { SessionObserver } from './session-observer.js'

type Message = { role?: unknown, content?: unknown }

/** A note and the number of conversation messages before it. */
interface PlacedNote { at: number, text: string }

/** Runs the author's own function, if there is one, and adds the notes. */
export function prepareStep<OPTIONS extends StepOptions>(
  inner: ((options: OPTIONS) => unknown) | undefined,
  observer: SessionObserver,
): (options: OPTIONS) => Promise<unknown> {
  let placed: PlacedNote[] = []
  return async options => {
    const own = await inner?.(options)
    try {
      if (options.stepNumber === 0) {
        placed = []
        observer.observePrompt(lastUserText(options.messages))
      }
      const given = isFields(own) && Array.isArray(own.messages) ? own.messages as Message[] : options.messages as Message[]
      const bare = given.filter(it => !placed.some(note => it.role === 'user' && it.content === note.text))
      // Notes beyond the messages that the author's own function kept are dropped.
      placed = placed.filter(it => it.at <= bare.length)
      const note = await newNote(options, observer)
      if (note !== '') placed.push({ at: bare.length, text: note })
      if (placed.length === 0 && bare.length === given.length) return own
      return { ...(isFields(own) ? own : {}), messages: withNotes(bare, placed) }
    } catch {
      return own
    }
  }
}

async function newNote({ steps }: StepOptions, observer: SessionObserver): Promise<string> {
  const last = steps.at(-1)
  const content = isFields(last) && Array.isArray(last.content) ? last.content.filter(isFields) : []
  for (const it of content) observeResult(it, observer)
  const calls = content.filter(it => it.type === 'tool-call')
  await observer.requestStepNote(calls.map(it => ({ name: String(it.toolName), input: it.input })))
  return observer.notes.takeUnattached()
}

/** Observes the result of a tool that was not wrapped. */
function observeResult(part: Fields, observer: SessionObserver): void {
  const { type, toolCallId, toolName, input, output, error } = part
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string') return
  if (type === 'tool-result') observer.observeUnwrapped(toolCallId, toolName, input, { output })
  if (type === 'tool-error') observer.observeUnwrapped(toolCallId, toolName, input, { error })
}

/** Inserts the notes, never between a call and its result: providers refuse that. */
function withNotes(bare: Message[], placed: PlacedNote[]): Message[] {
  const res: Message[] = []
  let waiting = [...placed]
  const put = (n: number): void => {
    for (const it of waiting.filter(it => it.at <= n)) res.push({ role: 'user', content: it.text })
    waiting = waiting.filter(it => it.at > n)
  }
  for (const [i, message] of bare.entries()) {
    if (message.role !== 'tool') put(i)
    res.push(message)
  }
  put(bare.length)
  return res
}

/** Text of the last user message. */
function lastUserText(messages: Message[]): string {
  const content = messages.findLast(it => it.role === 'user')?.content
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.filter(isFields) : []
  return parts.map(it => (it.type === 'text' ? String(it.text) : '')).filter(it => it !== '').join('\n')
}

/** Reports a finished step to the daemon. */
export function reportStep(step: unknown, observer: SessionObserver): void {
  if (!isFields(step)) return
  const { reasoningText, text, usage } = step
  const thoughts = [reasoningText, text].filter(it => typeof it === 'string')
  observer.finishStep(thoughts, isFields(usage) ? tokens(usage) : undefined)
}

function tokens(usage: Fields): Fields | undefined {
  const details = isFields(usage.inputTokenDetails) ? usage.inputTokenDetails : {}
  const count = (it: unknown): number => (typeof it === 'number' && Number.isInteger(it) && it >= 0 ? it : 0)
  const [input, output] = [count(usage.inputTokens), count(usage.outputTokens)]
  const cached = count(details.cacheReadTokens ?? usage.cachedInputTokens)
  return input + output === 0 ? undefined : { input, output, cached }
}
