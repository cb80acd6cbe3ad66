/**
 * One connection to the daemon: events are told, requests are answered in time or not at all.
 *
 * Nothing here throws or rejects, and nothing keeps the process alive but a request that is being waited for, for as
 * long as its budget. Whatever goes wrong, the connection is let go and tried again later.
 */

import { connect, type Socket } from 'node:net'
import { isOurs } from './address.js'
import { decode, encode, type Fields, isFields, splitter } from './lines.js'

/** Events kept for a daemon that is not there yet, or that may not have read them. */
const MAX_BACKLOG = 2_000
const MAX_BACKLOG_SIZE = 2 << 20
/** What may wait in the socket before the other end counts as hung. */
const MAX_UNREAD = 4 << 20
/** So many requests in a row without an answer, and it is left alone for a while. */
const MAX_SILENT = 3
const REST_SILENT = 10_000
/** After a failure, at first and at most. */
const REST_LEAST = 100
const REST_MOST = 5_000
/** How long a daemon that was just started may take to listen, and how often it is looked for. */
const STARTING = 5_000
const LOOK = 15
/** A daemon ends when it has nothing to do; it is started again, but not over and over. */
const START_AGAIN = 60_000

export interface LinkOptions {
  socket: string
  /** Said first on every connection. */
  first: string
  /** Starts a daemon where none listens; says whether one may come. */
  start: () => boolean
  /** Hears what went wrong. */
  problem: (what: string) => void
}

interface Waiting {
  done: (answer: Fields | 'lost' | undefined) => void
  /** Events told before this request: its answer says that they were read. */
  told: number
}

export class Link {
  readonly #options: LinkOptions
  #socket: Socket | undefined
  #isClosed = false
  #count = 0
  #told = 0
  #backlogSize = 0
  #backlog: { line: string, n: number }[] = []
  #waiting = new Map<number, Waiting>()
  #rest = REST_LEAST
  #restUntil = 0
  #askedToStart = -Infinity
  #startedAt = -Infinity
  #nSilent = 0

  constructor(options: LinkOptions) {
    this.#options = options
    this.#join()
  }

  /** Tells an event. */
  tell(event: Fields): void {
    if (this.#isClosed) return
    const line = encode(event)
    if (line === undefined) return this.#options.problem('an event is too long or no JSON')
    this.#backlog.push({ line, n: ++this.#told })
    this.#backlogSize += line.length
    while (this.#backlog.length > MAX_BACKLOG || this.#backlogSize > MAX_BACKLOG_SIZE) {
      this.#backlogSize -= this.#backlog.shift()?.line.length ?? this.#backlogSize
    }
    if (this.#socket) this.#send(line)
    else this.#join()
  }

  /**
   * The answer to a request, if it comes within `budget` milliseconds. One that comes later goes to `late`.
   */
  async ask(fields: Fields, budget: number, late?: (answer: Fields) => void): Promise<Fields | undefined> {
    const until = performance.now() + budget
    while (true) {
      const answer = this.#join() ? await this.#exchange(fields, until, late) : 'lost'
      if (answer !== 'lost') return answer
      if (this.#isClosed || !this.#isComing() || performance.now() + LOOK >= until) return undefined
      await new Promise(resolve => setTimeout(resolve, LOOK))
    }
  }

  /** One question and its answer; nothing in time, or the connection lost meanwhile. */
  async #exchange(fields: Fields, until: number, late?: (answer: Fields) => void): Promise<Fields | 'lost' | undefined> {
    const id = ++this.#count
    const line = encode({ ...fields, id })
    if (line === undefined) return undefined
    return await new Promise(resolve => {
      const timer = setTimeout(() => {
        this.#waiting.set(id, { told, done: answer => { if (isFields(answer)) late?.(answer) } })
        resolve(undefined)
        this.#missed(String(fields.request))
      }, Math.max(1, until - performance.now()))
      const told = this.#told
      const done = (answer: Fields | 'lost' | undefined): void => {
        clearTimeout(timer)
        resolve(answer)
      }
      this.#waiting.set(id, { told, done })
      this.#send(line)
    })
  }

  /** Lets what was written go out, and hears nothing more. */
  close(): void {
    this.#isClosed = true
    this.#socket?.end()
    this.#forget()
  }

  /** Whether there is a connection to write to, maybe one that is being made. */
  #join(): boolean {
    if (this.#socket) return true
    if (this.#isClosed) return false
    if (!this.#isComing() && performance.now() < this.#restUntil) return false
    if (!isOurs(this.#options.socket)) {
      this.#nobody()
      return false
    }
    const socket = connect(this.#options.socket)
    this.#socket = socket
    socket.unref()
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isNobody = error.code === 'ECONNREFUSED' || error.code === 'ENOENT'
      if (isNobody && socket === this.#socket) this.#nobody()
      else this.#startedAt = -Infinity
      this.#fail(socket, error.message)
    })
    socket.on('close', () => {
      if (socket === this.#socket) this.#startedAt = -Infinity
      this.#fail(socket, 'the daemon closed the connection')
    })
    const lines = splitter(line => this.#hear(socket, line), () => this.#fail(socket, 'an answer is too long'))
    socket.on('data', lines)
    this.#send(this.#options.first)
    for (const { line } of [...this.#backlog]) this.#send(line)
    return this.#socket !== undefined
  }

  /** Whether a daemon was started that may not listen yet; then it is looked for without a rest. */
  #isComing(): boolean {
    return performance.now() - this.#startedAt < STARTING
  }

  #nobody(): void {
    this.#restNow()
    if (performance.now() - this.#askedToStart < START_AGAIN) return
    this.#askedToStart = performance.now()
    if (this.#options.start()) this.#startedAt = this.#askedToStart
    else this.#options.problem('no daemon listens')
  }

  #send(line: string): void {
    const socket = this.#socket
    if (!socket) return
    socket.write(line)
    if (socket.writableLength > MAX_UNREAD) this.#fail(socket, 'the daemon does not read')
  }

  #hear(socket: Socket, line: string): void {
    if (socket !== this.#socket) return
    const reply = decode(line)
    if (!reply) return this.#fail(socket, 'the daemon does not speak the protocol')
    this.#nSilent = 0
    this.#rest = REST_LEAST
    const error = (reply.error as Fields | undefined)?.message
    if (error !== undefined) this.#options.problem(`the daemon says: ${String(error)}`)
    const waiting = typeof reply.id === 'number' ? this.#waiting.get(reply.id) : undefined
    if (!waiting) return
    this.#waiting.delete(reply.id as number)
    this.#backlog = this.#backlog.filter(it => it.n > waiting.told)
    this.#backlogSize = this.#backlog.reduce((acc, it) => acc + it.line.length, 0)
    if (isFields(reply.ok)) return waiting.done(reply.ok)
    if (error === undefined) this.#options.problem('the daemon answers something else')
    waiting.done(undefined)
  }

  #missed(request: string): void {
    this.#options.problem(`no answer in time to \`${request}\``)
    if (++this.#nSilent < MAX_SILENT || !this.#socket) return
    this.#fail(this.#socket, 'the daemon hangs')
    this.#restUntil = performance.now() + REST_SILENT
  }

  #fail(socket: Socket, why: string): void {
    socket.destroy()
    if (socket !== this.#socket) return
    this.#restNow()
    this.#forget()
    if (!this.#isClosed) this.#options.problem(why)
  }

  #restNow(): void {
    this.#restUntil = performance.now() + this.#rest
    this.#rest = Math.min(this.#rest * 2, REST_MOST)
  }

  /** Nobody is answered any more. */
  #forget(): void {
    this.#socket = undefined
    this.#nSilent = 0
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const it of waiting) it.done('lost')
  }
}
