/** `--delays`: delayed data arrives complete and in order, tested in its own process. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { OUR_ENVIRONMENT } from '@test/support/bare-environment'
import { DELAYS_VARIABLE } from '@test/support/random-delays'
import { SEED_VARIABLE } from '@test/support/seed'

const PROGRAM = `
  import { createServer, connect } from 'node:net'
  import { delayAtRandom } from '@test/support/random-delays'
  delayAtRandom()
  let written = ''
  const write = (socket, piece) => { written += piece; socket.write(piece) }
  const server = createServer((socket) => {
    for (let number = 0; number < 200; number++) setTimeout(() => write(socket, number + ';'), number)
    setTimeout(() => socket.end(), 400)
  })
  await new Promise((listening) => server.listen(0, '127.0.0.1', listening))
  const client = connect(server.address().port, '127.0.0.1')
  let text = ''
  client.on('data', (piece) => { text += piece })
  await new Promise((ended) => client.on('end', ended))
  server.close()
  console.log(written)
  console.log(text)`

/** What the server wrote, by timers of 0 to 199 ms, and what its client read. */
async function exchange(environment: Record<string, string | undefined>): Promise<string[]> {
  const child = Bun.spawn([process.execPath, '-e', PROGRAM], {
    cwd: join(import.meta.dir, '..', '..'),
    env: { ...OUR_ENVIRONMENT, ...environment },
    stdout: 'pipe',
  })
  const text = await new Response(child.stdout).text()
  expect(await child.exited).toBe(0)
  return text.trim().split('\n')
}

test('with --delays, timers get random delays, and the writes of a socket keep their order', async () => {
  const inOrder = Array.from({ length: 200 }, (_, number) => `${number};`).join('')
  expect(await exchange({ [DELAYS_VARIABLE]: undefined })).toEqual([inOrder, inOrder])
  const [written = '', read] = await exchange({ [DELAYS_VARIABLE]: 'yes', [SEED_VARIABLE]: '3' })
  expect(written).not.toBe(inOrder)
  expect(written).toHaveLength(inOrder.length)
  expect(read).toBe(written)
})
