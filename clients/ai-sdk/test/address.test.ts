/** Addresses of daemon and project, and the interpretation of tool calls. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { dataFolder, fingerprint, projectPath, findProjectRoot, sessionId, socketPath } from '../dist/esm/address.js'
import { encode } from '../dist/esm/lines.js'
import { parseCall, errorText, excerpt, isFailure } from '../dist/esm/calls.js'

const P = { cwd: '/p', root: '/p' }

test('the data folder is the one the program uses', () => {
  assert.equal(dataFolder({}, '/home/me'), '/home/me/.local/share/waylore')
  assert.equal(dataFolder({ XDG_DATA_HOME: '/data' }, '/home/me'), '/data/waylore')
  assert.equal(dataFolder({ XDG_DATA_HOME: 'data' }, '/home/me'), '/home/me/.local/share/waylore')
  assert.equal(dataFolder({ XDG_DATA_HOME: '/data', WAYLORE_HOME: '/w' }, '/home/me'), '/w/data')
})

test('a socket is in the data folder unless its path is too long', () => {
  assert.equal(socketPath('/home/me/.local/share/waylore', 7), '/home/me/.local/share/waylore/serve/socket')
  assert.equal(fingerprint('foobar'), '85944171f73967e8')
  const long = `/home/me/${'d'.repeat(120)}`
  assert.equal(socketPath(long, 7), `/tmp/waylore-7-${fingerprint(long)}/socket`)
})

test('the project root is the repository, or the working folder', context => {
  const top = realpathSync(mkdtempSync(join(tmpdir(), 'waylore-sdk-')))
  context.after(() => rmSync(top, { recursive: true }))
  for (const it of ['home/.git', 'home/plain/deep', 'home/repo/.git', 'home/repo/src']) mkdirSync(join(top, it), { recursive: true })
  const root = (it: string): string => findProjectRoot(join(top, it), join(top, 'home')).slice(top.length + 1)
  assert.deepEqual(['home/repo/src', 'home/repo', 'home/plain/deep', 'home'].map(root), ['home/repo', 'home/repo', 'home/plain/deep', 'home'])
})

test('paths are relative to the project', () => {
  const paths = ['a.ts', './src//b.ts', '/p/src/c.ts', '../d.ts', '../../d.ts', '/etc/passwd', '/p', '..e/f', 'a\nb', '../~/x', 'x'.repeat(5_000)]
  assert.deepEqual(paths.map(it => projectPath({ cwd: '/p/sub', root: '/p' }, it)), ['sub/a.ts', 'sub/src/b.ts', 'src/c.ts', 'd.ts',
    undefined, undefined, undefined, 'sub/..e/f', undefined, undefined, undefined])
})

test('the same session name always gives the same UUID', () => {
  const id = sessionId('chat 1')
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  assert.equal(sessionId('chat 1'), id)
  assert.notEqual(sessionId('chat 2'), id)
  assert.equal(sessionId('018F0000-0000-7000-8000-000000000001'), '018f0000-0000-7000-8000-000000000001')
})

test('calls are recognised by common tool names', () => {
  const kinds = ['readFile', 'str_replace', 'write-file', 'Grep', 'ls', 'bash', 'webFetch', 'mcp__github__get_issue', 'constructor', 'weather']
  assert.equal(kinds.map(it => parseCall(it, {}, P).kind).join(' '),
    'read edit write search list shell web_fetch mcp:github/get_issue other other')
  assert.deepEqual(parseCall('read', { file_path: 'a', files: ['b', '/p/a', 7, '../x'], command: 'c', pattern: 'd', url: 'e' }, P),
    { kind: 'read', paths: ['a', 'b'], command: 'c', query: 'd', url: 'e' })
  for (const input of [undefined, null, 'text', 7, []]) assert.deepEqual(parseCall('read', input, P), { kind: 'read', paths: [] })
})

test('a failure and its error text are recognised', () => {
  const failures = [{ exitCode: 1 }, { exit_code: 2 }, { isError: true }, { success: false }, { error: 'x' }, { ok: false }]
  assert.ok(failures.every(isFailure))
  assert.ok([{ exitCode: 0 }, { error: null }, { error: '' }, 'error', null, [], { code: 200 }].every(it => !isFailure(it)))
  assert.equal(errorText({ exitCode: 1, stdout: 'out', stderr: 'err' }), 'err\nout')
  assert.equal(errorText({ isError: true, content: [{ type: 'text', text: 'a' }, { type: 'image' }] }), 'a')
  assert.equal(errorText(new Error('e')), 'e')
})

test('an error of a child process is known by what the program printed', () => {
  const program = "process.stdout.write('1 of 2 failed'); process.stderr.write('E42: no such table'); process.exit(3)"
  const thrown = (run: () => unknown): unknown => {
    try {
      return run()
    } catch (error) {
      return error
    }
  }
  const options = { stdio: 'pipe' } as const
  const bytes = thrown(() => execFileSync(process.execPath, ['-e', program], options))
  assert.equal(errorText(bytes), 'E42: no such table\n1 of 2 failed')
  const text = thrown(() => execFileSync(process.execPath, ['-e', program], { ...options, encoding: 'utf8' }))
  assert.equal(errorText(text), 'E42: no such table\n1 of 2 failed')
  const silent = thrown(() => execFileSync(process.execPath, ['-e', 'process.exit(3)'], options))
  assert.match(errorText(silent), /^Command failed/)
  assert.equal(excerpt({ a: 1n }), '')
  assert.equal(excerpt({ a: [1] }), '{"a":[1]}')
  assert.equal(excerpt('x'.repeat(9_000)).length, 4_096)
})

test('text that was cut inside a character is still encoded', () => {
  assert.equal(encode({ a: ['\ud83d', 'x😀', '\ude00y'] }), '{"a":["\ufffd","x😀","\ufffdy"]}\n')
  assert.equal(encode({ a: 1n }), undefined)
})
