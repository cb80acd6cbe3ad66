/** Lines of the protocol: one JSON object each. Bad input is a value here, never an exception. */

export type Fields = Record<string, unknown>

/** The longest line, in either direction. */
const MAX_LINE = 8 << 20

/** Gives whole lines on; more than one line may hold without its end is too much. */
export function splitter(line: (it: string) => void, tooLong: () => void): (data: Buffer) => void {
  let parts: Buffer[] = []
  let size = 0
  return data => {
    for (let rest = data; rest.length > 0;) {
      const end = rest.indexOf(10)
      const part = end < 0 ? rest : rest.subarray(0, end)
      rest = end < 0 ? rest.subarray(rest.length) : rest.subarray(end + 1)
      parts.push(part)
      size += part.length
      if (size > MAX_LINE) {
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
    const line = `${JSON.stringify(fields, (_, it: unknown) => (typeof it === 'string' ? wellFormed(it) : it))}\n`
    return Buffer.byteLength(line) > MAX_LINE ? undefined : line
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

const LONE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A text that was cut in the middle of a character is no Unicode, and would be refused. */
function wellFormed(text: string): string {
  return text.replace(LONE, '\ufffd')
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
