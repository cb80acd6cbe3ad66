/**
 * Queue of notes from the daemon for the model. A note about a call is attached to its result. A note without a result,
 * because the call threw or the answer was late, is attached to the next result or step. Each is used once.
 */

/** Most calls whose notes are stored, so that converting the same history again gives the same text. */
const MAX_CALLS = 1_000
/** Longest note, in characters. A longer one is dropped: a truncated block would lack its end tag. */
export const MAX_NOTE = 9_000

export class NoteQueue {
  #byCall = new Map<string, { note: Promise<string>, isUsed: boolean }>()
  #open = new Set<Promise<unknown>>()
  #unattached: string[] = []

  /** Attaches a note to the result of a call. */
  attachToCall(callId: string, note: Promise<string>): void {
    this.#byCall.set(callId, { note: this.#tracked(note), isUsed: false })
    const oldest = this.#byCall.keys().next()
    if (this.#byCall.size > MAX_CALLS && !oldest.done) this.#byCall.delete(oldest.value)
  }

  /** Attaches a note to the next result or step. */
  attachToNext(note: Promise<string>): void {
    void this.#tracked(note.then(it => {
      this.add(it)
      return it
    }))
  }

  add(note: string): void {
    if (note !== '') this.#unattached.push(note)
  }

  /** Note for the result of a call; the same for every request. */
  async noteForCall(callId: string): Promise<string> {
    const known = this.#byCall.get(callId)
    if (known === undefined) return ''
    if (!known.isUsed) {
      known.isUsed = true
      known.note = known.note.then(own => [...this.#unattached.splice(0), own].filter(it => it !== '').join('\n\n'))
    }
    return await known.note
  }

  /** Takes the notes without a result. Waits for pending requests, which have budgets of their own. */
  async takeUnattached(): Promise<string> {
    await Promise.all(this.#open)
    return this.#unattached.splice(0).join('\n\n')
  }

  #tracked(note: Promise<string>): Promise<string> {
    const safe = note.catch(() => '')
    this.#open.add(safe)
    void safe.then(() => this.#open.delete(safe))
    return safe
  }
}
