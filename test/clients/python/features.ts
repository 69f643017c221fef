/** What the Python libraries do beyond talking: exceptions by kind, structured answers, images, the asynchronous client, leaving. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Access } from '@test/clients/libraries/library'
import { speak, speakCall } from '@test/clients/spoken'
import { MODES, pairsOf, TOOL_TALK, toolTurn } from '@test/clients/suite'
import { type ScriptedModels, startScriptedModels } from '@test/gateway/scripted-models'
import { answer } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import { until } from '@test/support/until'
import { type LiveStream, liveStream, type UpstreamCall } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import type { PythonLibrary } from './libraries'

const OPENAI_EXCEPTIONS: Record<string, [status: number, className: string]> = {
  refused: [400, 'BadRequestError'],
  'bad key': [401, 'AuthenticationError'],
  'no credit': [402, 'APIStatusError'],
  'no such model': [404, 'NotFoundError'],
  'too many': [429, 'RateLimitError'],
  overloaded: [503, 'InternalServerError'],
}

/** How each library calls what it raises; the messages format has a status of its own for overloads. */
const EXCEPTIONS: Record<FormatName, Record<string, [status: number, className: string]>> = {
  'chat-completions': OPENAI_EXCEPTIONS,
  responses: OPENAI_EXCEPTIONS,
  messages: {
    refused: [400, 'BadRequestError'],
    'bad key': [401, 'AuthenticationError'],
    'no credit': [402, 'APIStatusError'],
    'no such model': [404, 'NotFoundError'],
    'too many': [429, 'RateLimitError'],
    overloaded: [529, 'OverloadedError'],
  },
  'generate-content': {
    refused: [400, 'ClientError'],
    'bad key': [401, 'ClientError'],
    'no credit': [402, 'ClientError'],
    'no such model': [404, 'ClientError'],
    'too many': [429, 'ClientError'],
    overloaded: [503, 'ServerError'],
  },
}

/** A picture of one pixel. */
const IMAGE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='

type InWorld = () => ScriptedModels

/** Declares their tests, against every provider format. */
export function describeFeatures(libraries: readonly PythonLibrary[]): void {
  let world: ScriptedModels
  beforeAll(async () => {
    world = await startScriptedModels({}, {}, {}, {}, 200)
  })
  afterAll(() => world.gateway.stop())
  const inWorld = () => world
  describe.each(pairsOf(libraries))('%s with a provider of %s', (_name, provider, library) => {
    describeAnswers(library, provider, inWorld)
    describeExceptions(library, provider, inWorld)
    describeLeaving(library, provider, inWorld)
  })
  describeSilence(libraries)
}

function accessTo({ gateway, customer }: ScriptedModels): Access {
  return { baseUrl: gateway.url, key: customer.key }
}

function isStreamed({ path, body }: UpstreamCall): boolean {
  return body.stream === true || path.includes(':streamGenerateContent')
}

function describeAnswers(library: PythonLibrary, provider: FormatName, world: InWorld): void {
  test.each(MODES)('the asynchronous client calls a tool, %s', async (_mode, isStream) => {
    const model = world().modelWith(provider, ({ body }) => toolTurn(provider, isStream, body))
    const talk = { model, prompt: 'Weather?', isStream, withTools: true }
    expect(await library.talkAsync(accessTo(world()), talk)).toEqual(TOOL_TALK)
  })

  test.each(MODES)('a structured answer becomes an object of the caller’s class, %s', async (_mode, isStream) => {
    const model = world().modelWith(provider, () => respondWith(answer('json'), provider, isStream))
    expect(await library.parse(accessTo(world()), model, isStream)).toBe(42)
  })

  test('the model gets an image', async () => {
    const model = world().modelWith(provider, ({ body }) =>
      speak(provider, false, JSON.stringify(body).includes(IMAGE) ? 'One pixel.' : 'There is no image.'),
    )
    expect(await library.look(accessTo(world()), model, IMAGE)).toBe('One pixel.')
  })

  if (library.argumentPieces) {
    test('call arguments are streamed in pieces if the provider streams them', async () => {
      const model = world().modelWith(provider, () => {
        return speakCall(provider, { isStream: true, name: 'get_weather', pieces: ['{"ci', 'ty":', '"Os', 'lo"}'] })
      })
      const pieces = (await library.argumentPieces?.(accessTo(world()), model)) ?? []
      expect(JSON.parse(pieces.join(''))).toEqual({ city: 'Oslo' })
      expect(pieces.length > 1).toBe(provider !== 'generate-content')
    })
  }
}

function describeExceptions(library: PythonLibrary, provider: FormatName, world: InWorld): void {
  const failures: Record<string, (isStream: boolean) => ReturnType<PythonLibrary['fail']>> = {
    refused(isStream) {
      const refusal = { ...answer('error-400'), status: 400 }
      const model = world().modelWith(provider, () => respondWith(refusal, provider, false))
      return library.fail(accessTo(world()), model, isStream)
    },
    'bad key': (isStream) => library.fail({ ...accessTo(world()), key: 'svc-wrong' }, sound(), isStream),
    async 'no credit'(isStream) {
      const { key } = await world().gateway.customer('0')
      return library.fail({ ...accessTo(world()), key }, sound(), isStream)
    },
    'no such model': (isStream) => library.fail(accessTo(world()), 'svc/none', isStream),
    async 'too many'(isStream) {
      const { key } = await world().gateway.customer('1', { requestsPerMinute: 1 })
      const access = { ...accessTo(world()), key }
      const model = sound()
      await library.talk(access, { model, prompt: 'Hi', isStream, withTools: false })
      return library.fail(access, model, isStream)
    },
    overloaded(isStream) {
      const model = world().modelWith(provider, () => Response.json({ error: { message: 'busy' } }, { status: 503 }))
      return library.fail(accessTo(world()), model, isStream)
    },
  }
  const sound = () => world().modelWith(provider, (call) => speak(provider, isStreamed(call), 'Hello'))
  const cases = Object.entries(EXCEPTIONS[library.family]).flatMap(([name, [status, className]]) =>
    MODES.map(([mode, isStream]) => [name, mode, { isStream, status, className }] as const),
  )

  test.each(cases)('%s has its own exception class, %s', async (name, _mode, { isStream, status, className }) => {
    expect(await failures[name]?.(isStream)).toMatchObject({ isOwnClass: true, status, className })
  })
}

function describeLeaving(library: PythonLibrary, provider: FormatName, world: InWorld): void {
  test('a client that disconnects during a stream is charged, and no credit stays held', async () => {
    const { gateway } = world()
    const { accountId, key } = await gateway.customer('100')
    const events = (await speak(provider, true, 'Hello out there').text()).split(/(?<=\n\n)/)
    const first = events.findIndex((event) => event.includes('Hello'))
    const stream = liveStream()
    const model = world().modelWith(provider, () => {
      stream.write(events.slice(0, first + 1).join(''))
      return stream.response
    })
    expect(await library.hangUp({ baseUrl: gateway.url, key }, model)).toStartWith('Hello')
    finish(stream, events.slice(first + 1).join(''))
    const balance = await until(async () => {
      const read = await gateway.balance(accountId)
      return read.held === 0 && read
    }, 'the hold to be settled')
    expect(balance.spent).toBeGreaterThan(0)
  })
}

/** The gateway may read on, or have left by now. */
function finish(stream: LiveStream, rest: string): void {
  try {
    stream.write(rest)
    stream.close()
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError)
  }
}

function describeSilence(libraries: readonly PythonLibrary[]): void {
  const cases = libraries.map((library) => [library.name, library] as const)

  test.each(cases)('%s reads a stream with keep-alives between all events', async (_name, library) => {
    const framing = FORMATS.get(library.family)?.framing
    assert(framing, 'a family is a format')
    const events = (await speak(library.family, true, 'Hello from afar').text()).split(/(?<=\n\n)/)
    const idle = events.map((event) => framing.keepAlive + event).join('') + framing.keepAlive
    const server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => new Response(idle, { headers: { 'content-type': framing.contentType } }),
    })
    const access = { baseUrl: `http://127.0.0.1:${server.port}`, key: 'any' }
    const talked = await library.talk(access, { model: 'any', prompt: 'Hi', isStream: true, withTools: false })
    await server.stop(true)
    expect(talked.text).toBe('Hello from afar')
  })
}
