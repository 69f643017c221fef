/**
 * What a Redis is asked, by MONITOR on a socket of its own: ioredis' own monitor ends in "Command queue state error" where the first
 * commands come with the answer that monitoring has begun, as they do on a busy machine.
 */

/** Calls `onCommand` with the words of every command, those inside scripts too, once this returns. `stop` ends it. */
export async function monitorRedis(url: string, onCommand: (words: string[]) => void): Promise<{ stop(): void }> {
  const { hostname, port, username, password } = new URL(url)
  const begun = Promise.withResolvers<void>()
  const decoder = new TextDecoder()
  const lines = [...(password === '' ? [] : [`AUTH ${username || 'default'} ${password}`]), 'MONITOR']
  let unanswered = lines.length
  let pending = ''
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_, bytes) {
        const told = (pending + decoder.decode(bytes, { stream: true })).split('\r\n')
        pending = told.pop() ?? ''
        for (const line of told) {
          if (line.startsWith('-')) begun.reject(new Error(line))
          else if (line !== '+OK') onCommand(wordsOf(line))
          else if (--unanswered === 0) begun.resolve()
        }
      },
      error: (_, cause) => begun.reject(cause),
    },
  })
  socket.write([...lines, ''].join('\r\n'))
  await begun.promise
  return { stop: () => void socket.end() }
}

/** The words of `+<time> [<database> <client>] "<word>" …`, in which quotes and line ends are escaped. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = '']) => word)
}
