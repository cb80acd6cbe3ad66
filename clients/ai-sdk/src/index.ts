/** Memory for agents built with the Vercel AI SDK, v6 and v7. */

export { createMemory, type Memory } from './memory.js'
export type {
  About, Budgets, Instructions, MemoryOptions, Outcome, Problem, StepCallbacks, StepOptions, StopCondition, SystemMessage,
} from './types.js'
