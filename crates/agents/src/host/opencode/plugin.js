// Written by `waylore connect opencode`, and removed by `waylore disconnect opencode`; changes are lost.
//
// Tells Waylore what happens in a session, and passes on what it answers: before the prompt, behind the answer of
// a tool. Whatever goes wrong, OpenCode goes on as if this file were not there.

import { spawn } from "node:child_process"
import { homedir } from "node:os"
import { join } from "node:path"

const PROGRAM = __PROGRAM__
/** Tools that go over a file. */
const FILES = new Set(["read", "edit", "write", "multiedit", "patch", "apply_patch"])
/** Milliseconds after which an answer is no longer waited for. Waylore itself ends long before. */
const PATIENCE = (Number(process.env.WAYLORE_HOOK_PATIENCE_MS) || 2500) + 1000
/** Characters of either end of a long text that are passed on. */
const END = 16 * 1024
/** So many answers that did not come in time are enough: nothing is asked any more. */
const TOO_LATE = 2
let late = 0
/** Calls whose notes are kept in mind. */
const MOST = 500

/** Settings of a person and of a project may both name this plugin; one of them speaks. */
const speaking = (globalThis[Symbol.for("waylore")] ??= new Set())

export const Waylore = async ({ directory }) => {
  if (speaking.has(directory)) return {}
  speaking.add(directory)
  const database = databasePath()
  const begun = new Set()
  const compacted = new Set()
  const parents = new Map()
  /** What is said behind the answer or the error of a call, each time it is read. */
  const notes = new Map()

  const tell = (event, sessionID, more) =>
    ask({ hook_event_name: event, sessionID, parentID: parents.get(sessionID), directory, database, ...more })

  const note = (callID, text) => {
    if (notes.size >= MOST) notes.delete(notes.keys().next().value)
    notes.set(callID, text)
  }

  const begin = async (sessionID) => {
    if (begun.has(sessionID)) return ""
    begun.add(sessionID)
    return tell("session.start", sessionID, { compacted: compacted.delete(sessionID) })
  }

  return {
    event: quietly(({ event }) => {
      const about = event.properties ?? {}
      if (event.type === "session.created" && about.info?.parentID) parents.set(about.info.id, about.info.parentID)
      if (event.type === "session.compacted" && begun.delete(about.sessionID)) compacted.add(about.sessionID)
      if (event.type !== "message.part.updated" || about.part?.type !== "tool") return
      const { callID, sessionID, tool, state } = about.part
      if (state?.status !== "error" || notes.has(callID)) return
      note(callID, tell("tool.error", sessionID, { callID, tool, args: state.input, output: cut(state.error) }))
    }),

    "chat.message": quietly(async ({ sessionID }, { message, parts }) => {
      const said = parts.filter((it) => it.type === "text" && !it.synthetic)
      const texts = [await begin(sessionID)]
      for (const it of said) texts.push(await tell("chat.message", sessionID, { partID: it.id, text: cut(it.text) }))
      const text = texts.filter(Boolean).join("\n")
      const last = parts.at(-1)?.id
      if (text && last) parts.push({ id: last + "w", sessionID, messageID: message.id, type: "text", text, synthetic: true })
    }),

    "tool.execute.after": quietly(async ({ tool, sessionID, callID, args }, output) => {
      const exit = output.metadata?.exit
      if (!exit && !FILES.has(tool)) return
      const text = await tell("tool.execute.after", sessionID, { callID, tool, args, exit, output: cut(output.output) })
      if (text && typeof output.output === "string") output.output += "\n" + text
    }),

    // Runs before every step, on a copy of all that was said. A tool that failed left no answer to write into, and
    // what is to be said between two steps has no place of its own.
    "experimental.chat.messages.transform": quietly(async (_, { messages }) => {
      const { info, parts } = messages.at(-1) ?? {}
      const calls = parts?.filter((it) => it.type === "tool" && it.state?.status === "completed") ?? []
      const last = calls.at(-1)?.callID
      if (info?.role === "assistant" && last && !notes.has(last)) {
        const called = calls.map(({ tool, state }) => ({ tool, args: state.input }))
        note(last, tell("step.end", info.sessionID, { callID: last, calls: called }))
      }
      for (const { callID, state } of messages.flatMap((it) => it.parts)) {
        const text = await notes.get(callID)
        if (text && state?.status === "error") state.error += "\n" + text
        if (text && state?.status === "completed") state.output += "\n" + text
      }
    }),

    dispose: quietly(async () => {
      speaking.delete(directory)
      await Promise.all([...begun].map((it) => tell("session.end", it)))
    }),
  }
}

/** Where OpenCode keeps its sessions. */
function databasePath() {
  const data = process.env.XDG_DATA_HOME || join(homedir(), ".local", "share")
  return process.env.OPENCODE_DB || join(data, "opencode", "opencode.db")
}

function quietly(work) {
  return async (...all) => {
    try {
      await work(...all)
    } catch {}
  }
}

function cut(text) {
  if (typeof text !== "string") return ""
  return text.length > 2 * END ? text.slice(0, END) + "\n[…]\n" + text.slice(-END) : text
}

/** What Waylore says to a message; nothing when it says nothing in time. */
function ask(message) {
  if (late >= TOO_LATE) return Promise.resolve("")
  return new Promise((resolve) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    let said = ""
    const done = () => {
      clearTimeout(timer)
      try {
        resolve(JSON.parse(said).additionalContext ?? "")
      } catch {
        resolve("")
      }
    }
    const timer = setTimeout(() => {
      late += 1
      child.kill()
      resolve("")
    }, PATIENCE)
    child.on("error", done)
    child.on("close", done)
    child.stdin.on("error", () => {})
    child.stdout.setEncoding("utf8").on("data", (it) => (said += it))
    child.stdin.end(JSON.stringify(message))
  }).catch(() => "")
}
