/** With any failure of the daemon, the agent behaves as without one. */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { FakeDaemon, type Fields, memoryOf, model, prompts, type Script, SDKS, type Step, tool } from './kit.ts'

interface Trouble { script?: Script, welcome?: (socket: Socket) => void }

const answer = (ok: unknown): Trouble => ({ script: line => (line.request ? { ok: ok as Fields } : undefined) })
const write = (text: string): Trouble => ({ script: (line, socket) => { if (line.request) socket.write(text) } })

/** Failures; each is combined with every function of the memory. */
const TROUBLES: Record<string, Trouble | undefined> = {
  'nobody listens': undefined,
  'it hangs': { script: () => undefined },
  'it does not even read': { welcome: socket => socket.pause() },
  'it closes at once': { welcome: socket => socket.destroy() },
  'it closes when asked': { script: (line, socket) => { if (line.request) socket.destroy() } },
  'it closes in the middle of an answer': { script: (line, socket) => { if (line.request) socket.end(`{"id":${line.id},"ok":{"te`) } },
  'it says no JSON': write('hello\n'),
  'it says JSON of another kind': write('[1,2]\n"x"\nnull\n'),
  'it says bytes that are no text': { script: (line, socket) => { if (line.request) socket.write(Buffer.from([0xff, 0xfe, 10])) } },
  'it answers somebody else': write('{"id":987654321,"ok":{"text":"NOTE"}}\n'),
  'it answers without an id': write('{"ok":{"text":"NOTE"}}\n'),
  'it never ends its line': { script: (line, socket) => { if (line.request) socket.write('x'.repeat(9 << 20)) } },
  'its note is too long': answer({ text: 'x'.repeat(9_001), limit: 1e9 }),
  'its note is no text': answer({ text: { a: 1 }, limit: {} }),
  'it answers nothing': answer({}),
  'it answers null': answer(null),
  'it refuses everything': { script: line => ({ ...(line.event ? { event_id: line.event_id } : {}), error: { code: 'failed', message: 'no' } }) },
  'its error is none': { script: line => (line.request ? { error: 'no' } : undefined) },
}

const STEPS: Step[] = [[['read', { path: 'a.ts' }], ['bash', { command: 'a' }]], ...Array(5).fill([['read', { path: 'b.ts' }]]) as Step[], 'done']

for (const sdk of SDKS) {
  const run = async (more: (tools: Fields) => Promise<Fields>): Promise<unknown> => {
    const agent = model(sdk, STEPS)
    const tools = { read: tool(sdk, () => ({ a: 1 })), bash: tool(sdk, () => { throw new Error('broken') }) }
    const res = await sdk.ai.generateText({ model: agent, prompt: 'go', ...await more(tools) })
    return { text: res.text, steps: res.steps.length, prompts: prompts(agent) }
  }
  for (const [name, trouble] of Object.entries(TROUBLES)) {
    test(`${sdk.name}: when ${name}, the agent continues`, async context => {
      const daemon = new FakeDaemon(context)
      if (trouble) await daemon.listen(trouble.script ?? (() => undefined), trouble.welcome)
      const budgets = { start: 20, tool: 20, step: 20, limit: 20, end: 20 }
      const problems: string[] = []
      const memory = memoryOf(daemon.socket, { budgets, onProblem: it => { problems.push(it); throw new Error('also that') } })
      const with_ = await run(async tools => ({
        tools: memory.wrapTools(tools),
        system: await memory.instructions('Be brief.'),
        prepareStep: memory.prepareStep(),
        stopWhen: memory.stopWhen(7),
        ...memory.callbacks(),
      }))
      await memory.end({ wait: false })
      const without = await run(async tools => ({ tools, system: 'Be brief.', stopWhen: sdk.ai.stepCountIs(7) }))
      assert.deepEqual(with_, without)
      assert.notEqual(problems.length, 0, 'the problem is reported')
    })
  }
}

test('a socket of another user is not used', async context => {
  const daemon = new FakeDaemon(context)
  writeFileSync(daemon.socket, '')
  const memory = memoryOf(daemon.socket)
  assert.equal(await memory.instructions('mine'), 'mine')
  await memory.end()
})

test('a session that Waylore itself causes is not observed', async context => {
  const daemon = await new FakeDaemon(context).listen(line => line.request && { ok: { text: 'NOTE' } })
  process.env.WAYLORE_OWN = '1'
  const memory = memoryOf(daemon.socket)
  delete process.env.WAYLORE_OWN
  assert.equal(await memory.instructions('mine'), 'mine')
  await memory.end()
  assert.deepEqual(daemon.lines, [])
})

test('a program that cannot be started is reported as a problem and nothing else happens', async context => {
  const problems: string[] = []
  const daemon = new FakeDaemon(context)
  const memory = memoryOf(daemon.socket, { program: '/nowhere/waylore', budgets: { start: 200 }, onProblem: it => problems.push(it) })
  assert.equal(await memory.instructions('mine'), 'mine')
  await memory.end()
  assert.match(problems.join('\n'), /cannot be started/)
})

for (const name of ['it never ends its line', 'it says no JSON', 'it closes when asked']) {
  test(`when ${name}, the client does not wait for the answer`, { timeout: 60_000 }, async context => {
    const daemon = await new FakeDaemon(context).listen(TROUBLES[name]!.script!)
    const memory = memoryOf(daemon.socket, { budgets: { start: 600_000 } })
    assert.equal(await memory.instructions('mine'), 'mine')
    await memory.end()
  })
}

test('after three timeouts the client pauses', async context => {
  const daemon = await new FakeDaemon(context).listen(() => undefined)
  const memory = memoryOf(daemon.socket, { budgets: { start: 5 } })
  for (const task of 'abcdefgh') await memory.instructions('mine', { task })
  await memory.end()
  await daemon.stop()
  assert.equal(daemon.lines.filter(it => it.request).length, 3)
})

/** A program that exits by itself, although a hung daemon holds the connection and `end` is not called. */
for (const [kind, load] of [['esm', 'import { createMemory } from'], ['cjs', 'const { createMemory } = require(']] as const) {
  test(`a process is not kept alive (${kind})`, { timeout: 60_000 }, async context => {
    const daemon = await new FakeDaemon(context).listen(() => undefined)
    const dist = join(import.meta.dirname, '../dist', kind, 'index.js')
    const script = `${load} ${JSON.stringify(dist)}${kind === 'cjs' ? ')' : ''}
      const memory = createMemory({ socket: ${JSON.stringify(daemon.socket)}, program: false, budgets: { start: 20 } })
      const tools = memory.wrapTools({ read: { execute: () => 'text' } })
      tools.read.execute({ path: 'a' }, {})
      memory.instructions('mine').then(it => console.log(it))`
    const child = spawn(process.execPath, ['--input-type', kind === 'esm' ? 'module' : 'commonjs', '--eval', script])
    const said: string[] = []
    child.stdout.on('data', it => said.push(String(it)))
    child.stderr.on('data', it => said.push(String(it)))
    const code = await new Promise(resolve => child.on('close', resolve))
    assert.deepEqual([code, said.join('')], [0, 'mine\n'])
  })
}
