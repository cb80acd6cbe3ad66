/** Both versions of the SDK with scripted models, and a scripted daemon. */

import * as v6 from 'ai-v6'
import { MockLanguageModelV3 } from 'ai-v6/test'
import * as v7 from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { z } from 'zod'
import { createMemory, type Memory, type MemoryOptions } from '../dist/esm/index.js'

export type Fields = Record<string, any>

/** A version of the SDK; `any`, because the tests treat both alike. */
export interface Sdk { name: string, ai: any, Model: any }

export const SDKS: Sdk[] = [
  { name: 'v6', ai: v6, Model: MockLanguageModelV3 },
  { name: 'v7', ai: v7, Model: MockLanguageModelV4 },
]

/** One step of a model: tool calls, or a text that ends the run. */
export type Step = string | [tool: string, input: Fields][]

/** A model that performs these steps in order. */
export function model(sdk: Sdk, steps: Step[]): any {
  const usage = {
    inputTokens: { total: 10, noCache: 4, cacheRead: 6, cacheWrite: 0 },
    outputTokens: { total: 5, text: 5, reasoning: 0 },
  }
  const call = (n: number, i: number, [toolName, input]: [string, Fields]): Fields =>
    ({ type: 'tool-call', toolCallId: `c${n}${i}`, toolName, input: JSON.stringify(input) })
  const doGenerate = steps.map((step, n) => typeof step === 'string'
    ? { content: [{ type: 'text', text: step }], finishReason: { unified: 'stop', raw: 'stop' }, usage, warnings: [] }
    : {
        content: [{ type: 'reasoning', text: `thought ${n}` }, ...step.map((it, i) => call(n, i, it))],
        finishReason: { unified: 'tool-calls', raw: 'tool-calls' },
        usage,
        warnings: [],
      })
  return new sdk.Model({ doGenerate })
}

/** A model's prompts, one text per step. */
export function prompts(model: any): string[] {
  return model.doGenerateCalls.map((it: Fields) => JSON.stringify(it.prompt))
}

/** Number of occurrences of a text in each prompt. */
export function counts(model: any, what: string): number[] {
  return prompts(model).map(it => it.split(what).length - 1)
}

/** A tool with a path or a command as input. */
export function tool(sdk: Sdk, execute: (input: Fields) => unknown, more: Fields = {}): any {
  const inputSchema = z.object({ path: z.string().optional(), command: z.string().optional() })
  return sdk.ai.tool({ description: 'does it', inputSchema, execute, ...more })
}

/** Reaction of the daemon to a line: an answer with `ok` or `error`, or a direct write to the socket. */
export type Script = (line: Fields, socket: Socket) => Fields | undefined | void

export class FakeDaemon {
  readonly lines: Fields[] = []
  readonly socket: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'waylore-sdk-'))
  readonly #sockets = new Set<Socket>()
  #server: Server | undefined

  constructor(context: TestContext) {
    this.socket = join(this.#folder, 'socket')
    context.after(async () => {
      await this.stop()
      rmSync(this.#folder, { recursive: true, force: true })
    })
  }

  async listen(script: Script, welcome?: (socket: Socket) => void): Promise<this> {
    this.#server = createServer(socket => {
      this.#sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => this.#sockets.delete(socket))
      if (welcome) return welcome(socket)
      let rest = ''
      socket.on('data', data => {
        const lines = (rest + data.toString()).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) this.#take(JSON.parse(line) as Fields, script, socket)
      })
    })
    await new Promise<void>(resolve => this.#server!.listen(this.socket, resolve))
    return this
  }

  #take(line: Fields, script: Script, socket: Socket): void {
    this.lines.push(line)
    const answer = script(line, socket)
    if (answer) socket.write(`${JSON.stringify({ id: line.id, ...answer })}\n`)
  }

  async stop(): Promise<void> {
    for (const it of this.#sockets) it.destroy()
    const server = this.#server
    if (server?.listening) await new Promise(resolve => server.close(resolve))
  }

  /** All received lines, without values that differ from run to run. */
  get story(): string {
    return this.lines.map(({ event, request, event_id: _e, session_id: _s, at: _a, id: _i, duration_ms: _d, ...rest }) =>
      [event ?? `? ${request}`, ...Object.entries(rest).map(([key, it]) => `${key}=${JSON.stringify(it)}`)].join(' ')).join('\n')
  }
}

/** A daemon with one note per file, which it sends once. */
export function knows(notes: Record<string, string>): Script {
  const left = new Map(Object.entries(notes))
  return line => {
    if (!line.request) return undefined
    const about = line.error === undefined ? line.files ?? [] : [line.error]
    const found = [...left.keys()].find(key => about.some((it: string) => it.endsWith(key)))
    const text = found === undefined ? '' : left.get(found)!
    if (found !== undefined) left.delete(found)
    return { ok: { text, memories: [] } }
  }
}

/** A memory that uses only this daemon, with large budgets. */
export function memoryOf(socket: string, options: MemoryOptions = {}): Memory {
  const [start, tool, step, limit, end] = [5_000, 5_000, 5_000, 5_000, 5_000]
  return createMemory({ socket, cwd: '/tmp', root: '/tmp', program: false, budgets: { start, tool, step, limit, end }, ...options })
}
