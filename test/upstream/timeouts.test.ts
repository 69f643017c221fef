/** The four time limits of a call: each in its own phase, with its own value, and only while the gateway waits for the provider. */

import { afterEach, describe, expect, test } from 'bun:test'
import { expectAtLeast } from '@test/support/at-least'
import { spend, spendThen } from '@test/support/delays'
import { openSilentAddress } from '@test/support/silent-address'
import type { Timeouts } from '@/catalog/types'
import type { UpstreamAnswer } from '@/upstream/answer'
import { callUpstream } from '@/upstream/client'
import type { TimeoutPhase } from '@/upstream/failure'
import { callOf, chunk, head, LAST_CHUNK, type RawProvider, startRawProvider, type UpstreamCall } from './raw-provider'

const FAR: Timeouts = { connectMs: 20_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 20_000 }
const SHORT_MS = 100
/** Longer than any load delays a byte on loopback. */
const AMPLE_MS = 2_500
const EVENTS = head(200, { 'content-type': 'text/event-stream' })

const running: RawProvider[] = []
afterEach(() => {
  for (const provider of running.splice(0)) provider.stop()
})

function callTo(respond: Parameters<typeof startRawProvider>[0], limits: Partial<Timeouts>): UpstreamCall {
  const upstream = startRawProvider(respond)
  running.push(upstream)
  return callOf(upstream.url, { provider: { timeouts: { ...FAR, ...limits } } })
}

async function answerOf(call: UpstreamCall): Promise<UpstreamAnswer> {
  const answer = await callUpstream(call)
  if (answer.kind === 'failed') throw new Error(`failed: ${JSON.stringify(answer.failure)}`)
  return answer
}

function late(phase: TimeoutPhase) {
  return { kind: 'failed', failure: { kind: 'timeout', phase } } as const
}

describe('the first-byte limit', () => {
  test('the first-byte limit applies if no headers arrive', async () => {
    const call = callTo(() => undefined, { firstByteMs: SHORT_MS })
    expect(await expectAtLeast(SHORT_MS, () => callUpstream(call))).toEqual(late('first-byte'))
  })

  test('the first-byte limit also applies if headers arrive but no body', async () => {
    const answer = await answerOf(callTo((socket) => void socket.write(EVENTS), { firstByteMs: AMPLE_MS }))
    expect(await answer.read()).toEqual(late('first-byte'))
  })

  test('after the first byte of the body the first-byte limit no longer applies', async () => {
    const answer = await answerOf(
      callTo((socket) => void socket.write(EVENTS + chunk('1')), { firstByteMs: AMPLE_MS, idleMs: AMPLE_MS + 500 }),
    )
    expect(await answer.read()).toMatchObject({ kind: 'bytes' })
    expect(await answer.read()).toEqual(late('idle'))
  })
})

describe('the idle limit', () => {
  test('the idle limit counts from the last byte', async () => {
    const answer = await answerOf(callTo((socket) => void socket.write(EVENTS + chunk('1')), { idleMs: AMPLE_MS }))
    await answer.read()
    expect(await expectAtLeast(AMPLE_MS, () => answer.read())).toEqual(late('idle'))
    expect(await answer.read()).toEqual({ kind: 'done' })
  })

  test('the idle limit never ends an answer that keeps arriving', async () => {
    const CHUNKS = 60
    let timer: Timer | undefined
    const call = callTo(
      (socket) => {
        let sent = 0
        socket.write(EVENTS)
        timer = setInterval(() => socket.write(++sent < CHUNKS ? chunk('1') : LAST_CHUNK), SHORT_MS / 2)
      },
      { idleMs: AMPLE_MS },
    )
    const answer = await answerOf(call)
    let next = await answer.read()
    while (next.kind === 'bytes') next = await answer.read()
    clearInterval(timer)
    expect(next).toEqual({ kind: 'done' })
  })

  test('the idle limit only runs while the body is read', async () => {
    const call = callTo((socket) => void socket.write(EVENTS + chunk('1')), { idleMs: AMPLE_MS })
    const answer = await answerOf(call)
    await answer.read()
    await spend(1.2 * AMPLE_MS)
    expect(await expectAtLeast(AMPLE_MS, () => answer.read())).toEqual(late('idle'))
  })

  test('the idle limit covers the reading of a whole small body', async () => {
    const call = callTo((socket) => void socket.write(`${head(200, { 'content-length': '10' })}half`), {
      idleMs: SHORT_MS,
    })
    expect(await (await answerOf(call)).readAll(1_000)).toEqual(late('idle'))
  })

  test('the idle limit applies to a body that arrives in chunks', async () => {
    const call = callTo((socket) => void socket.write(head(200) + chunk('half')), { idleMs: SHORT_MS })
    expect(await (await answerOf(call)).readAll(1_000)).toEqual(late('idle'))
  })
})

describe('the total limit', () => {
  test('the total limit ends an endless answer', async () => {
    let timer: Timer | undefined
    const call = callTo(
      (socket) => {
        socket.write(EVENTS)
        timer = setInterval(() => socket.write(chunk('1')), SHORT_MS / 10)
      },
      { totalMs: AMPLE_MS },
    )
    const answer = await answerOf(call)
    let next = await answer.read()
    while (next.kind === 'bytes') next = await answer.read()
    clearInterval(timer)
    expect(next).toEqual(late('total'))
  })

  test('the total limit begins with the call', async () => {
    expect(await callUpstream(callTo(() => undefined, { totalMs: SHORT_MS }))).toEqual(late('total'))
  })

  test('the total limit is reported even while the body is not read', async () => {
    const call = callTo((socket) => void socket.write(EVENTS + chunk('1')), { totalMs: AMPLE_MS })
    const answer = await answerOf(call)
    const told = new Promise((resolve) => answer.onOvertime(resolve))
    expect(await answer.read()).toMatchObject({ kind: 'bytes' })
    expect(await told).toEqual(late('total').failure)
    expect(await answer.read()).toEqual(late('total'))
  })

  test('the total limit no longer applies after the answer’s end', async () => {
    const call = callTo((socket) => void socket.write(EVENTS + chunk('1') + LAST_CHUNK), { totalMs: AMPLE_MS })
    const answer = await answerOf(call)
    expect(await answer.read()).toMatchObject({ kind: 'bytes' })
    expect(await answer.read()).toEqual({ kind: 'done' })
    await spend(1.2 * AMPLE_MS)
    expect(await answer.read()).toEqual({ kind: 'done' })
  })
})

describe('the connect limit', () => {
  test('the connect limit applies if packets are lost, but not through a proxy', async () => {
    const silent = await openSilentAddress()
    const baseUrl = `http://127.0.0.1:${silent.port}`
    const limits = { connectMs: SHORT_MS, firstByteMs: AMPLE_MS }
    const call = (isProxied: boolean) => callOf(baseUrl, { provider: { timeouts: { ...FAR, ...limits }, isProxied } })
    expect(await callUpstream(call(false))).toEqual(late('connect'))
    expect(await callUpstream(call(true))).toEqual(late('first-byte'))
    await silent.stop()
  })

  test('the connect limit no longer applies once connected', async () => {
    const call = callTo(
      (socket) => spendThen(1.2 * AMPLE_MS, () => socket.write(`${head(200, { 'content-length': '2' })}{}`)),
      { connectMs: AMPLE_MS },
    )
    expect(await (await answerOf(call)).readAll(10)).toMatchObject({ kind: 'body' })
  })
})
