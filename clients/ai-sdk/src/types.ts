/** What users of this package say and get. Shapes of the AI SDK are told by structure, so that v6 and v7 both fit. */

/** Milliseconds that the agent may be kept waiting, at most, for each kind of answer. */
export interface Budgets {
  /** What an agent should know when it begins: once per session. */
  start: number
  /** A note that goes with the result of a tool. */
  tool: number
  /** A note between two steps. */
  step: number
  /** The step limit: once per call. */
  limit: number
  /** The end of the session. */
  end: number
}

export type Problem = (what: string) => void

export type Outcome = 'success' | 'partial' | 'failure' | 'cancelled'

export interface MemoryOptions {
  /** Names the session; the same name takes it up again. A new one by default. */
  session?: string
  /** The folder the agent works in, which paths in tool calls are relative to; `process.cwd()` by default. */
  cwd?: string
  /** The top of the project, where it is not the folder above `cwd` with the `.git`. */
  root?: string
  /** What the agent is asked to do, where that is known from the start. */
  task?: string
  budgets?: Partial<Budgets>
  /** The daemon's socket, where it is not the usual one. */
  socket?: string
  /** The program that starts the daemon when none listens; `waylore` by default, `false` to start none. */
  program?: string | false
  /** Hears what goes wrong. Nothing is ever thrown. */
  onProblem?: Problem
}

/** A system message, as both versions of the SDK have it. */
export interface SystemMessage {
  role: 'system'
  content: string
}

export type Instructions = string | SystemMessage | SystemMessage[]

/** What is known about the work that begins. */
export interface About {
  task?: string
  files?: string[]
}

/** What `prepareStep` is given, as far as it is needed here. */
export interface StepOptions {
  steps: readonly unknown[]
  stepNumber: number
  /** `any`, for the SDK's own type differs by version. */
  messages: any[]
}

/** What is called after each step: `onStepEnd` by v7, `onStepFinish` by v6. */
export interface StepCallbacks<STEP> {
  onStepEnd?: (step: STEP) => PromiseLike<void> | void
  onStepFinish?: (step: STEP) => PromiseLike<void> | void
}

export type StopCondition<STEPS> = (options: { steps: STEPS }) => PromiseLike<boolean> | boolean
