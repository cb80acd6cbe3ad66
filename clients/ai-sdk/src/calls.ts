/**
 * Interprets tool calls: the kind of tool, its files, its command, and whether it failed. Authors choose the names of
 * their tools, so the interpretation uses common names and falls back to `other`.
 */

import { type ProjectPlace, projectPath } from './address.js'
import { type Fields, isFields } from './lines.js'

export type ToolKind =
  | 'read' | 'edit' | 'write' | 'search' | 'list' | 'shell' | 'web_fetch' | 'web_search' | 'task' | 'other'

/** A call in the terms of the protocol. */
export interface ToolCall {
  kind: ToolKind | `mcp:${string}`
  /** Relative to the project, with `/`. */
  paths: string[]
  command?: string
  query?: string
  url?: string
}

/** Kinds by lower-case names without `_` and `-`; the same table as in the program. */
const TOOL_KINDS: Record<string, ToolKind> = Object.fromEntries(([
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

/** Common names of arguments. */
const PATH_FIELDS = ['path', 'file', 'filePath', 'file_path', 'filepath', 'fileName', 'filename', 'file_name', 'paths', 'files',
  'file_paths', 'filePaths', 'notebook_path', 'target_file', 'relative_path']
const COMMAND_FIELDS = ['command', 'cmd', 'script']
const QUERY_FIELDS = ['query', 'pattern', 'regex', 'glob', 'search']
const URL_FIELDS = ['url', 'uri']

/** Fields that mark a returned result as a failure. */
const FAILURE_FIELDS: [string, (it: unknown) => boolean][] = [
  ['exitCode', it => typeof it === 'number' && it !== 0],
  ['exit_code', it => typeof it === 'number' && it !== 0],
  ['isError', it => it === true],
  ['is_error', it => it === true],
  ['success', it => it === false],
  ['ok', it => it === false],
  ['error', it => typeof it === 'string' && it !== ''],
]

/** Fields with the text of a result, and with the error text of a failure. */
const TEXT_FIELDS = ['stdout', 'output', 'text', 'content', 'result', 'message']
const ERROR_TEXT_FIELDS = ['stderr', 'error', 'stdout', 'output', 'message', 'text', 'content']

/** Longest excerpt, command or query, in characters. */
const MAX_EXCERPT = 4096
/** Most files of one call. */
const MAX_FILES = 100

/** Parses a call. */
export function parseCall(name: string, input: unknown, place: ProjectPlace): ToolCall {
  const fields = isFields(input) ? input : {}
  const call: ToolCall = { kind: kindOf(name), paths: paths(fields, place) }
  const command = first(fields, COMMAND_FIELDS)
  const query = first(fields, QUERY_FIELDS)
  const url = first(fields, URL_FIELDS)
  if (command !== undefined) call.command = command
  if (query !== undefined) call.query = query
  if (url !== undefined) call.url = url
  return call
}

function kindOf(name: string): ToolCall['kind'] {
  const [, server, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? []
  if (server && tool) return `mcp:${server}/${tool}`
  const plain = name.replaceAll(/[_-]/g, '').toLowerCase()
  return Object.hasOwn(TOOL_KINDS, plain) ? TOOL_KINDS[plain]! : 'other'
}

function paths(fields: Fields, place: ProjectPlace): string[] {
  const given = PATH_FIELDS.flatMap(it => fields[it]).filter(it => typeof it === 'string')
  const found = given.map(it => projectPath(place, it)).filter(it => it !== undefined)
  return [...new Set(found)].slice(0, MAX_FILES)
}

function first(fields: Fields, names: string[]): string | undefined {
  const found = names.map(it => fields[it]).find(it => typeof it === 'string' && it !== '')
  return (found as string | undefined)?.slice(0, MAX_EXCERPT)
}

/** Returns whether a returned result is a failure. */
export function isFailure(output: unknown): boolean {
  return isFields(output) && FAILURE_FIELDS.some(([name, test]) => test(output[name]))
}

/** Beginning of a tool's output. */
export function excerpt(output: unknown): string {
  return textOf(output, TEXT_FIELDS).slice(0, MAX_EXCERPT)
}

/** Error text of a failed call. */
export function errorText(output: unknown): string {
  if (output instanceof Error) return thrownText(output).slice(0, MAX_EXCERPT)
  return textOf(output, ERROR_TEXT_FIELDS).slice(0, MAX_EXCERPT)
}

/**
 * Text of a thrown error. An error of `execSync`, `exec` and the like has the output of the program: that names the
 * problem. Its message begins with a header of Node.js, which is the same for every error of a command.
 */
function thrownText(error: Error): string {
  const { stderr, stdout } = error as { stderr?: unknown, stdout?: unknown }
  const texts = [stderr, stdout].map(bytesText).filter(it => it.trim() !== '')
  return texts.length > 0 ? texts.join('\n') : error.message
}

function bytesText(value: unknown): string {
  if (typeof value === 'string') return value
  return value instanceof Uint8Array ? new TextDecoder().decode(value) : ''
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

/** A string, or the texts of a list of parts. */
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
