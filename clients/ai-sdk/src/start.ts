/** Starts the daemon as a detached process, without waiting for it. */

import { spawn } from 'node:child_process'

/** Returns whether the start was attempted; success shows when the daemon listens. */
export function startDaemon(program: string, problem: (what: string) => void): boolean {
  try {
    // Marks the process as Waylore's own, so that it is not observed.
    const env = { ...process.env, WAYLORE_OWN: '1' }
    const child = spawn(program, ['serve', '--detached'], { cwd: '/', detached: true, stdio: 'ignore', env })
    child.on('error', error => problem(`\`${program}\` cannot be started: ${error.message}`))
    child.unref()
    return true
  } catch {
    return false
  }
}
