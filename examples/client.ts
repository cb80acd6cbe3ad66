// Example client: sends events to the waylore daemon and requests notes.
//
// Usage: node --experimental-strip-types client.ts SOCKET PROJECT   (the daemon runs: `waylore serve`)
// See docs/reference/protocol.md. Needs only Node's standard library.

import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

type Fields = Record<string, unknown>
type Answer = { id?: number, ok?: any, error?: { code: string, message: string } }

/** One connection: events have no answer, requests have one. */
class Waylore {
  readonly session: string = randomUUID()
  #count = 0
  #socket: Socket
  #pending = new Map<number, (answer: Answer) => void>()

  constructor(path: string, project: string) {
    this.#socket = connect(path)
    createInterface({ input: this.#socket }).on('line', (line: string) => {
      const answer = JSON.parse(line) as Answer
      const pending = this.#pending.get(answer.id ?? -1)
      if (pending) pending(answer)
      else console.error('an event was refused:', answer.error?.message)
    })
    this.sendEvent('session_start', { project_root: project, agent: 'example' })
  }

  sendEvent(event: string, fields: Fields): void {
    this.#send({ event, event_id: String(++this.#count), session_id: this.session, at: Date.now(), ...fields })
  }

  request(request: string, fields: Fields): Promise<any> {
    const id = ++this.#count
    this.#send({ id, request, session_id: this.session, ...fields })
    return new Promise((resolve, reject) => {
      // A caller should continue without memory after this time.
      const timer = setTimeout(() => reject(new Error('no answer in time')), 3000)
      this.#pending.set(id, ({ ok, error }) => {
        clearTimeout(timer)
        this.#pending.delete(id)
        if (error) reject(new Error(error.message))
        else resolve(ok)
      })
    })
  }

  close(): void { this.#socket.end() }
  #send(message: Fields): void { this.#socket.write(JSON.stringify(message) + '\n') }
}

const memory = new Waylore(process.argv[2], process.argv[3])
memory.sendEvent('user_message', { text: 'Why is the token rejected?' })
const { hits } = await memory.request('search', { query: 'does verify() want milliseconds?' })
for (const hit of hits) console.log(`${hit.type}: ${hit.content} (#${hit.id.slice(-8)})`)
memory.sendEvent('tool_call', { call_id: 'c1', tool: 'read', args: { paths: ['src/auth.rs'] } })
memory.sendEvent('tool_result', { call_id: 'c1', tool: 'read', ok: true })
console.log((await memory.request('step_context', { files: ['src/auth.rs'] })).text || 'no note about the file')
await memory.request('record', { type: 'decision', content: 'Tokens are checked in src/auth.rs only' })
await memory.request('validate', { kind: 'qa_passed', ok: true })
console.log('learned:', (await memory.request('finish', { outcome: 'success', wait: true })).learned)
memory.close()
