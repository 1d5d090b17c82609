import { createServer, type Server } from 'node:net'

/**
 * Free loopback ports below the range from which the kernel takes those of outgoing connections (32768 and up on
 * Linux): a component that is restarted must find its port free again. All are held at once, so that no two are
 * the same.
 */
export async function freePorts(count: number): Promise<number[]> {
  const servers: Server[] = []
  while (servers.length < count) {
    const server = await listenAt(20_000 + Math.floor(Math.random() * 12_000))
    if (server !== undefined) servers.push(server)
  }
  return Promise.all(servers.map((server) => portAndClose(server)))
}

/** Undefined when somebody else listens there. */
function listenAt(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, '127.0.0.1', () => resolve(server))
  })
}

function portAndClose(server: Server): Promise<number> {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return new Promise((resolve) => server.close(() => resolve(port)))
}
