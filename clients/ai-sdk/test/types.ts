/** Compiled, never run: user code has the right types with both versions of the SDK: v7 with the tests, v6 separately. */

import { generateText, stepCountIs, streamText, tool, ToolLoopAgent, type LanguageModel } from 'ai'
import { z } from 'zod'
import { createMemory, type Memory } from '../dist/esm/index.js'

declare const model: LanguageModel

export async function everything(): Promise<string> {
  const memory: Memory = createMemory({ session: 'a', cwd: '/', budgets: { tool: 80 }, onProblem: console.warn })
  const read = tool({
    inputSchema: z.object({ path: z.string() }),
    execute: async ({ path }) => ({ path, lines: 3 }),
  })
  const tools = memory.wrapTools({ read })
  const { steps, text } = await generateText({
    model,
    tools,
    prompt: 'a',
    system: await memory.instructions('Be brief.', { task: 'a', files: ['b'] }),
    prepareStep: memory.prepareStep(({ stepNumber }) => (stepNumber > 3 ? { toolChoice: 'none' as const } : undefined)),
    stopWhen: memory.stopWhen(20),
    ...memory.callbacks({ onStepFinish: step => console.log(step.text) }),
  })
  for (const { toolResults } of steps) {
    for (const it of toolResults) if (!it.dynamic) console.log(it.output.lines + 1, it.input.path.length)
  }
  await memory.end({ outcome: 'success', wait: true })
  return text
}

export async function streamed(memory: Memory): Promise<void> {
  const instructions: string | undefined = await memory.instructions()
  const res = streamText({
    model,
    prompt: 'a',
    ...(instructions ? { system: instructions } : {}),
    prepareStep: memory.prepareStep(),
    stopWhen: memory.stopWhen([10, stepCountIs(12)]),
    ...memory.callbacks(),
  })
  await res.consumeStream()
}

export function agent(memory: Memory): unknown {
  return new ToolLoopAgent({
    model,
    instructions: 'a',
    tools: memory.wrapTools({}),
    prepareStep: memory.prepareStep(),
    stopWhen: memory.stopWhen(stepCountIs(4)),
  })
}
