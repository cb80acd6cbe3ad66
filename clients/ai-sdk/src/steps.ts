/**
 * Between two steps. A note is a message of its own, and stays where it was put: v6 forgets what `prepareStep` returned,
 * v7 carries it on, and here all notes are taken out and put back, so that each is there once with either.
 */

import { type Fields, isFields } from './lines.js'
import type { StepOptions } from './types.js'
import type { Watch } from './watch.js'

type Message = { role?: unknown, content?: unknown }

/** A note and how many messages of the conversation stand before it. */
interface Placed { at: number, text: string }

/** The user's own function, if there is one, and then the notes. */
export function prepareStep<OPTIONS extends StepOptions>(
  inner: ((options: OPTIONS) => unknown) | undefined,
  watch: Watch,
): (options: OPTIONS) => Promise<unknown> {
  let placed: Placed[] = []
  return async options => {
    const own = await inner?.(options)
    try {
      if (options.stepNumber === 0) {
        placed = []
        watch.said(lastSaid(options.messages))
      }
      const given = isFields(own) && Array.isArray(own.messages) ? own.messages as Message[] : options.messages as Message[]
      const bare = given.filter(it => !placed.some(note => it.role === 'user' && it.content === note.text))
      // What the user's own function has cut away stays away.
      placed = placed.filter(it => it.at <= bare.length)
      const note = await fresh(options, watch)
      if (note !== '') placed.push({ at: bare.length, text: note })
      if (placed.length === 0 && bare.length === given.length) return own
      return { ...(isFields(own) ? own : {}), messages: withNotes(bare, placed) }
    } catch {
      return own
    }
  }
}

async function fresh({ steps }: StepOptions, watch: Watch): Promise<string> {
  const last = steps.at(-1)
  const content = isFields(last) && Array.isArray(last.content) ? last.content.filter(isFields) : []
  for (const it of content) hear(it, watch)
  const calls = content.filter(it => it.type === 'tool-call')
  await watch.between(calls.map(it => ({ name: String(it.toolName), input: it.input })))
  return watch.notes.loose()
}

/** A result of a tool that was not wrapped. */
function hear(part: Fields, watch: Watch): void {
  const { type, toolCallId, toolName, input, output, error } = part
  if (typeof toolCallId !== 'string' || typeof toolName !== 'string') return
  if (type === 'tool-result') watch.heard(toolCallId, toolName, input, { output })
  if (type === 'tool-error') watch.heard(toolCallId, toolName, input, { error })
}

/** Never between a call and its result: providers refuse that. */
function withNotes(bare: Message[], placed: Placed[]): Message[] {
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

/** What the person said last. */
function lastSaid(messages: Message[]): string {
  const content = messages.findLast(it => it.role === 'user')?.content
  if (typeof content === 'string') return content
  const parts = Array.isArray(content) ? content.filter(isFields) : []
  return parts.map(it => (it.type === 'text' ? String(it.text) : '')).filter(it => it !== '').join('\n')
}

/** Tells of a step that ended. */
export function told(step: unknown, watch: Watch): void {
  if (!isFields(step)) return
  const { reasoningText, text, usage } = step
  const thoughts = [reasoningText, text].filter(it => typeof it === 'string')
  watch.step(thoughts, isFields(usage) ? tokens(usage) : undefined)
}

function tokens(usage: Fields): Fields | undefined {
  const details = isFields(usage.inputTokenDetails) ? usage.inputTokenDetails : {}
  const count = (it: unknown): number => (typeof it === 'number' && Number.isInteger(it) && it >= 0 ? it : 0)
  const [input, output] = [count(usage.inputTokens), count(usage.outputTokens)]
  const cached = count(details.cacheReadTokens ?? usage.cachedInputTokens)
  return input + output === 0 ? undefined : { input, output, cached }
}
