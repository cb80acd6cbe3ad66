/** Notes between steps, and the step limit. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counts, FakeDaemon, type Fields, knows, memoryOf, model, prompts, SDKS, type Step, tool } from './kit.ts'

const read = (path: string): Step => [['read', { path }]]

for (const sdk of SDKS) {
  test(`${sdk.name}: a note about a call that threw comes before the next step, and stays there once`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ 'out of time': 'NOTE-A', 'out of luck': 'NOTE-B' }))
    const memory = memoryOf(daemon.socket)
    const agent = model(sdk, [[['bash', { command: 'a' }]], [['bash', { command: 'b' }]], read('x'), read('y'), 'done'])
    const tools = memory.wrapTools({
      bash: tool(sdk, ({ command }) => { throw new Error(command === 'a' ? 'out of time' : 'out of luck') }),
      read: tool(sdk, () => 'text'),
    })
    const res = await sdk.ai.generateText({
      model: agent, prompt: 'go', tools, prepareStep: memory.prepareStep(), stopWhen: memory.stopWhen(9),
    })
    assert.equal(res.text, 'done')
    assert.deepEqual(counts(agent, 'NOTE-A'), [0, 1, 1, 1, 1])
    assert.deepEqual(counts(agent, 'NOTE-B'), [0, 0, 1, 1, 1])
    // Each prompt has the previous one as its prefix, so that prompt caches keep working.
    const all = prompts(agent).map(it => it.slice(0, -1))
    for (const [i, it] of all.slice(1).entries()) assert.ok(it.startsWith(all[i]!), `step ${i + 1}`)
    await memory.end()
  })

  test(`${sdk.name}: your own prepareStep runs first and its result is kept`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ broken: 'NOTE-A' }))
    const memory = memoryOf(daemon.socket)
    const [first, second] = [model(sdk, [[['bash', { command: 'a' }]]]), model(sdk, [read('x'), 'done'])]
    const seen: number[] = []
    const own = ({ stepNumber, messages }: Fields): Fields | undefined => {
      seen.push(stepNumber)
      if (stepNumber === 0) return undefined
      const last = stepNumber === 2 ? [{ role: 'user', content: 'mine' }] : []
      return { model: second, messages: [...messages, ...last] }
    }
    await sdk.ai.generateText({
      model: first,
      prompt: 'go',
      tools: memory.wrapTools({ bash: tool(sdk, () => ({ exitCode: 1, stderr: 'broken' })), read: tool(sdk, () => 'text') }),
      prepareStep: memory.prepareStep(own),
      stopWhen: memory.stopWhen(9),
    })
    assert.deepEqual(seen, [0, 1, 2])
    assert.deepEqual(counts(first, 'NOTE-A'), [0])
    assert.deepEqual(counts(second, 'NOTE-A'), [1, 1])
    assert.deepEqual(counts(second, 'mine'), [0, 1])
    await memory.end()
  })

  test(`${sdk.name}: errors of your own prepareStep are thrown`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({}))
    const memory = memoryOf(daemon.socket)
    const prepareStep = memory.prepareStep(() => { throw new Error('mine') })
    await assert.rejects(sdk.ai.generateText({ model: model(sdk, ['done']), prompt: 'go', prepareStep }), /mine/)
    await memory.end()
  })

  test(`${sdk.name}: notes of removed messages are removed`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ broken: 'NOTE-A', 'y.ts': 'NOTE-B' }))
    const memory = memoryOf(daemon.socket)
    const agent = model(sdk, [[['bash', { command: 'a' }]], read('x.ts'), read('y.ts'), 'done'])
    await sdk.ai.generateText({
      model: agent,
      prompt: 'go',
      tools: memory.wrapTools({ bash: tool(sdk, () => { throw new Error('broken') }), read: tool(sdk, () => 'text') }),
      prepareStep: memory.prepareStep(({ stepNumber, messages }: Fields) => (stepNumber < 2 ? undefined : { messages: messages.slice(-2) })),
      stopWhen: memory.stopWhen(9),
    })
    assert.deepEqual(counts(agent, 'NOTE-A'), [0, 1, 0, 0])
    assert.deepEqual(counts(agent, 'NOTE-B'), [0, 0, 0, 1])
    await memory.end()
  })

  test(`${sdk.name}: tools that were not wrapped are observed from their step`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ 'auth.ts': 'NOTE-A' }))
    const memory = memoryOf(daemon.socket)
    const agent = model(sdk, [read('auth.ts'), read('b.ts'), 'done'])
    const tools = { read: tool(sdk, () => 'text') }
    await sdk.ai.generateText({ model: agent, prompt: 'go', tools, prepareStep: memory.prepareStep(), stopWhen: memory.stopWhen(9) })
    assert.deepEqual(counts(agent, 'NOTE-A'), [0, 1, 1])
    await memory.end()
    assert.deepEqual(daemon.lines.filter(it => it.event === 'tool_call').map(it => it.args.paths), [['auth.ts'], ['b.ts']])
  })

  test(`${sdk.name}: from the fifth step on a note may be added`, async context => {
    let n = 0
    const daemon = await new FakeDaemon(context).listen(line => line.request && { ok: { text: line.step ? `NOTE-${++n}` : '' } })
    const memory = memoryOf(daemon.socket)
    const think: Step = [['think', {}]]
    const agent = model(sdk, [think, think, think, think, think, think, 'done'])
    const tools = memory.wrapTools({ think: tool(sdk, () => 'hm') })
    await sdk.ai.generateText({ model: agent, prompt: 'go', tools, prepareStep: memory.prepareStep(), stopWhen: memory.stopWhen(9) })
    assert.deepEqual(counts(agent, 'NOTE-1'), [0, 0, 0, 0, 0, 1, 1])
    assert.deepEqual(counts(agent, 'NOTE-2'), [0, 0, 0, 0, 0, 0, 1])
    await memory.end()
  })

  for (const [said, limit] of [[{ ok: { limit: 4 } }, 4], [{ ok: { limit: 1 } }, 1], [{ error: { code: 'not_available', message: '' } }, 3],
    [{ ok: { limit: 7 } }, 3], [{ ok: { limit: 2.5 } }, 3], [{ ok: { limit: '4' } }, 3], [{ ok: [] }, 3]] as [Fields, number][]) {
    test(`${sdk.name}: three steps become ${limit} when the daemon says ${JSON.stringify(said)}`, async context => {
      const daemon = await new FakeDaemon(context).listen(line => line.request && said)
      const memory = memoryOf(daemon.socket)
      const agent = model(sdk, Array(9).fill([['think', {}]]))
      const tools = memory.wrapTools({ think: tool(sdk, () => 'hm') })
      const { steps } = await sdk.ai.generateText({ model: agent, prompt: 'go', tools, stopWhen: memory.stopWhen(3) })
      assert.equal(steps.length, limit)
      assert.deepEqual(daemon.lines.filter(it => it.request).map(it => [it.request, it.base]), [['stop_limit', 3]])
      await memory.end()
    })
  }

  test(`${sdk.name}: your own conditions still stop the agent`, async context => {
    const daemon = await new FakeDaemon(context).listen(line => line.request && { ok: { limit: 6 } })
    const memory = memoryOf(daemon.socket)
    const agent = model(sdk, Array(9).fill([['think', {}]]))
    const stopWhen = memory.stopWhen([5, sdk.ai.stepCountIs(2)])
    const { steps } = await sdk.ai.generateText({ model: agent, prompt: 'go', tools: { think: tool(sdk, () => 'hm') }, stopWhen })
    assert.equal(steps.length, 2)
    await memory.end()
  })
}

test('a note never comes between a call and its result', async context => {
  const daemon = await new FakeDaemon(context).listen(knows({ broken: 'NOTE' }))
  const memory = memoryOf(daemon.socket)
  const tools: any = memory.wrapTools({ bash: { execute: () => { throw new Error('broken') } } })
  assert.throws(() => tools.bash.execute({ command: 'a' }, { toolCallId: 'c' }))
  const prepare = memory.prepareStep()
  const [ask, think, call, result] = ['user', 'assistant', 'assistant', 'tool'].map((role, i) => ({ role, content: `${i}` }))
  const roles = async (stepNumber: number, ...messages: unknown[]): Promise<string> =>
    (await prepare({ stepNumber, steps: [], messages })).messages.map((it: Fields) => (it.content === 'NOTE' ? 'NOTE' : it.role)).join(' ')
  assert.equal(await roles(1, ask, think), 'user assistant NOTE')
  assert.equal(await roles(2, ask, call, result, think), 'user assistant tool NOTE assistant')
  await memory.end()
})
