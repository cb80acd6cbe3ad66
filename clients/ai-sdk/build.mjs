// Builds dist/esm and dist/cjs with their types, and copies the licences.

import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const here = import.meta.dirname ?? dirname(new URL(import.meta.url).pathname)
const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc')
const compile = (...options) =>
  execFileSync(process.execPath, [tsc, '--project', here, ...options], { cwd: here, stdio: 'inherit' })

rmSync(join(here, 'dist'), { recursive: true, force: true })
compile()
compile('--module', 'commonjs', '--moduleResolution', 'node10', '--outDir', 'dist/cjs')
writeFileSync(join(here, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n')
for (const licence of ['LICENSE-MIT', 'LICENSE-APACHE']) {
  const source = join(here, '../..', licence)
  if (existsSync(source)) copyFileSync(source, join(here, licence))
}
