/** The example of the README runs unchanged, except for its model, with both versions of the SDK. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const here = join(import.meta.dirname, '..')

for (const [ai, mock] of [['ai-v6', 'MockLanguageModelV3'], ['ai', 'MockLanguageModelV4']]) {
  test(`the example runs with ${ai}`, { timeout: 60_000 }, context => {
    const home = mkdtempSync(join(tmpdir(), 'waylore-sdk-'))
    // Inside the package, so that it finds the package by its name.
    const file = join(here, `dist/example-${ai}.ts`)
    context.after(() => {
      rmSync(home, { recursive: true })
      rmSync(file, { force: true })
    })
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readFileSync(join(here, 'README.md'), 'utf8')) ?? []
    const said = `{ content: [{ type: 'text', text: 'Because of the clock.' }], finishReason: { unified: 'stop' }, warnings: [],
      usage: { inputTokens: {}, outputTokens: {} } }`
    const script = example
      .replace(/import \{ anthropic \}.*/, `import { ${mock} } from '${ai}/test'`)
      .replace(/anthropic\('.*'\)/, `new ${mock}({ doGenerate: ${said} as any })`)
      .replace(`from 'ai'`, `from '${ai}'`)
    writeFileSync(file, `${script}\nconsole.log(text)\n`)
    const env = { ...process.env, WAYLORE_HOME: home, WAYLORE_SERVE_START: 'false' }
    assert.equal(execFileSync(process.execPath, ['--no-warnings', file], { env, encoding: 'utf8' }), 'Because of the clock.\n')
  })
}
