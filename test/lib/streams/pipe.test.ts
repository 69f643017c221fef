/** Properties of Bun's TransformStream that pipes rely on: no chunk is lost, and neither end closes the other. */
import { describe, expect, test } from 'bun:test'
import { spend } from '@test/support/delays'
import { until } from '@test/support/until'
import { Pipe, type PipeEnd, type PipeSink } from '@/lib/streams/pipe'

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** A source that gives numbers as it is asked for them, up to `count`, and then ends or fails. */
function numbers(count: number, failure?: Error) {
  const seen = { given: 0, isCancelled: false }
  const stream = new ReadableStream<number>(
    {
      async pull(controller) {
        await Bun.sleep(0)
        if (seen.given < count) return controller.enqueue(seen.given++)
        if (failure) controller.error(failure)
        else controller.close()
      },
      cancel() {
        seen.isCancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, seen }
}

/** A pipe that sends each number on as text, with whatever else a test wants. */
function pipeOf(changes: Partial<PipeSink<number>> = {}) {
  const seen = { taken: [] as number[], read: 0, cancels: 0, flushes: 0 }
  let end: PipeEnd | undefined
  const pipe = new Pipe<number>({
    received: () => seen.read++,
    start(opened) {
      end = opened
      return undefined
    },
    transform(number) {
      seen.taken.push(number)
      end?.send(encoder.encode(`${number} `))
      return undefined
    },
    flush() {
      seen.flushes++
      return undefined
    },
    cancel() {
      seen.cancels++
    },
    ...changes,
  })
  return { pipe, seen }
}

const textOf = (stream: ReadableStream<Uint8Array>) => new Response(stream).text()

/** All that is left of a source, from the chunk on that was read and not taken. */
async function restOf(stream: ReadableStream<number>, unread: number | undefined): Promise<number[]> {
  const rest = unread === undefined ? [] : [unread]
  for await (const number of stream) rest.push(number)
  return rest
}

describe('a stream’s pipe', () => {
  test('a pipe ends after its source’s end and the final text', async () => {
    let end: PipeEnd | undefined
    const { pipe, seen } = pipeOf({
      start(opened) {
        end = opened
        opened.send(encoder.encode('first '))
        return undefined
      },
      async flush() {
        await Bun.sleep(0)
        end?.send(encoder.encode('last'))
      },
    })
    const flow = pipe.flowFrom(numbers(3).stream)
    expect(await textOf(pipe.readable)).toBe('first last')
    await flow
    expect([seen.taken, seen.read, seen.cancels]).toEqual([[0, 1, 2], 3, 0])
  })

  test('a pipe stops its source while nobody reads, and loses no chunk if the reader disconnects', async () => {
    const { stream, seen: source } = numbers(100)
    const { pipe, seen } = pipeOf()
    const flow = pipe.flowFrom(stream)
    const reader = pipe.readable.getReader()
    expect(decoder.decode((await reader.read()).value)).toBe('0 ')
    await until(() => pipe.unread() !== undefined, 'one to be read ahead')
    expect(source.given).toBeLessThanOrEqual(3)
    await reader.cancel()
    await flow
    expect([source.isCancelled, stream.locked, seen.cancels, seen.flushes]).toEqual([false, false, 1, 0])
    const rest = await restOf(stream, pipe.unread())
    expect([...seen.taken, ...rest]).toEqual(Array.from({ length: 100 }, (_, index) => index))
  })

  test('a pipe waits for asynchronous steps', async () => {
    const order: string[] = []
    const { pipe } = pipeOf({
      async transform(number) {
        order.push(`begin ${number}`)
        await Bun.sleep(0)
        order.push(`end ${number}`)
      },
    })
    void pipe.flowFrom(numbers(2).stream)
    await textOf(pipe.readable)
    expect(order).toEqual(['begin 0', 'end 0', 'begin 1', 'end 1'])
  })

  test('a pipe reports a failing source, and its reader gets the output before', async () => {
    const failure = new Error('broken')
    const { pipe } = pipeOf({
      flush(why) {
        pipe.send(encoder.encode(why === failure ? 'failed' : 'ended'))
        return undefined
      },
    })
    const flow = pipe.flowFrom(numbers(2, failure).stream)
    await spend(20)
    expect(await textOf(pipe.readable)).toBe('0 1 failed')
    await flow
  })

  test('a pipe can be ended early, and its source can still be read', async () => {
    const { stream, seen: source } = numbers(10)
    const { pipe, seen } = pipeOf({
      transform(number) {
        seen.taken.push(number)
        if (number === 4) pipe.end()
        return undefined
      },
    })
    const flow = pipe.flowFrom(stream)
    expect(await textOf(pipe.readable)).toBe('')
    await flow
    expect(source.isCancelled).toBe(false)
    expect([...seen.taken, ...(await restOf(stream, pipe.unread()))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test('a pipe can be ended before its first chunk', async () => {
    const { pipe } = pipeOf({
      start(end) {
        end.send(encoder.encode('all'))
        end.end()
        return undefined
      },
    })
    const { stream, seen: source } = numbers(3)
    const flow = pipe.flowFrom(stream)
    expect(await textOf(pipe.readable)).toBe('all')
    await flow
    expect([...(await restOf(stream, pipe.unread()))]).toEqual([0, 1, 2])
    expect(source.isCancelled).toBe(false)
  })

  test('output after the reader disconnected is dropped', async () => {
    const { pipe } = pipeOf()
    await pipe.readable.cancel()
    expect(() => pipe.send(encoder.encode('late'))).not.toThrow()
    expect(() => pipe.end()).not.toThrow()
  })

  test('a pipe without chunks sends only its final text', async () => {
    const { pipe, seen } = pipeOf()
    const closed = pipe.close()
    expect(await textOf(pipe.readable)).toBe('')
    await closed
    expect(seen.flushes).toBe(1)
  })
})
