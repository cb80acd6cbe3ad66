/** Lines of the protocol: one JSON object each. Invalid input gives `undefined`, never an exception. */

export type Fields = Record<string, unknown>

/** Longest line in either direction, in bytes. */
const MAX_LINE_BYTES = 8 << 20

/** Splits a byte stream and passes complete lines to `line`. Calls `tooLong` for a line over the limit. */
export function splitLines(line: (it: string) => void, tooLong: () => void): (data: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  return data => {
    for (let rest = data; rest.length > 0;) {
      const end = rest.indexOf(10)
      const part = end < 0 ? rest : rest.subarray(0, end)
      rest = end < 0 ? rest.subarray(rest.length) : rest.subarray(end + 1)
      parts.push(part)
      size += part.length
      if (size > MAX_LINE_BYTES) {
        parts = []
        return tooLong()
      }
      if (end < 0) return
      const whole = Buffer.concat(parts).toString('utf8')
      parts = []
      size = 0
      line(whole)
    }
  }
}

export function encode(fields: Fields): string | undefined {
  try {
    const line = `${JSON.stringify(fields, (_, it: unknown) => (typeof it === 'string' ? replaceLoneSurrogates(it) : it))}\n`
    return Buffer.byteLength(line) > MAX_LINE_BYTES ? undefined : line
  } catch {
    return undefined
  }
}

export function decode(line: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isFields(value) ? value : undefined
  } catch {
    return undefined
  }
}

const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Replaces lone surrogates: text that was cut inside a character is not valid Unicode, and the daemon would refuse it. */
function replaceLoneSurrogates(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd')
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
