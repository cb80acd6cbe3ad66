/** Notes in the results of tools. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { counts, FakeDaemon, knows, memoryOf, model, prompts, SDKS, tool } from './kit.ts'

const NOTE = '<notes>verify() wants seconds</notes>'

for (const sdk of SDKS) {
  test(`${sdk.name}: a note is added to the output for the model once, and the returned value is unchanged`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ 'auth.ts': NOTE }))
    const memory = memoryOf(daemon.socket)
    const agent = model(sdk, [[['read', { path: 'auth.ts' }]], [['read', { path: 'auth.ts' }]], 'done'])
    const tools = memory.wrapTools({ read: tool(sdk, () => 'the file') })
    const res = await sdk.ai.generateText({ model: agent, prompt: 'go', tools, stopWhen: memory.stopWhen(9) })
    assert.deepEqual(counts(agent, 'wants seconds'), [0, 1, 1])
    assert.match(prompts(agent)[1]!, /"value":"the file\\n\\n<notes>verify/)
    assert.equal(res.steps[0].toolResults[0].output, 'the file')
    // The stored conversation contains the note where the model saw it.
    assert.match(JSON.stringify(res.responseMessages ?? res.response.messages), /wants seconds/)
    await memory.end()
  })

  test(`${sdk.name}: a text stream gets its notes as well`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({ 'auth.ts': NOTE }))
    const memory = memoryOf(daemon.socket)
    const generated = model(sdk, [[['read', { path: 'auth.ts' }]], 'done'])
    const parts = (it: any): any[] => it.content.map((part: any, i: number) =>
      part.type === 'text' ? [{ type: 'text-start', id: `${i}` }, { type: 'text-delta', id: `${i}`, delta: part.text }, { type: 'text-end', id: `${i}` }]
        : part.type === 'tool-call' ? [part] : []).flat()
    const agent = new sdk.Model({
      doStream: async () => {
        const it = await generated.doGenerate({ prompt: [] })
        const chunks = [...parts(it), { type: 'finish', finishReason: it.finishReason, usage: it.usage }]
        return { stream: sdk.ai.simulateReadableStream({ chunks }) }
      },
    })
    const tools = memory.wrapTools({ read: tool(sdk, () => 'the file') })
    const streamed = sdk.ai.streamText({
      model: agent, prompt: 'go', tools, prepareStep: memory.prepareStep(), stopWhen: memory.stopWhen(9), ...memory.callbacks(),
    })
    await streamed.consumeStream()
    await memory.end()
    assert.deepEqual(agent.doStreamCalls.map((it: any) => JSON.stringify(it.prompt).split('wants seconds').length - 1), [0, 1])
    assert.equal(daemon.lines.filter(it => it.event === 'step_complete').length, 2)
  })

  test(`${sdk.name}: a note is appended to every form of result`, async context => {
    const forms: [string, (input: any) => unknown, object, RegExp][] = [
      ['an object', () => ({ lines: 3 }), {}, /"type":"text","value":"\{\\"lines\\":3\}\\n\\n<notes>/],
      ['nothing', () => undefined, {}, /"type":"text","value":"null\\n\\n<notes>/],
      ['parts', () => 'x', { toModelOutput: () => ({ type: 'content', value: [{ type: 'text', text: 'mine' }] }) },
        /"text":"mine"\},\{"type":"text","text":"<notes>/],
      ['a text of its own', () => 'x', { toModelOutput: async ({ output }: any) => ({ type: 'text', value: `${output}!` }) },
        /"value":"x!\\n\\n<notes>/],
      ['a failure of its own', () => 'x', { toModelOutput: () => ({ type: 'error-json', value: { bad: 1 } }) },
        /"type":"error-text","value":"\{\\"bad\\":1\}\\n\\n<notes>/],
      ['a stream of values', async function* () { yield 'half'; yield 'whole' }, {}, /"value":"whole\\n\\n<notes>/],
    ]
    for (const [name, execute, more, expected] of forms) {
      const daemon = await new FakeDaemon(context).listen(knows({ 'auth.ts': NOTE }))
      const memory = memoryOf(daemon.socket)
      const agent = model(sdk, [[['read', { path: 'auth.ts' }]], 'done'])
      const tools = memory.wrapTools({ read: tool(sdk, execute, more) })
      await sdk.ai.generateText({ model: agent, prompt: 'go', tools, stopWhen: memory.stopWhen(9) })
      assert.match(prompts(agent)[1]!, expected, name)
      await memory.end()
    }
  })

  test(`${sdk.name}: without a note, the output for the model is unchanged`, async context => {
    const outputs: unknown[] = ['text', { at: new Date(0), gone: undefined }, 7, null, undefined, ['a']]
    for (const output of outputs) {
      const daemon = await new FakeDaemon(context).listen(knows({}))
      const memory = memoryOf(daemon.socket)
      const plain = { read: tool(sdk, () => output) }
      const [with_, without] = [model(sdk, [[['read', { path: 'a.ts' }]], 'done']), model(sdk, [[['read', { path: 'a.ts' }]], 'done'])]
      const stopWhen = sdk.ai.stepCountIs(9)
      await sdk.ai.generateText({ model: with_, prompt: 'go', tools: memory.wrapTools(plain), stopWhen, prepareStep: memory.prepareStep() })
      await sdk.ai.generateText({ model: without, prompt: 'go', tools: plain, stopWhen })
      assert.deepEqual(prompts(with_), prompts(without))
      await memory.end()
    }
  })
}

test('the result of a provider-defined tool keeps its form; the note is added to the next result', async context => {
  const daemon = await new FakeDaemon(context).listen(knows({ 'a.ts': NOTE }))
  const memory = memoryOf(daemon.socket)
  const execute = (): object => ({ output: 'x' })
  const tools: any = memory.wrapTools({ local: { type: 'provider', id: 'openai.local_shell', execute }, mine: { execute } })
  const result = (name: string, toolCallId: string): Promise<unknown> => {
    const output = tools[name].execute({ path: `${toolCallId}.ts` }, { toolCallId })
    return tools[name].toModelOutput({ toolCallId, input: {}, output })
  }
  assert.deepEqual(await result('local', 'a'), { type: 'json', value: { output: 'x' } })
  assert.deepEqual(await result('mine', 'b'), { type: 'text', value: `{"output":"x"}\n\n${NOTE}` })
  await memory.end()
})

test('tools keep their properties, and are wrapped once', async context => {
  const daemon = await new FakeDaemon(context).listen(knows({}))
  const memory = memoryOf(daemon.socket)
  class Reader {
    #secret = 'kept'
    needsApproval = false
    execute(): string { return this.#secret }
  }
  const elsewhere = { description: 'runs at the provider' }
  const tools = Object.freeze({ reader: new Reader(), elsewhere })
  const wrapped = memory.wrapTools(memory.wrapTools(tools)) as any
  assert.equal(wrapped.reader.execute({ path: 'a' }, { toolCallId: 'c' }), 'kept')
  assert.ok(wrapped.reader instanceof Reader)
  assert.equal(wrapped.elsewhere, elsewhere)
  await memory.end()
  assert.equal(daemon.lines.filter(it => it.event === 'tool_call').length, 1)
})

test('errors of a tool are thrown unchanged', async context => {
  const daemon = await new FakeDaemon(context).listen(knows({}))
  const memory = memoryOf(daemon.socket)
  const error = new Error('no such file')
  const tools: any = memory.wrapTools({
    now: { execute: () => { throw error } },
    later: { execute: async () => { throw error } },
    between: { async* execute() { throw error } },
  })
  assert.throws(() => tools.now.execute({}, {}), error)
  await assert.rejects(async () => tools.later.execute({}, {}), error)
  await assert.rejects(async () => { for await (const it of tools.between.execute({}, {})) void it }, error)
  await memory.end()
  assert.deepEqual(daemon.lines.filter(it => it.event === 'tool_result').map(it => [it.ok, it.excerpt]), Array(3).fill([false, 'no such file']))
})
