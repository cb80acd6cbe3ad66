/** Public types of the package. Types of the AI SDK are described structurally, so that v6 and v7 both match. */

/** Longest wait for each kind of answer, in milliseconds. */
export interface Budgets {
  /** NoteQueue for the start: once per session. */
  start: number
  /** A note for the result of a tool. */
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
  /** Name of the session; the same name continues it. A new one by default. */
  session?: string
  /** Working folder of the agent, to which paths in tool calls are relative; `process.cwd()` by default. */
  cwd?: string
  /** Root of the project, if it is not the folder at or above `cwd` with the `.git`. */
  root?: string
  /** Task of the agent, if it is known from the start. */
  task?: string
  budgets?: Partial<Budgets>
  /** The daemon's socket, if it is not the default one. */
  socket?: string
  /** Program that starts the daemon if none listens; `waylore` by default, `false` to start none. */
  program?: string | false
  /** Called with a message for every problem. Nothing is ever thrown. */
  onProblem?: Problem
}

/** A system message in both versions of the SDK. */
export interface SystemMessage {
  role: 'system'
  content: string
}

export type Instructions = string | SystemMessage | SystemMessage[]

/** Known facts about the task. */
export interface About {
  task?: string
  files?: string[]
}

/** The options of `prepareStep` that are used here. */
export interface StepOptions {
  steps: readonly unknown[]
  stepNumber: number
  /** `any`, because the SDK's own type differs by version. */
  messages: any[]
}

/** Callbacks after each step: `onStepEnd` in v7, `onStepFinish` in v6. */
export interface StepCallbacks<STEP> {
  onStepEnd?: (step: STEP) => PromiseLike<void> | void
  onStepFinish?: (step: STEP) => PromiseLike<void> | void
}

export type StopCondition<STEPS> = (options: { steps: STEPS }) => PromiseLike<boolean> | boolean
