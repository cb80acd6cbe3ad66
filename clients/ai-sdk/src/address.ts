/** Where the daemon listens, and where a project begins: the rules of the program itself, told from the outside. */

import { createHash } from 'node:crypto'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

type Environment = Record<string, string | undefined>

/** The longest name of a socket beside the data; a longer one lies below `/tmp`. */
const LONGEST_NAME = 100

/** The data folder of the person this process belongs to. */
export function dataFolder(env: Environment, home: string): string {
  if (env.WAYLORE_HOME) return join(resolve(env.WAYLORE_HOME), 'data')
  const set = env.XDG_DATA_HOME
  return join(set && isAbsolute(set) ? set : join(home, '.local/share'), 'waylore')
}

/** The socket of the daemon that keeps a data folder. */
export function socketOf(data: string, user: number): string {
  const near = join(data, 'serve', 'socket')
  if (Buffer.byteLength(near) <= LONGEST_NAME) return near
  return join('/tmp', `waylore-${user}-${fingerprint(data)}`, 'socket')
}

export function defaultSocket(): string {
  return socketOf(dataFolder(process.env, homedir()), process.geteuid?.() ?? 0)
}

/** Whether there is a socket that only we could have put there. */
export function isOurs(socket: string): boolean {
  try {
    const found = lstatSync(socket)
    return found.isSocket() && found.uid === process.geteuid?.()
  } catch {
    return false
  }
}

/** FNV-1a of 64 bits, as the program computes it. */
export function fingerprint(text: string): string {
  let res = 0xcbf29ce484222325n
  for (const it of Buffer.from(text)) res = BigInt.asUintN(64, (res ^ BigInt(it)) * 0x100000001b3n)
  return res.toString(16).padStart(16, '0')
}

/**
 * The top of the working tree that a folder lies in, else the folder itself. A repository at home or above it does
 * not turn everything below into one project.
 */
export function rootOf(cwd: string, home: string = homedir()): string {
  const start = real(cwd)
  const shared = real(home)
  for (let at = start; ; at = dirname(at)) {
    const mayBeRoot = at === start || !isBelow(at, shared)
    if (mayBeRoot && exists(join(at, '.git'))) return at
    if (at === dirname(at)) return start
  }
}

/** Where an agent works: the folder its paths are relative to, and the top of the project. */
export interface Place { cwd: string, root: string }

/** The longest path of the protocol, in bytes, and what no path of it is like. */
const LONGEST_PATH = 4096
const NO_PATH = /^~\/|^[a-z]:|\p{Cc}/iu

/** A path of the project as events name it: relative to the root, with `/`; nothing for one outside. */
export function projectPath({ cwd, root }: Place, path: string): string | undefined {
  const given = resolve(cwd, path)
  const near = relative(root, given)
  // Whoever names a file by another way to it means the same file.
  const found = isOutside(near) ? relative(root, real(given)) : near
  if (isOutside(found) || NO_PATH.test(found) || Buffer.byteLength(found) > LONGEST_PATH) return undefined
  return found.split(sep).join('/')
}

function isOutside(path: string): boolean {
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The id of a session: a UUID as it is, any other name by its print, so that it is found again under that name. */
export function sessionId(name: string): string {
  if (UUID.test(name)) return name.toLowerCase()
  const hex = createHash('sha256').update(`waylore session ${name}`).digest('hex')
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16)
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20, 32)].join('-')
}

export function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}

function isBelow(above: string, path: string): boolean {
  return path === above || path.startsWith(above.endsWith(sep) ? above : above + sep)
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined
}
