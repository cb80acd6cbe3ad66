/**
 * What a tool call means: which kind of tool, which files, which command, and whether it went well. Tools of the AI SDK
 * are called whatever their author likes, so this goes by the usual names and says `other` when in doubt.
 */

import { type Place, projectPath } from './address.js'
import { type Fields, isFields } from './lines.js'

export type ToolKind =
  | 'read' | 'edit' | 'write' | 'search' | 'list' | 'shell' | 'web_fetch' | 'web_search' | 'task' | 'other'

/** A call, as the protocol tells it. */
export interface Call {
  kind: ToolKind | `mcp:${string}`
  /** Relative to the project, with `/`. */
  paths: string[]
  command?: string
  query?: string
  url?: string
}

/** Lower-case names without `_` and `-`; the same table as the program's own. */
const NAMES: Record<string, ToolKind> = Object.fromEntries(([
  ['read', 'cat notebookread open openfile read readfile readmanyfiles view viewfile'],
  ['edit', 'appendfile applydiff applypatch edit editfile multiedit notebookedit patch replace strreplace strreplaceeditor'],
  ['write', 'create createfile write writefile'],
  ['search', 'codebasesearch grep grepsearch rg ripgrep search searchcode searchfilecontent searchfiles searchtext'],
  ['list', 'filesearch findfile findfiles glob list listdir listdirectory listfiles ls'],
  ['shell', 'bash exec execcommand execute executecommand localshell powershell runcommand runinterminal '
    + 'runshellcommand runterminalcmd shell terminal'],
  ['web_fetch', 'fetch fetchurl webfetch'],
  ['web_search', 'googlewebsearch googlesearch websearch websearchpreview'],
  ['task', 'agent delegatetask subagent task'],
] as const).flatMap(([kind, names]) => names.split(' ').map(it => [it, kind])))

/** The arguments that carry a meaning, by the names that are usual for them. */
const PATHS = ['path', 'file', 'filePath', 'file_path', 'filepath', 'fileName', 'filename', 'file_name', 'paths', 'files',
  'file_paths', 'filePaths', 'notebook_path', 'target_file', 'relative_path']
const COMMANDS = ['command', 'cmd', 'script']
const QUERIES = ['query', 'pattern', 'regex', 'glob', 'search']
const URLS = ['url', 'uri']

/** What a result says when it failed without throwing. */
const FAILED: [string, (it: unknown) => boolean][] = [
  ['exitCode', it => typeof it === 'number' && it !== 0],
  ['exit_code', it => typeof it === 'number' && it !== 0],
  ['isError', it => it === true],
  ['is_error', it => it === true],
  ['success', it => it === false],
  ['ok', it => it === false],
  ['error', it => typeof it === 'string' && it !== ''],
]

/** Where a result keeps its text; of a failure, what it complains of. */
const TEXTS = ['stdout', 'output', 'text', 'content', 'result', 'message']
const COMPLAINTS = ['stderr', 'error', 'stdout', 'output', 'message', 'text', 'content']

/** The longest excerpt, command or query, in characters. */
const MAX_EXCERPT = 4096
/** The most files one call may touch. */
const MAX_FILES = 100

/** Reads a call. */
export function call(name: string, input: unknown, place: Place): Call {
  const fields = isFields(input) ? input : {}
  const res: Call = { kind: kindOf(name), paths: paths(fields, place) }
  const command = first(fields, COMMANDS)
  const query = first(fields, QUERIES)
  const url = first(fields, URLS)
  if (command !== undefined) res.command = command
  if (query !== undefined) res.query = query
  if (url !== undefined) res.url = url
  return res
}

function kindOf(name: string): Call['kind'] {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  if (server && tool) return `mcp:${server}/${tool}`
  const plain = name.replaceAll(/[_-]/g, '').toLowerCase()
  return Object.hasOwn(NAMES, plain) ? NAMES[plain]! : 'other'
}

function paths(fields: Fields, place: Place): string[] {
  const given = PATHS.flatMap(it => fields[it]).filter(it => typeof it === 'string')
  const found = given.map(it => projectPath(place, it)).filter(it => it !== undefined)
  return [...new Set(found)].slice(0, MAX_FILES)
}

function first(fields: Fields, names: string[]): string | undefined {
  const found = names.map(it => fields[it]).find(it => typeof it === 'string' && it !== '')
  return (found as string | undefined)?.slice(0, MAX_EXCERPT)
}

/** Whether a result that was returned is a failure. */
export function isFailure(output: unknown): boolean {
  return isFields(output) && FAILED.some(([name, test]) => test(output[name]))
}

/** The beginning of what a tool answered. */
export function excerpt(output: unknown): string {
  return textOf(output, TEXTS).slice(0, MAX_EXCERPT)
}

/** What a failed call complains of. */
export function complaint(output: unknown): string {
  if (output instanceof Error) return output.message.slice(0, MAX_EXCERPT)
  return textOf(output, COMPLAINTS).slice(0, MAX_EXCERPT)
}

function textOf(output: unknown, names: string[]): string {
  if (typeof output === 'string') return output
  if (output === undefined || output === null) return ''
  if (isFields(output)) {
    const texts = names.map(it => plain(output[it])).filter(it => it !== '')
    if (texts.length > 0) return texts.join('\n')
  }
  return json(output)
}

/** A text, or the texts of a list of parts. */
function plain(value: unknown): string {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return ''
  return value.map(it => (isFields(it) && typeof it.text === 'string' ? it.text : '')).filter(it => it !== '').join('\n')
}

function json(value: unknown): string {
  try {
    return JSON.stringify(value) ?? ''
  } catch {
    return ''
  }
}
