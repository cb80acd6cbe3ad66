/** Addresses: the daemon's socket, the project root and project paths, by the same rules as in the program itself. */

import { createHash } from 'node:crypto'
import { lstatSync, realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'

type Environment = Record<string, string | undefined>

/** Longest socket path inside the data folder, in bytes; a longer one is replaced by one below `/tmp`. */
const MAX_SOCKET_PATH_BYTES = 100

/** Data folder of the user of this process. */
export function dataFolder(env: Environment, home: string): string {
  if (env.WAYLORE_HOME) return join(resolve(env.WAYLORE_HOME), 'data')
  const set = env.XDG_DATA_HOME
  return join(set && isAbsolute(set) ? set : join(home, '.local/share'), 'waylore')
}

/** Socket of the daemon of a data folder. */
export function socketPath(data: string, user: number): string {
  const near = join(data, 'serve', 'socket')
  if (Buffer.byteLength(near) <= MAX_SOCKET_PATH_BYTES) return near
  return join('/tmp', `waylore-${user}-${fingerprint(data)}`, 'socket')
}

export function defaultSocket(): string {
  return socketPath(dataFolder(process.env, homedir()), process.geteuid?.() ?? 0)
}

/** Returns whether the path is a socket that belongs to the current user. */
export function isOwnSocket(socket: string): boolean {
  try {
    const found = lstatSync(socket)
    return found.isSocket() && found.uid === process.geteuid?.()
  } catch {
    return false
  }
}

/** FNV-1a with 64 bits, as in the program. */
export function fingerprint(text: string): string {
  let res = 0xcbf29ce484222325n
  for (const it of Buffer.from(text)) res = BigInt.asUintN(64, (res ^ BigInt(it)) * 0x100000001b3n)
  return res.toString(16).padStart(16, '0')
}

/**
 * Root of the working tree around a folder, otherwise the folder itself. A repository in the home folder or above it
 * does not count for the folders below.
 */
export function findProjectRoot(cwd: string, home: string = homedir()): string {
  const start = real(cwd)
  const shared = real(home)
  for (let at = start; ; at = dirname(at)) {
    const mayBeRoot = at === start || !isBelow(at, shared)
    if (mayBeRoot && exists(join(at, '.git'))) return at
    if (at === dirname(at)) return start
  }
}

/** Working folder of an agent, to which its paths are relative, and the root of the project. */
export interface ProjectPlace { cwd: string, root: string }

/** Longest path of the protocol, in bytes, and a pattern of paths that it refuses. */
const MAX_PATH_BYTES = 4096
const INVALID_PATH = /^~\/|^[a-z]:|\p{Cc}/iu

/** Path as events name it: relative to the root, with `/`; undefined for one outside of the project. */
export function projectPath({ cwd, root }: ProjectPlace, path: string): string | undefined {
  const given = resolve(cwd, path)
  const near = relative(root, given)
  // A path through a symbolic link means the same file.
  const found = isOutside(near) ? relative(root, real(given)) : near
  if (isOutside(found) || INVALID_PATH.test(found) || Buffer.byteLength(found) > MAX_PATH_BYTES) return undefined
  return found.split(sep).join('/')
}

function isOutside(path: string): boolean {
  return path === '' || path === '..' || path.startsWith(`..${sep}`) || isAbsolute(path)
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Id of a session: a UUID unchanged, any other name by its hash, so that the same name gives the same id. */
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
