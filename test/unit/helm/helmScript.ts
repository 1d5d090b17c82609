/** Stands in for helm where a test needs a process: shell scripts, and a pipe that tells when all of it is dead. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ts from 'typescript'

export interface Scripts {
  folder: string
  /** The supervisor as the build makes it. */
  supervisorPath: string
  /** Writes a shell script and gives its path. `$LIFE` in it is the pipe of `life()`. */
  helm(body: string): string
  life(): Life
  /** A named pipe to tell a script something with. */
  pipe(): string
  cleanUp(): void
}

/** A named pipe that a script and its children hold open: it ends when the last of them is dead. */
export interface Life {
  path: string
  /** Opens the pipe; resolves with what was written first, when a script has written it. */
  started: Promise<string>
  /** Resolves when nobody holds it any more. */
  ended: Promise<void>
}

export function makeScripts(): Scripts {
  const folder = mkdtempSync(join(tmpdir(), 'swiss-helm-'))
  let count = 0
  const readers: ChildProcess[] = []
  const pipe = () => {
    const path = join(folder, `pipe-${count++}`)
    execFileSync('mkfifo', [path])
    return path
  }
  const supervisorPath = join(folder, 'helm-supervisor.mjs')
  const source = readFileSync(new URL('../../../server/helm-supervisor.ts', import.meta.url), 'utf8')
  const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023 }
  writeFileSync(supervisorPath, ts.transpileModule(source, { compilerOptions: options }).outputText)
  return {
    folder,
    supervisorPath,
    helm(body) {
      const path = join(folder, `helm-${count++}`)
      writeFileSync(path, `#!/bin/sh\n${body}\n`, { mode: 0o755 })
      return path
    },
    pipe,
    life() {
      const path = pipe()
      // Opening a pipe blocks until somebody writes: a process of its own does that.
      const reader = spawn('cat', [path], { stdio: ['ignore', 'pipe', 'inherit'] })
      readers.push(reader)
      reader.stdout.setEncoding('utf8')
      const started = new Promise<string>((resolve) => {
        reader.stdout.once('data', (text) => resolve(String(text).trim()))
      })
      const ended = new Promise<void>((resolve) => reader.once('close', () => resolve()))
      return { path, started, ended }
    },
    cleanUp() {
      for (const reader of readers) reader.kill('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
