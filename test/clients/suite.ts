/** What every client library is put through, whatever its language: once with a scripted provider, once with the sandbox. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answer, TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import { type Access, type Library, TOOL_RESULT } from './libraries/library'
import { modelAt, startTrio } from './trio'

/** Declares the tests of these libraries, against every provider format. */
export function describeLibraries(libraries: readonly Library[]): void {
  let world: World | undefined
  beforeAll(async () => {
    world = await openWorld()
  })
  afterAll(() => world?.close())
  const inWorld = () => {
    assert(world, 'tests run after their hooks')
    return world
  }
  describeScripted(libraries, inWorld)
  describeSandboxed(libraries, inWorld)
  describeAlone(libraries, inWorld)
}

export const MODES = [
  ['one piece', false],
  ['stream', true],
] as const

type World = {
  scripted: TestGateway
  access: Access
  sandboxAccess: Access
  poorKey: string
  close(): Promise<void>
}

async function openWorld(): Promise<World> {
  const sandbox: Sandbox = await startSandbox()
  const scripted = await startTrio()
  const sandboxed = await startTrio({ origin: sandbox.baseUrl })
  return {
    scripted,
    access: { baseUrl: scripted.url, key: (await scripted.customer('100')).key },
    sandboxAccess: { baseUrl: sandboxed.url, key: (await sandboxed.customer('100')).key },
    poorKey: (await scripted.customer('0')).key,
    async close() {
      await scripted.stop()
      await sandboxed.stop()
      await sandbox.stop()
    },
  }
}

/** Each library with each provider format. */
export function pairsOf<Each extends Library>(libraries: readonly Each[]): (readonly [string, FormatName, Each])[] {
  return libraries.flatMap((library) => FORMAT_NAMES.map((provider) => [library.name, provider, library] as const))
}

/** A provider that calls the tool until it has seen its result. */
export function toolTurn(provider: FormatName, isStream: boolean, body: object): Response {
  const hasResult = JSON.stringify(body).includes(TOOL_RESULT)
  return respondWith(hasResult ? TEXT : answer('tools-same-name'), provider, isStream)
}

/** What comes of it. */
export const TOOL_TALK = {
  text: 'Hello from the model.',
  calls: [
    { name: 'get_weather', arguments: { city: 'Oslo' } },
    { name: 'get_weather', arguments: { city: 'Rome' } },
  ],
}

function describeScripted(libraries: readonly Library[], world: () => World): void {
  describe.each(pairsOf(libraries))('%s with a provider of %s', (_name, provider, library) => {
    const model = modelAt(provider)

    test.each(MODES)('text, %s', async (_mode, isStream) => {
      const { scripted, access } = world()
      scripted.upstream.respond(() => respondWith(TEXT, provider, isStream))
      const talked = await library.talk(access, { model, prompt: 'Hi', isStream, withTools: false })
      expect(talked).toEqual({ text: 'Hello from the model.', calls: [] })
    })

    test.each(MODES)('two calls of one tool and their results, %s', async (_mode, isStream) => {
      const { scripted, access } = world()
      scripted.upstream.respond(({ body }) => toolTurn(provider, isStream, body))
      const talked = await library.talk(access, { model, prompt: 'Weather?', isStream, withTools: true })
      expect(talked).toEqual(TOOL_TALK)
    })

    test.each(MODES)('throws its own error class if the provider is overloaded, %s', async (_mode, isStream) => {
      const { scripted, access } = world()
      scripted.upstream.respond(() => Response.json({ error: { message: 'secret words' } }, { status: 503 }))
      const thrown = await library.fail(access, model, isStream)
      expect(thrown).toMatchObject({ isOwnClass: true, status: library.family === 'messages' ? 529 : 503 })
      expect(thrown.message).toContain('overloaded')
      expect(thrown.message).not.toContain('secret words')
    })
  })
}

/** One library of each family: the libraries read the same bytes, whoever the provider is. */
function describeSandboxed(libraries: readonly Library[], world: () => World): void {
  const first = libraries.filter(({ family }, index) => libraries.findIndex((one) => one.family === family) === index)
  describe.each(pairsOf(first))('%s with the sandbox as a provider of %s', (_name, provider, library) => {
    const model = modelAt(provider)

    test.concurrent.each(MODES)('text, %s', async (_mode, isStream) => {
      const prompt = 'Good day, sandbox'
      const talked = await library.talk(world().sandboxAccess, { model, prompt, isStream, withTools: false })
      expect(talked.text).toContain('You said: Good day, sandbox')
    })

    test.concurrent.each(MODES)('a tool call and its result, %s', async (_mode, isStream) => {
      const prompt = 'Please call the get_weather tool'
      const talked = await library.talk(world().sandboxAccess, { model, prompt, isStream, withTools: true })
      // The sandbox makes arguments only for schemas in the field that generate-content had first.
      const made = provider === 'generate-content' ? {} : { city: 'example' }
      expect(talked.calls).toEqual([{ name: 'get_weather', arguments: made }])
      expect(talked.text).toMatch(/The tool returned: .*Sunny/)
    })
  })
}

function describeAlone(libraries: readonly Library[], world: () => World): void {
  describe.each(libraries.map((library) => [library.name, library] as const))('%s', (_name, library) => {
    test('reads the gateway’s errors as its own error classes', async () => {
      const { access, poorKey } = world()
      const unknown = await library.fail(access, 'svc/none')
      expect(unknown).toMatchObject({ isOwnClass: true, status: 404 })
      expect(unknown.message).toContain('svc/none')
      const badKey = await library.fail({ ...access, key: 'svc-wrong' }, modelAt('messages'))
      expect(badKey).toMatchObject({ isOwnClass: true, status: 401 })
      const poor = await library.fail({ ...access, key: poorKey }, modelAt('messages'))
      expect(poor).toMatchObject({ isOwnClass: true, status: 402 })
      expect(poor.message).toContain('credit')
    })

    if (library.listModels) {
      test('lists and retrieves the models', async () => {
        const { access } = world()
        expect(await library.listModels?.(access)).toEqual(FORMAT_NAMES.map(modelAt))
        expect(await library.getModel?.(access, modelAt('messages'))).toBe('svc/messages')
      })
    }

    if (library.countTokens) {
      test.each(FORMAT_NAMES)('counts tokens for a model at a provider of %s', async (provider) => {
        expect(await library.countTokens?.(world().access, modelAt(provider))).toBeGreaterThan(0)
      })
    }
  })
}
