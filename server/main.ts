#!/usr/bin/env node
import { readConfig } from './config.ts'
import { CommandError } from './ending.ts'
import { VERSION } from './version.ts'

/** The command `swiss-gateway`. What a command needs is loaded once it is known which one it is. */
async function main(): Promise<void> {
  const result = readConfig(process.argv.slice(2), process.env)
  if ('help' in result) process.stdout.write(result.help)
  else if ('version' in result) process.stdout.write(`${VERSION}\n`)
  else if ('wrong' in result) throw new CommandError(2, result.wrong)
  else if (result.config.command === 'serve')
    await (await import('./serve.ts')).serve(result.config, process.env)
  else await (await import('./sandboxCommand.ts')).sandbox(result.config, process.env)
}

// A reader of our output that has gone (`| head`) is no reason to die with a stack.
process.stdout.on('error', () => {})

main().then(
  () => process.exit(0),
  (error: unknown) => {
    const expected = error instanceof CommandError
    const text = expected
      ? error.message
      : `Swiss has failed: ${error instanceof Error ? error.stack : error}`
    if (text) process.stderr.write(`${text}\n`)
    process.exit(expected ? error.exitCode : 1)
  },
)
