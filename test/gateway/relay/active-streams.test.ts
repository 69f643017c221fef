/** The register of open streams: each is interrupted once, and not after it has ended. */
import { expect, test } from 'bun:test'
import { createActiveStreams } from '@/gateway/relay/active-streams'

test('interrupting ends all open streams, even if ending one removes others', () => {
  const streams = createActiveStreams()
  const interrupted: string[] = []
  const ends = ['a', 'b', 'c'].map((name) => {
    const end = streams.add(() => {
      interrupted.push(name)
      end()
    })
    return end
  })
  ends[1]?.()
  expect(streams.count()).toBe(2)
  streams.interruptAll()
  expect(interrupted).toEqual(['a', 'c'])
  expect(streams.count()).toBe(0)
  streams.interruptAll()
  expect(interrupted).toEqual(['a', 'c'])
})

test('interrupting finishes once all streams have ended, including a failing one', async () => {
  const streams = createActiveStreams()
  const ended = Promise.withResolvers<void>()
  let isThrough = false
  streams.add(() => ended.promise)
  streams.add(() => Promise.reject(new Error('no end')))
  const interrupting = streams.interruptAll().then(() => {
    isThrough = true
  })
  await Bun.sleep(0)
  expect(isThrough).toBe(false)
  ended.resolve()
  await interrupting
  expect(isThrough).toBe(true)
})
