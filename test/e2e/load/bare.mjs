// The baseline of the start-up: a Node process that does nothing but page the same lists and parse them.
// bare.mjs FILE: FILE is JSON, {server, ca, token, lists: [{path, accept}]}. Prints JSON: the number of objects, and the
// milliseconds of processor time it took.
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:https'

const { server, ca, token, lists } = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const agent = new Agent({ ca, keepAlive: true })

function get(path, accept) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, accept }
    const req = request(server + path, { headers, agent }, (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk))
      response.once('error', reject)
      response.once('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (response.statusCode === 200) resolve(JSON.parse(text))
        else reject(new Error(`${path}: ${response.statusCode} ${text.slice(0, 200)}`))
      })
    })
    req.once('error', reject)
    req.end()
  })
}

async function all({ path, accept }) {
  const items = []
  let more = ''
  do {
    const page = await get(path + (more && `&continue=${encodeURIComponent(more)}`), accept)
    items.push(...(page.items ?? []))
    more = page.metadata.continue ?? ''
  } while (more !== '')
  return items
}

const found = await Promise.all(lists.map(all))
const { user, system } = process.cpuUsage()
const objects = found.reduce((sum, items) => sum + items.length, 0)
console.log(JSON.stringify({ objects, cpuMs: (user + system) / 1000 }))
agent.destroy()
