/**
 * Notes between the daemon and the model. A note about a call goes with its result; one that has no result to go with,
 * because the call threw or the answer was late, goes with whatever comes next. Each is said once.
 */

/** Calls whose notes are remembered, so that converting the same history again gives the same text. */
const MAX_CALLS = 1_000
/** The longest note, in characters. What is longer is not said: half a block would not end. */
export const MAX_NOTE = 9_000

export class Notes {
  #byCall = new Map<string, { note: Promise<string>, isSaid: boolean }>()
  #open = new Set<Promise<unknown>>()
  #loose: string[] = []

  /** A note that will go with the result of a call. */
  about(callId: string, note: Promise<string>): void {
    this.#byCall.set(callId, { note: this.#tracked(note), isSaid: false })
    const oldest = this.#byCall.keys().next()
    if (this.#byCall.size > MAX_CALLS && !oldest.done) this.#byCall.delete(oldest.value)
  }

  /** A note that goes with whatever comes next. */
  next(note: Promise<string>): void {
    void this.#tracked(note.then(it => {
      this.add(it)
      return it
    }))
  }

  add(note: string): void {
    if (note !== '') this.#loose.push(note)
  }

  /** What to say with the result of a call; the same whenever it is asked again. */
  async of(callId: string): Promise<string> {
    const known = this.#byCall.get(callId)
    if (known === undefined) return ''
    if (!known.isSaid) {
      known.isSaid = true
      known.note = known.note.then(own => [...this.#loose.splice(0), own].filter(it => it !== '').join('\n\n'))
    }
    return await known.note
  }

  /** What has no result to go with. Waits for what is being asked, which has a limit of its own. */
  async loose(): Promise<string> {
    await Promise.all(this.#open)
    return this.#loose.splice(0).join('\n\n')
  }

  #tracked(note: Promise<string>): Promise<string> {
    const safe = note.catch(() => '')
    this.#open.add(safe)
    void safe.then(() => this.#open.delete(safe))
    return safe
  }
}
