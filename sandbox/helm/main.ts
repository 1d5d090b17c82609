#!/usr/bin/env node
import { runHelm } from './run.ts'

/**
 * `helm` for the sandbox: reads and writes helm's own storage through a kubeconfig and answers with helm's texts
 * and exit codes. Nothing but Node's own modules is loaded, because every uninstall starts it.
 */
const { exit, stdout, stderr } = await runHelm(process.argv.slice(2), process.env)
if (stdout !== '') process.stdout.write(stdout)
if (stderr !== '') process.stderr.write(stderr)
process.exitCode = exit
