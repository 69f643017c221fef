/** Hangs a Postgres and wakes it again, with all its sessions. */
import type { TestServer } from '@test/support/stores'

/** Sends `signal` to the server's first process and to all that it has started. */
export async function signalServer(server: TestServer, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  const children = await Bun.file(`/proc/${server.pid}/task/${server.pid}/children`).text()
  for (const pid of [server.pid, ...children.trim().split(/\s+/).map(Number)]) process.kill(pid, signal)
}
