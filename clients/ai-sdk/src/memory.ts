/** The memory of one session: the functions that observe an agent built with the AI SDK and inject notes. */

import { randomUUID } from 'node:crypto'
import { defaultSocket, real, findProjectRoot, sessionId } from './address.js'
import { DaemonConnection } from './connection.js'
import { encode, isFields } from './lines.js'
import { startDaemon } from './start.js'
import { prepareStep, reportStep } from './steps.js'
import { wrapTools } from './tools.js'
import type {
  About, Budgets, Instructions, MemoryOptions, Outcome, Problem, StepCallbacks, StepOptions, StopCondition,
} from './types.js'
import { SessionObserver } from './session-observer.js'

/** Default budgets, in milliseconds. */
const BUDGETS: Budgets = { start: 500, tool: 100, step: 50, limit: 50, end: 100 }

/** Result of `createMemory`. Every function works without the others; none of them throws or rejects by itself. */
export interface Memory {
  /** Id of the session. */
  readonly session: string
  /** The same tools, observed; notes about a file or an error are added to the result of a tool. */
  wrapTools<TOOLS extends object>(tools: TOOLS): TOOLS
  /**
   * For `prepareStep`; runs your own function first and adds to its result. `any`, because the inferred type would depend
   * on tools that are inferred at the same time; annotate your own function if you want it checked.
   */
  prepareStep<OPTIONS extends StepOptions = any>(inner?: (options: OPTIONS) => unknown): (options: any) => Promise<any>
  /** To be spread into the call; your own functions, if passed here, are called as well. */
  callbacks<STEP = any>(own?: StepCallbacks<STEP>): Record<keyof StepCallbacks<STEP>, (step: STEP) => Promise<void>>
  /** For `instructions` (v7) or `system` (v6): your own instructions, and the notes for the start of the work. */
  instructions<BASE extends Instructions>(base: BASE, about?: About): Promise<BASE extends string ? string : Instructions>
  instructions(base?: undefined, about?: About): Promise<string | undefined>
  /** For `stopWhen`: a number becomes a limit based on earlier tasks; conditions stay unchanged. */
  stopWhen<STEPS extends readonly unknown[] = any>(
    base: number | StopCondition<STEPS> | readonly (number | StopCondition<STEPS>)[],
  ): StopCondition<STEPS>[]
  /** Ends the session, and learning begins. With `wait`, resolves after learning, or after 3 seconds. */
  end(options?: { outcome?: Outcome, wait?: boolean }): Promise<void>
}

export function createMemory(options: MemoryOptions = {}): Memory {
  const observer = startSession(options)
  const known = new Map<string, Promise<string | undefined>>()
  const start = (about: About): Promise<string | undefined> => {
    const key = JSON.stringify([about.task, about.files])
    const found = known.get(key) ?? observer.requestStartNotes({ ...about })
    known.set(key, found)
    // A request without an answer may be repeated. An answer is cached, so that the prompt keeps its prefix.
    void found.then(it => it ?? known.delete(key))
    return found
  }
  const steps = new WeakSet<object>()

  return {
    session: observer.session,
    wrapTools: tools => safely(() => wrapTools(tools, observer), tools),
    prepareStep: inner => prepareStep(inner, observer),
    callbacks: own => {
      const after = async <STEP>(step: STEP): Promise<void> => {
        if (isFields(step)) {
          if (steps.has(step)) return
          steps.add(step)
        }
        safely(() => reportStep(step, observer), undefined)
        // As in the SDK: the newer of the two takes precedence.
        await (own?.onStepEnd ?? own?.onStepFinish)?.(step as never)
      }
      return { onStepEnd: after, onStepFinish: after }
    },
    instructions: (async (base?: Instructions, about: About = {}) => {
      const text = await start(about).catch(() => undefined)
      return text ? appendText(base, text) : base
    }) as Memory['instructions'],
    stopWhen: base => [base].flat().map(it => (typeof it === 'number' ? stepLimitCondition(it as number, observer) : it as never)),
    end: ({ outcome, wait = false } = {}) => observer.end(outcome, wait).catch(() => undefined),
  }
}

/** Connects and sends the start of the session. */
function startSession(options: MemoryOptions): SessionObserver {
  const problem: Problem = what => safely(() => options.onProblem?.(what), undefined)
  const session = sessionId(options.session ?? randomUUID())
  const cwd = real(options.cwd ?? process.cwd())
  const first = {
    event: 'session_start', event_id: 'start', session_id: session, at: Date.now(), project_root: cwd, agent: 'ai_sdk',
    ...(options.task ? { task: options.task } : {}),
  }
  const program = options.program ?? 'waylore'
  // A session that was caused by Waylore itself is not observed.
  const isOwn = process.env.WAYLORE_OWN !== undefined
  const mayStart = !isOwn && process.env.WAYLORE_SERVE_START !== 'false'
  const connection = new DaemonConnection({
    socket: isOwn ? '' : options.socket ?? defaultSocket(),
    first: encode(first) ?? '\n',
    start: () => mayStart && program !== false && startDaemon(program, problem),
    problem,
  })
  const place = { cwd, root: options.root ? real(options.root) : findProjectRoot(cwd) }
  return new SessionObserver({ connection, session, place, task: options.task, budgets: { ...BUDGETS, ...options.budgets }, problem })
}

function appendText(base: Instructions | undefined, text: string): Instructions {
  if (base === undefined || base === '') return text
  if (typeof base === 'string') return `${base}\n\n${text}`
  return [...[base].flat(), { role: 'system', content: text }]
}

/** Stop condition; the limit is requested once, after the first step. */
function stepLimitCondition<STEPS extends readonly unknown[]>(base: number, observer: SessionObserver): StopCondition<STEPS> {
  let limit: Promise<number> | undefined
  return async ({ steps }) => {
    limit ??= observer.requestStepLimit(base).catch(() => base)
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
