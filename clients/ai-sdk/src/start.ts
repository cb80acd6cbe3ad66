/** Starts the daemon where none listens. It leaves this process at once, and nobody waits for it. */

import { spawn } from 'node:child_process'

/** Says whether it was tried; whether it worked shows when it listens. */
export function startDaemon(program: string, problem: (what: string) => void): boolean {
  try {
    // What our own processes cause is not observed.
    const env = { ...process.env, WAYLORE_OWN: '1' }
    const child = spawn(program, ['serve', '--detached'], { cwd: '/', detached: true, stdio: 'ignore', env })
    child.on('error', error => problem(`\`${program}\` cannot be started: ${error.message}`))
    child.unref()
    return true
  } catch {
    return false
  }
}
