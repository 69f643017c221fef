/** Starts all threads before the listener: with no descriptor left, starting one ends the process. */
import { startTokenizer } from '@/catalog/estimate'

/** Starts them; resolves once they run. What they load first takes half a second of another core. */
export async function startThreads(): Promise<void> {
  await Promise.all([startTokenizer(), startOutgoingCalls()])
}

/** The thread comes with the first call, whoever is called, and reads whom to trust with the first one over TLS, however it ends. */
async function startOutgoingCalls(): Promise<void> {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  await fetch(`https://127.0.0.1:${server.port}`).catch(() => undefined)
  await server.stop(true)
}
