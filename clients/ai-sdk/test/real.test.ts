/**
 * With the real program: a memory reaches the model that opens its file. `WAYLORE_PROGRAM` is the path of the program;
 * without it these tests are skipped, and `scripts/test` reports that.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createMemory, type Memory } from '../dist/esm/index.js'
import { counts, model, SDKS, tool } from './kit.ts'

const program = process.env.WAYLORE_PROGRAM ?? ''
const options = { skip: program === '' ? 'WAYLORE_PROGRAM is not set' : false, timeout: 120_000 }
/** Far more than an agent would wait: speed is measured elsewhere. */
const PATIENCE = 30_000

/** A new project with one memory. */
class Shop {
  readonly problems: string[] = []
  readonly #home = mkdtempSync(join(tmpdir(), 'waylore-sdk-'))
  readonly #cwd = join(this.#home, 'shop')

  constructor(context: TestContext) {
    mkdirSync(join(this.#cwd, 'src'), { recursive: true })
    writeFileSync(join(this.#cwd, 'src/auth.ts'), 'export const verify = (seconds: number) => seconds > 0\n')
    process.env.WAYLORE_HOME = this.#home
    context.after(() => {
      this.run('serve', '--stop')
      rmSync(this.#home, { recursive: true })
    })
    this.run('remember', 'Do not pass milliseconds to verify(): it wants seconds', '--type', 'gotcha', '--file', 'src/auth.ts')
  }

  run(...args: string[]): string {
    return execFileSync(program, args, { cwd: this.#cwd, encoding: 'utf8', timeout: PATIENCE, stdio: 'pipe' })
  }

  /** The memory of a session; it starts the daemon if none listens. */
  memory(): Memory {
    const budgets = { start: PATIENCE, tool: PATIENCE, step: PATIENCE, limit: PATIENCE, end: PATIENCE }
    return createMemory({ cwd: this.#cwd, program, budgets, onProblem: it => this.problems.push(it) })
  }
}

for (const sdk of SDKS) {
  test(`${sdk.name}: a memory about a file reaches the model once, and the session is learned from`, options, async context => {
    const shop = new Shop(context)
    const memory = shop.memory()
    const agent = model(sdk, [...Array(6).fill([['read', { path: 'src/auth.ts' }]]), 'done'])
    const { steps } = await sdk.ai.generateText({
      model: agent,
      prompt: 'Why is the token rejected?',
      tools: memory.wrapTools({ read: tool(sdk, () => 'the file') }),
      prepareStep: memory.prepareStep(),
      stopWhen: memory.stopWhen(9),
      ...memory.callbacks(),
    })
    assert.deepEqual(counts(agent, 'it wants seconds'), [0, 1, 1, 1, 1, 1, 1])
    assert.equal(steps[0].toolResults[0].output, 'the file')
    await memory.end({ outcome: 'success', wait: true })
    assert.match(shop.run('explain'), new RegExp(memory.session.slice(-8)))
    assert.deepEqual(shop.problems, [])
  })
}

test('a daemon that was killed is started again', options, async context => {
  const shop = new Shop(context)
  const first = shop.memory()
  assert.match(await first.instructions('Be brief.'), /^Be brief\.\n\n[^]*it wants seconds/)
  const { pid } = JSON.parse(shop.run('serve', '--status', '--json'))
  process.kill(pid, 'SIGKILL')
  while (isAlive(pid)) await new Promise(setImmediate)
  const second = shop.memory()
  assert.match(await second.instructions('Be brief.'), /it wants seconds/, shop.problems.join('\n'))
  // A note shown at the start is not shown again for the file.
  const tools: any = second.wrapTools({ read: { execute: () => 'the file' } })
  const output = tools.read.execute({ path: 'src/auth.ts' }, { toolCallId: 'c' })
  assert.equal((await tools.read.toModelOutput({ toolCallId: 'c', input: {}, output })).value, 'the file')
  await Promise.all([first.end(), second.end()])
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
