import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The folder of the clone. */
export const ROOT = resolve(import.meta.dirname, '../../..')

/** What `npm run build` has made; DOOR_DIST names another folder, for a build beside it. */
export const DIST = resolve(process.env.DOOR_DIST ?? join(ROOT, 'dist'))

/** The command `swiss-gateway`, as package.json names it. */
export const MAIN = join(DIST, 'server/main.js')

if (!existsSync(MAIN)) throw new Error(`${MAIN} is not there; run npm run build first`)
