// Written by `waylore connect opencode`, and removed by `waylore disconnect opencode`; changes are lost.
//
// Reports the events of a session to Waylore and injects its answers: before the prompt, after the output of a tool.
// It fails open: on any error OpenCode continues as if this file did not exist.

import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const PROGRAM = __PROGRAM__
/** Tools that read or change a file. */
const FILE_TOOLS = new Set(["read", "edit", "write", "multiedit", "patch", "apply_patch"])
/** Time limit for an answer, in milliseconds. Above the limit of Waylore itself. */
const ANSWER_TIMEOUT_MS = (Number(process.env.WAYLORE_HOOK_PATIENCE_MS) || 2500) + 1000
/** Characters passed on from each end of a long text. */
const EXCERPT_END_CHARS = 16 * 1024
/** After this many timeouts Waylore is not called again. */
const MAX_TIMEOUTS = 2
let nTimeouts = 0
/** Most calls whose notes are stored. */
const MAX_NOTES = 500

/** Folders served by an instance: the settings of the user and of the project may both load this plugin. */
const activeFolders = (globalThis[Symbol.for("waylore")] ??= new Set())

export const Waylore = async ({ directory }) => {
  if (activeFolders.has(directory)) return {}
  activeFolders.add(directory)
  const database = databasePath()
  const startedSessions = new Set()
  const compactedSessions = new Set()
  const parents = new Map()
  /** Notes by call id, added to the output or the error of the call whenever the model reads it. */
  const notes = new Map()

  const report = (event, sessionID, more) =>
    callHook({ hook_event_name: event, sessionID, parentID: parents.get(sessionID), directory, database, ...more })

  const storeNote = (callID, text) => {
    if (notes.size >= MAX_NOTES) notes.delete(notes.keys().next().value)
    notes.set(callID, text)
  }

  const startSession = async (sessionID) => {
    if (startedSessions.has(sessionID)) return ""
    startedSessions.add(sessionID)
    return report("session.start", sessionID, { compacted: compactedSessions.delete(sessionID) })
  }

  return {
    event: failOpen(({ event }) => {
      const properties = event.properties ?? {}
      if (event.type === "session.created" && properties.info?.parentID) parents.set(properties.info.id, properties.info.parentID)
      // The next prompt starts the session again, so that Waylore repeats the notes that were lost.
      if (event.type === "session.compacted" && startedSessions.delete(properties.sessionID)) compactedSessions.add(properties.sessionID)
      if (event.type !== "message.part.updated" || properties.part?.type !== "tool") return
      const { callID, sessionID, tool, state } = properties.part
      if (state?.status !== "error" || notes.has(callID)) return
      storeNote(callID, report("tool.error", sessionID, { callID, tool, args: state.input, output: excerpt(state.error) }))
    }),

    "chat.message": failOpen(async ({ sessionID }, { message, parts }) => {
      const prompts = parts.filter((it) => it.type === "text" && !it.synthetic)
      const texts = [await startSession(sessionID)]
      for (const it of prompts) texts.push(await report("chat.message", sessionID, { partID: it.id, text: excerpt(it.text) }))
      const text = texts.filter(Boolean).join("\n")
      // An id of our own that sorts behind the last one.
      const last = parts.at(-1)?.id
      if (text && last) parts.push({ id: last + "w", sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }),

    "tool.execute.after": failOpen(async ({ tool, sessionID, callID, args }, output) => {
      const exit = output.metadata?.exit
      // At this event there are notes only about files and about commands that failed.
      if (!exit && !FILE_TOOLS.has(tool)) return
      const text = await report("tool.execute.after", sessionID, { callID, tool, args, exit, output: excerpt(output.output) })
      if (text && typeof output.output === "string") output.output += "\n" + text
    }),

    // Runs before every step, on a copy of the conversation. Notes on a failed call and notes between two steps have
    // no other place: a failed call has no output that the hook above could extend.
    "experimental.chat.messages.transform": failOpen(async (_, { messages }) => {
      const { info, parts } = messages.at(-1) ?? {}
      const calls = parts?.filter((it) => it.type === "tool" && it.state?.status === "completed") ?? []
      const last = calls.at(-1)?.callID
      if (info?.role === "assistant" && last && !notes.has(last)) {
        const step = calls.map(({ tool, state }) => ({ tool, args: state.input }))
        storeNote(last, report("step.end", info.sessionID, { callID: last, calls: step }))
      }
      for (const { callID, state } of messages.flatMap((it) => it.parts)) {
        const text = await notes.get(callID)
        if (text && state?.status === "error") state.error += "\n" + text
        if (text && state?.status === "completed") state.output += "\n" + text
      }
    }),

    dispose: failOpen(async () => {
      activeFolders.delete(directory)
      await Promise.all([...startedSessions].map((it) => report("session.end", it)))
    }),
  }
}

/** Path of the database in which OpenCode keeps its sessions. */
function databasePath() {
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  return process.env.OPENCODE_DB || join(data, "opencode", "opencode.db")
}

/** Wraps a hook so that its errors never reach OpenCode. */
function failOpen(work) {
  return async (...all) => {
    try {
      await work(...all)
    } catch {}
  }
}

function excerpt(text) {
  if (typeof text !== "string") return ""
  return text.length > 2 * EXCERPT_END_CHARS
    ? text.slice(0, EXCERPT_END_CHARS) + "\n[…]\n" + text.slice(-EXCERPT_END_CHARS)
    : text
}

/** The answer of Waylore to a message, or an empty text if none arrives in time. */
function callHook(message) {
  if (nTimeouts >= MAX_TIMEOUTS) return Promise.resolve("")
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    let output = ""
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(output).additionalContext ?? "")
      } catch {
        resolve("")
      }
    }
    const timer = setTimeout(() => {
      nTimeouts += 1
      child.kill()
      resolve("")
    }, ANSWER_TIMEOUT_MS)
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (it) => (output += it))
    child.stdin.end(JSON.stringify(message))
  }).catch(() => "")
}
