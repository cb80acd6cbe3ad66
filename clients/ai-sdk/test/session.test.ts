/** The lines that the daemon receives, from the start of a session to its end. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeDaemon, type Fields, knows, memoryOf, model, SDKS, tool } from './kit.ts'

for (const sdk of SDKS) {
  test(`${sdk.name}: the events of a session are sent as they happen`, async context => {
    const daemon = await new FakeDaemon(context).listen(knows({}))
    const memory = memoryOf(daemon.socket, { task: 'mend it', session: 'mine' })
    const own: string[] = []
    const agent = model(sdk, [[['read_file', { path: './src/../a.ts' }], ['bash', { command: 'make' }]], 'done'])
    await sdk.ai.generateText({
      model: agent,
      system: await memory.instructions('Be brief.', { task: 'mend it' }),
      prompt: 'Mend it, please.',
      tools: memory.wrapTools({ read_file: tool(sdk, () => 'text'), bash: tool(sdk, () => ({ exitCode: 2, stdout: 'no rule', stderr: '' })) }),
      prepareStep: memory.prepareStep(),
      stopWhen: memory.stopWhen(9),
      ...memory.callbacks({ onStepFinish: ({ text }: Fields) => { own.push(text) } }),
    })
    await memory.end({ outcome: 'success' })
    await memory.end()
    assert.deepEqual(own, ['', 'done'])
    assert.equal(daemon.story, [
      'session_start project_root="/tmp" agent="ai_sdk" task="mend it"',
      '? session_context task="mend it"',
      'user_message text="Mend it, please."',
      'tool_call call_id="c00" tool="read" args={"paths":["a.ts"]}',
      'tool_result call_id="c00" tool="read" ok=true excerpt="text"',
      '? step_context files=["/tmp/a.ts"]',
      'tool_call call_id="c01" tool="shell" args={"paths":[],"command":"make"}',
      'tool_result call_id="c01" tool="shell" ok=false excerpt="no rule"',
      '? step_context tool="shell" command="make" error="no rule"',
      'reasoning text="thought 0"',
      'step_complete usage={"input":10,"output":5,"cached":6}',
      '? stop_limit base=9',
      'reasoning text="done"',
      'step_complete usage={"input":10,"output":5,"cached":6}',
      '? finish outcome="success" steps=2 wait=false',
    ].join('\n'))
    const ids = daemon.lines.filter(it => it.event).map(it => it.event_id)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(new Set(daemon.lines.map(it => it.session_id)).size, 1)
  })
}

test('instructions get the notes for the start, and are otherwise unchanged', async context => {
  const daemon = await new FakeDaemon(context).listen(line => line.request && { ok: { text: line.task === 'odd' ? '' : ' NOTES\n' } })
  const memory = memoryOf(daemon.socket)
  const message = { role: 'system' as const, content: 'mine', providerOptions: { a: { b: 1 } } }
  assert.equal(await memory.instructions('mine'), 'mine\n\nNOTES')
  assert.equal(await memory.instructions(), 'NOTES')
  assert.equal(await memory.instructions(''), 'NOTES')
  assert.deepEqual(await memory.instructions(message), [message, { role: 'system', content: 'NOTES' }])
  assert.deepEqual(await memory.instructions([message]), [message, { role: 'system', content: 'NOTES' }])
  assert.equal(await memory.instructions('mine', { task: 'odd' }), 'mine')
  await memory.end()
  // One request per task: the prefix of a prompt does not change from turn to turn.
  assert.equal(daemon.lines.filter(it => it.request === 'session_context').length, 2)
})

test('a note shown at the start is not shown again for a file, unless it contains another memory', async context => {
  const memories: Record<string, string[]> = { '/tmp/a': ['m1'], '/tmp/b': ['m1', 'm2'], '/tmp/c': [] }
  const daemon = await new FakeDaemon(context).listen(line => line.request === 'session_context'
    ? { ok: { text: 'NOTES', memories: ['m1', 'm3'] } }
    : line.request && { ok: { text: `NOTE ${line.files}`, memories: memories[line.files] } })
  const memory = memoryOf(daemon.socket)
  await memory.instructions()
  const tools: any = memory.wrapTools({ read: { execute: () => 'text' } })
  const results = ['a', 'b', 'c'].map(async path => {
    const output = await tools.read.execute({ path }, { toolCallId: path })
    return (await tools.read.toModelOutput({ toolCallId: path, input: {}, output })).value
  })
  assert.deepEqual(await Promise.all(results), ['text', 'text\n\nNOTE /tmp/b', 'text\n\nNOTE /tmp/c'])
  await memory.end()
})

test('a late answer is used for the next result', async context => {
  let late: (() => void) | undefined
  const daemon = await new FakeDaemon(context).listen((line, socket) => {
    if (line.event === 'tool_call' && late) late()
    if (line.request !== 'step_context') return undefined
    if (late) return { ok: { text: 'NOTE-OF-NOW' } }
    late = () => socket.write(`${JSON.stringify({ id: line.id, ok: { text: 'NOTE-OF-BEFORE' } })}\n`)
    return undefined
  })
  const memory = memoryOf(daemon.socket, { budgets: { tool: 1_500 } })
  const tools: any = memory.wrapTools({ read: { execute: () => 'text' } })
  const result = async (toolCallId: string): Promise<string> => {
    const output = await tools.read.execute({ path: 'a' }, { toolCallId })
    return (await tools.read.toModelOutput({ toolCallId, input: {}, output })).value
  }
  assert.equal(await result('c1'), 'text')
  assert.equal(await result('c2'), 'text\n\nNOTE-OF-BEFORE\n\nNOTE-OF-NOW')
  assert.equal((await tools.read.toModelOutput({ toolCallId: 'c2', input: {}, output: 'text' })).value,
    'text\n\nNOTE-OF-BEFORE\n\nNOTE-OF-NOW')
  await memory.end()
})

test('unread events are sent again to the next daemon, and read ones are not', async context => {
  const daemon = await new FakeDaemon(context).listen((line, socket) => {
    if (line.request === 'step_context') return { ok: { text: '' } }
    if (line.args?.paths[0] === 'b') socket.destroy()
    return undefined
  })
  const memory = memoryOf(daemon.socket)
  const tools: any = memory.wrapTools({ read: { execute: () => 'text' } })
  const call = async (path: string): Promise<void> => {
    await tools.read.execute({ path }, { toolCallId: path })
    await tools.read.toModelOutput({ toolCallId: path, input: {}, output: 'text' })
  }
  await call('a')
  await call('b')
  await daemon.stop()
  daemon.lines.length = 0
  await daemon.listen(knows({}))
  // The client reconnects after its back-off, with the next request; no other event is sent meanwhile.
  while (!daemon.lines.some(it => it.request)) {
    await memory.instructions()
    await new Promise(setImmediate)
  }
  const events = daemon.lines.filter(it => it.event).map(it => it.call_id ?? it.event)
  assert.deepEqual(events, ['session_start', 'b', 'b'])
  await memory.end()
})
