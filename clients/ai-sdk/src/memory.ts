/** The memory of one session: everything an agent built with the AI SDK needs to be watched and told. */

import { randomUUID } from 'node:crypto'
import { defaultSocket, real, rootOf, sessionId } from './address.js'
import { Link } from './link.js'
import { encode, isFields } from './lines.js'
import { startDaemon } from './start.js'
import { prepareStep, told } from './steps.js'
import { wrapTools } from './tools.js'
import type {
  About, Budgets, Instructions, MemoryOptions, Outcome, Problem, StepCallbacks, StepOptions, StopCondition,
} from './types.js'
import { Watch } from './watch.js'

/** What an agent waits for at most, in milliseconds. */
const BUDGETS: Budgets = { start: 500, tool: 100, step: 50, limit: 50, end: 100 }

/** What `createMemory` gives. Every part works without the others; none of them throws or rejects by itself. */
export interface Memory {
  /** The id of the session. */
  readonly session: string
  /** The same tools, watched; what is known about a file or an error goes with a tool's result. */
  wrapTools<TOOLS extends object>(tools: TOOLS): TOOLS
  /**
   * For `prepareStep`; runs your own function first and adds to what it returned. `any`, because what would be inferred
   * here depends on tools that are inferred at the same time; annotate your own function where you want it checked.
   */
  prepareStep<OPTIONS extends StepOptions = any>(inner?: (options: OPTIONS) => unknown): (options: any) => Promise<any>
  /** To be spread into the call; your own functions, if you give them here, are called as well. */
  callbacks<STEP = any>(own?: StepCallbacks<STEP>): Record<keyof StepCallbacks<STEP>, (step: STEP) => Promise<void>>
  /** For `instructions` (v7) or `system` (v6): yours, and what an agent should know when it begins. */
  instructions<BASE extends Instructions>(base: BASE, about?: About): Promise<BASE extends string ? string : Instructions>
  instructions(base?: undefined, about?: About): Promise<string | undefined>
  /** For `stopWhen`: a number becomes a limit by what such tasks took before; conditions stay as they are. */
  stopWhen<STEPS extends readonly unknown[] = any>(
    base: number | StopCondition<STEPS> | readonly (number | StopCondition<STEPS>)[],
  ): StopCondition<STEPS>[]
  /** Ends the session; it is learned from then. With `wait`, resolves when it was, or after 3 seconds. */
  end(options?: { outcome?: Outcome, wait?: boolean }): Promise<void>
}

export function createMemory(options: MemoryOptions = {}): Memory {
  const watch = begin(options)
  const known = new Map<string, Promise<string | undefined>>()
  const start = (about: About): Promise<string | undefined> => {
    const key = JSON.stringify([about.task, about.files])
    const found = known.get(key) ?? watch.start({ ...about })
    known.set(key, found)
    // Who asks again after nobody answered may have more luck; an answer stays, and so does the prompt's beginning.
    void found.then(it => it ?? known.delete(key))
    return found
  }
  const steps = new WeakSet<object>()

  return {
    session: watch.session,
    wrapTools: tools => safely(() => wrapTools(tools, watch), tools),
    prepareStep: inner => prepareStep(inner, watch),
    callbacks: own => {
      const after = async <STEP>(step: STEP): Promise<void> => {
        if (isFields(step)) {
          if (steps.has(step)) return
          steps.add(step)
        }
        safely(() => told(step, watch), undefined)
        // As the SDK itself has it: the newer of the two, if both are there.
        await (own?.onStepEnd ?? own?.onStepFinish)?.(step as never)
      }
      return { onStepEnd: after, onStepFinish: after }
    },
    instructions: (async (base?: Instructions, about: About = {}) => {
      const text = await start(about).catch(() => undefined)
      return text ? joined(base, text) : base
    }) as Memory['instructions'],
    stopWhen: base => [base].flat().map(it => (typeof it === 'number' ? limited(it as number, watch) : it as never)),
    end: ({ outcome, wait = false } = {}) => watch.end(outcome, wait).catch(() => undefined),
  }
}

/** Connects, and says that the session begins. */
function begin(options: MemoryOptions): Watch {
  const problem: Problem = what => safely(() => options.onProblem?.(what), undefined)
  const session = sessionId(options.session ?? randomUUID())
  const cwd = real(options.cwd ?? process.cwd())
  const first = {
    event: 'session_start', event_id: 'start', session_id: session, at: Date.now(), project_root: cwd, agent: 'ai_sdk',
    ...(options.task ? { task: options.task } : {}),
  }
  const program = options.program ?? 'waylore'
  // A session that our own tools cause is not observed.
  const isOwn = process.env.WAYLORE_OWN !== undefined
  const mayStart = !isOwn && process.env.WAYLORE_SERVE_START !== 'false'
  const link = new Link({
    socket: isOwn ? '' : options.socket ?? defaultSocket(),
    first: encode(first) ?? '\n',
    start: () => mayStart && program !== false && startDaemon(program, problem),
    problem,
  })
  const place = { cwd, root: options.root ? real(options.root) : rootOf(cwd) }
  return new Watch({ link, session, place, task: options.task, budgets: { ...BUDGETS, ...options.budgets }, problem })
}

function joined(base: Instructions | undefined, text: string): Instructions {
  if (base === undefined || base === '') return text
  if (typeof base === 'string') return `${base}\n\n${text}`
  return [...[base].flat(), { role: 'system', content: text }]
}

/** Asked for once, at the first step that ends. */
function limited<STEPS extends readonly unknown[]>(base: number, watch: Watch): StopCondition<STEPS> {
  let limit: Promise<number> | undefined
  return async ({ steps }) => {
    limit ??= watch.limit(base).catch(() => base)
    return steps.length >= await limit
  }
}

function safely<T>(work: () => T, otherwise: T): T {
  try {
    return work()
  } catch {
    return otherwise
  }
}
