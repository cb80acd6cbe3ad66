/**
 * Connection to the daemon. It sends events, and requests that are answered within their budget or not at all.
 *
 * Nothing here throws or rejects. Only a request that is being awaited keeps the process alive, for its budget at most.
 * After any failure the connection is closed and tried again later.
 */

import { connect, type Socket } from 'node:net'
import { isOwnSocket } from './address.js'
import { decode, encode, type Fields, isFields, splitLines } from './lines.js'

/** Most events held for a daemon that does not run yet, or that may not have read them; and their size in bytes. */
const MAX_BACKLOG = 2_000
const MAX_BACKLOG_BYTES = 2 << 20
/** Bytes pending in the socket after which the daemon counts as hung. */
const MAX_UNREAD_BYTES = 4 << 20
/** After this many requests in a row without an answer, the client pauses, in milliseconds. */
const MAX_TIMEOUTS = 3
const TIMEOUT_PAUSE = 10_000
/** Back-off after a failure: first and longest, in milliseconds. */
const MIN_BACKOFF = 100
const MAX_BACKOFF = 5_000
/** Time for a started daemon to listen, and the interval of the attempts, in milliseconds. */
const START_TIMEOUT = 5_000
const RETRY_INTERVAL = 15
/** Shortest time between two starts, in milliseconds. An idle daemon exits by itself and is started again. */
const MIN_START_INTERVAL = 60_000

export interface ConnectionOptions {
  socket: string
  /** First line of every connection. */
  first: string
  /** Starts a daemon if none listens; returns whether one was started. */
  start: () => boolean
  /** Called with a message for every failure. */
  problem: (what: string) => void
}

interface PendingRequest {
  done: (answer: Fields | 'lost' | undefined) => void
  /** Events sent before this request: its answer proves that they were read. */
  nSentBefore: number
}

export class DaemonConnection {
  readonly #options: ConnectionOptions
  #socket: Socket | undefined
  #isClosed = false
  #count = 0
  #nSent = 0
  #backlogSize = 0
  #backlog: { line: string, n: number }[] = []
  #pending = new Map<number, PendingRequest>()
  #backoff = MIN_BACKOFF
  #retryAt = 0
  #lastStartAt = -Infinity
  #startedAt = -Infinity
  #nTimeouts = 0

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#ensureConnected()
  }

  /** Sends an event. */
  sendEvent(event: Fields): void {
    if (this.#isClosed) return
    const line = encode(event)
    if (line === undefined) return this.#options.problem('an event is too long or cannot be encoded as JSON')
    this.#backlog.push({ line, n: ++this.#nSent })
    this.#backlogSize += line.length
    while (this.#backlog.length > MAX_BACKLOG || this.#backlogSize > MAX_BACKLOG_BYTES) {
      this.#backlogSize -= this.#backlog.shift()?.line.length ?? this.#backlogSize
    }
    if (this.#socket) this.#send(line)
    else this.#ensureConnected()
  }

  /**
   * Sends a request and returns the answer, if it arrives within `budget` milliseconds. A later one goes to `late`.
   */
  async request(fields: Fields, budget: number, late?: (answer: Fields) => void): Promise<Fields | undefined> {
    const until = performance.now() + budget
    while (true) {
      const answer = this.#ensureConnected() ? await this.#sendRequest(fields, until, late) : 'lost'
      if (answer !== 'lost') return answer
      if (this.#isClosed || !this.#isStarting() || performance.now() + RETRY_INTERVAL >= until) return undefined
      await new Promise(resolve => setTimeout(resolve, RETRY_INTERVAL))
    }
  }

  /** One request; undefined after the budget, `lost` if the connection broke. */
  async #sendRequest(fields: Fields, until: number, late?: (answer: Fields) => void): Promise<Fields | 'lost' | undefined> {
    const id = ++this.#count
    const line = encode({ ...fields, id })
    if (line === undefined) return undefined
    return await new Promise(resolve => {
      const timer = setTimeout(() => {
        this.#pending.set(id, { nSentBefore, done: answer => { if (isFields(answer)) late?.(answer) } })
        resolve(undefined)
        this.#countTimeout(String(fields.request))
      }, Math.max(1, until - performance.now()))
      const nSentBefore = this.#nSent
      const done = (answer: Fields | 'lost' | undefined): void => {
        clearTimeout(timer)
        resolve(answer)
      }
      this.#pending.set(id, { nSentBefore, done })
      this.#send(line)
    })
  }

  /** Flushes written data and ignores further answers. */
  close(): void {
    this.#isClosed = true
    this.#socket?.end()
    this.#dropPending()
  }

  /** Connects if necessary. Returns whether there is a connection, possibly one that is still being established. */
  #ensureConnected(): boolean {
    if (this.#socket) return true
    if (this.#isClosed) return false
    if (!this.#isStarting() && performance.now() < this.#retryAt) return false
    if (!isOwnSocket(this.#options.socket)) {
      this.#handleNoDaemon()
      return false
    }
    const socket = connect(this.#options.socket)
    this.#socket = socket
    socket.unref()
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const isNotListening = error.code === 'ECONNREFUSED' || error.code === 'ENOENT'
      if (isNotListening && socket === this.#socket) this.#handleNoDaemon()
      else this.#startedAt = -Infinity
      this.#fail(socket, error.message)
    })
    socket.on('close', () => {
      if (socket === this.#socket) this.#startedAt = -Infinity
      this.#fail(socket, 'the daemon closed the connection')
    })
    const lines = splitLines(line => this.#receive(socket, line), () => this.#fail(socket, 'an answer is too long'))
    socket.on('data', lines)
    this.#send(this.#options.first)
    for (const { line } of [...this.#backlog]) this.#send(line)
    return this.#socket !== undefined
  }

  /** Returns whether a daemon was started that may not listen yet; attempts then do not back off. */
  #isStarting(): boolean {
    return performance.now() - this.#startedAt < START_TIMEOUT
  }

  #handleNoDaemon(): void {
    this.#backOff()
    if (performance.now() - this.#lastStartAt < MIN_START_INTERVAL) return
    this.#lastStartAt = performance.now()
    if (this.#options.start()) this.#startedAt = this.#lastStartAt
    else this.#options.problem('no daemon listens')
  }

  #send(line: string): void {
    const socket = this.#socket
    if (!socket) return
    socket.write(line)
    if (socket.writableLength > MAX_UNREAD_BYTES) this.#fail(socket, 'the daemon does not read')
  }

  #receive(socket: Socket, line: string): void {
    if (socket !== this.#socket) return
    const reply = decode(line)
    if (!reply) return this.#fail(socket, 'the daemon sent a line that is not JSON')
    this.#nTimeouts = 0
    this.#backoff = MIN_BACKOFF
    const error = (reply.error as Fields | undefined)?.message
    if (error !== undefined) this.#options.problem(`the daemon says: ${String(error)}`)
    const pending = typeof reply.id === 'number' ? this.#pending.get(reply.id) : undefined
    if (!pending) return
    this.#pending.delete(reply.id as number)
    this.#backlog = this.#backlog.filter(it => it.n > pending.nSentBefore)
    this.#backlogSize = this.#backlog.reduce((acc, it) => acc + it.line.length, 0)
    if (isFields(reply.ok)) return pending.done(reply.ok)
    if (error === undefined) this.#options.problem('the daemon sent an answer without a result')
    pending.done(undefined)
  }

  #countTimeout(request: string): void {
    this.#options.problem(`no answer in time to \`${request}\``)
    if (++this.#nTimeouts < MAX_TIMEOUTS || !this.#socket) return
    this.#fail(this.#socket, 'the daemon does not answer')
    this.#retryAt = performance.now() + TIMEOUT_PAUSE
  }

  #fail(socket: Socket, why: string): void {
    socket.destroy()
    if (socket !== this.#socket) return
    this.#backOff()
    this.#dropPending()
    if (!this.#isClosed) this.#options.problem(why)
  }

  #backOff(): void {
    this.#retryAt = performance.now() + this.#backoff
    this.#backoff = Math.min(this.#backoff * 2, MAX_BACKOFF)
  }

  /** Ends all pending requests as lost. */
  #dropPending(): void {
    this.#socket = undefined
    this.#nTimeouts = 0
    const pending = [...this.#pending.values()]
    this.#pending.clear()
    for (const it of pending) it.done('lost')
  }
}
