/** A failover that Sentinels announce while the client searches the primary: the search continues and finds it. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { memoryLogger } from '@test/ledger/harness'
import { startRedis, type TestServer } from '@test/support/stores'
import { PATIENCE_MS, until } from '@test/support/until'
import type { Socket } from 'bun'
import { connectRedis, waitForRedis } from '@/ledger/store/connection'

let server: TestServer
let sentinel: ReturnType<typeof startScriptedSentinel>

beforeAll(async () => {
  server = await startRedis()
  sentinel = startScriptedSentinel(Number(new URL(server.url).port))
})
afterAll(async () => {
  sentinel.stop()
  await server.stop()
})

/** Answers as a Sentinel does, in its moment: real ones announce a failover whenever they have agreed. */
function startScriptedSentinel(primaryPort: number) {
  const listeners = new Set<Socket>()
  let isAnnouncing = false
  const bulk = (text: string) => `$${text.length}\r\n${text}\r\n`
  const announcement = `>3\r\n${bulk('message')}${bulk('+switch-master')}${bulk('ledger')}`
  const listened = Promise.withResolvers<void>()
  const announced = Promise.withResolvers<void>()

  async function reply(socket: Socket, words: string[]): Promise<void> {
    const command = words.slice(0, 2).join(' ').toLowerCase()
    if (command === 'sentinel get-master-addr-by-name') {
      if (isAnnouncing) {
        for (const listener of listeners) listener.write(announcement)
        // Whoever has read it lets go; whoever no longer listens has let go before.
        await until(() => listeners.size === 0, 'the listeners to let go')
        announced.resolve()
      }
      socket.write(`*2\r\n${bulk('127.0.0.1')}${bulk(String(primaryPort))}`)
    } else if (command === 'sentinel sentinels') socket.write('*0\r\n')
    else if (words[0]?.toLowerCase() === 'subscribe') {
      listeners.add(socket)
      socket.write(`>3\r\n${bulk('subscribe')}${bulk(words[1] ?? '')}:1\r\n`)
      listened.resolve()
    } else socket.write('+OK\r\n')
  }
  const listener = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      async data(socket, data) {
        const commands = data.toString().split(/(?=^\*\d+\r\n)/m)
        for (const command of commands) {
          await reply(
            socket,
            command.split('\r\n').filter((line) => line !== '' && !/^[*$]/.test(line)),
          )
        }
      },
      close: (socket) => void listeners.delete(socket),
    },
  })
  return {
    port: listener.port,
    listened: listened.promise,
    announced: announced.promise,
    announceAtNextQuestion() {
      isAnnouncing = true
    },
    stop: () => listener.stop(true),
  }
}

test('a failover announced during the search for the primary does not stop the search', async () => {
  const { username, password, port } = new URL(server.url)
  const logger = memoryLogger()
  const login = `${username || 'default'}:${password}`
  const redis = connectRedis(`redis+sentinel://${login}@127.0.0.1:${sentinel.port}/ledger`, { logger })
  const ends: string[] = []
  redis.on('end', () => ends.push('end'))
  try {
    await waitForRedis(redis, PATIENCE_MS)
    await sentinel.listened
    sentinel.announceAtNextQuestion()
    const lost = new Promise((resolve) => redis.once('close', resolve))
    const other = connectRedis(`redis://${login}@127.0.0.1:${port}`, { logger })
    await waitForRedis(other, PATIENCE_MS)
    await other.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
    other.disconnect()
    await lost
    await sentinel.announced
    await until(() => ends.length > 0 || redis.status === 'ready', 'the search to end')
    expect(ends).toEqual([])
    expect(await redis.ping()).toBe('PONG')
  } finally {
    redis.disconnect()
  }
})
