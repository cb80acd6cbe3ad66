// A program with a memory: tells waylore what it does, and asks what is known.
//
// Usage: node --experimental-strip-types client.ts SOCKET PROJECT   (the daemon runs: `waylore serve`)
// See docs/reference/protocol.md. Nothing here is needed but Node's own library.

import { randomUUID } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

type Fields = Record<string, unknown>
type Answer = { id?: number, ok?: any, error?: { code: string, message: string } }

/** One connection: events are told, requests are answered. */
class Waylore {
  readonly session: string = randomUUID()
  #count = 0
  #socket: Socket
  #waiting = new Map<number, (answer: Answer) => void>()

  constructor(path: string, project: string) {
    this.#socket = connect(path)
    createInterface({ input: this.#socket }).on('line', (line: string) => {
      const answer = JSON.parse(line) as Answer
      const waiting = this.#waiting.get(answer.id ?? -1)
      if (waiting) waiting(answer)
      else console.error('an event was refused:', answer.error?.message)
    })
    this.tell('session_start', { project_root: project, agent: 'example' })
  }

  tell(event: string, fields: Fields): void {
    this.#send({ event, event_id: String(++this.#count), session_id: this.session, at: Date.now(), ...fields })
  }

  ask(request: string, fields: Fields): Promise<any> {
    const id = ++this.#count
    this.#send({ id, request, session_id: this.session, ...fields })
    return new Promise((resolve, reject) => {
      // A caller's last resort: go on without memory.
      const timer = setTimeout(() => reject(new Error('waylore takes too long')), 3000)
      this.#waiting.set(id, ({ ok, error }) => {
        clearTimeout(timer)
        this.#waiting.delete(id)
        if (error) reject(new Error(error.message))
        else resolve(ok)
      })
    })
  }

  close(): void { this.#socket.end() }
  #send(message: Fields): void { this.#socket.write(JSON.stringify(message) + '\n') }
}

const memory = new Waylore(process.argv[2], process.argv[3])
memory.tell('user_message', { text: 'Why is the token rejected?' })
const { hits } = await memory.ask('search', { query: 'does verify() want milliseconds?' })
for (const hit of hits) console.log(`${hit.type}: ${hit.content} (#${hit.id.slice(-8)})`)
memory.tell('tool_call', { call_id: 'c1', tool: 'read', args: { paths: ['src/auth.rs'] } })
memory.tell('tool_result', { call_id: 'c1', tool: 'read', ok: true })
console.log((await memory.ask('step_context', { files: ['src/auth.rs'] })).text || 'nothing to say about the file')
await memory.ask('record', { type: 'decision', content: 'Tokens are checked in src/auth.rs only' })
await memory.ask('validate', { kind: 'qa_passed', ok: true })
console.log('learned:', (await memory.ask('finish', { outcome: 'success', wait: true })).learned)
memory.close()
