/**
 * The real client libraries, the newest major and the one before it, against every provider format: only the key and the base
 * address are theirs to change. Once with a scripted provider, once with the sandbox.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { answer, TEXT } from '@test/matrix/cases/words'
import { respondWith } from '@test/matrix/provider'
import type { TestGateway } from '@test/support/gateway'
import { type Sandbox, startSandbox } from '@/boot/embedded/sandbox'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { LIBRARIES } from './libraries/index'
import { type Access, TOOL_RESULT } from './libraries/library'
import { modelAt, startTrio } from './trio'

let scripted: TestGateway
let sandboxed: TestGateway
let sandbox: Sandbox
let access: Access
let sandboxAccess: Access
let poorKey: string

beforeAll(async () => {
  sandbox = await startSandbox()
  scripted = await startTrio()
  sandboxed = await startTrio({ origin: sandbox.baseUrl })
  access = { baseUrl: scripted.url, key: (await scripted.customer('100')).key }
  sandboxAccess = { baseUrl: sandboxed.url, key: (await sandboxed.customer('100')).key }
  poorKey = (await scripted.customer('0')).key
})
afterAll(async () => {
  await scripted.stop()
  await sandboxed.stop()
  await sandbox.stop()
})

const pairs = LIBRARIES.flatMap((library) => FORMAT_NAMES.map((provider) => [library.name, provider, library] as const))
const modes = [
  ['one piece', false],
  ['stream', true],
] as const

/** A provider that calls the tool until it has seen its result. */
function scriptToolTurn(provider: FormatName, isStream: boolean): void {
  scripted.upstream.respond(({ body }) => {
    const hasResult = JSON.stringify(body).includes(TOOL_RESULT)
    return respondWith(hasResult ? TEXT : answer('tools-same-name'), provider, isStream)
  })
}

describe.each(pairs)('%s with a provider of %s', (_name, provider, library) => {
  const model = modelAt(provider)

  test.each(modes)('text, %s', async (_mode, isStream) => {
    scripted.upstream.respond(() => respondWith(TEXT, provider, isStream))
    const talked = await library.talk(access, { model, prompt: 'Hi', isStream, withTools: false })
    expect(talked).toEqual({ text: 'Hello from the model.', calls: [] })
  })

  test.each(modes)('two calls of one tool and their results, %s', async (_mode, isStream) => {
    scriptToolTurn(provider, isStream)
    const talked = await library.talk(access, { model, prompt: 'Weather?', isStream, withTools: true })
    expect(talked.text).toBe('Hello from the model.')
    expect(talked.calls).toEqual([
      { name: 'get_weather', arguments: { city: 'Oslo' } },
      { name: 'get_weather', arguments: { city: 'Rome' } },
    ])
  })

  test.each(modes)('a provider that is overloaded, %s', async (_mode, isStream) => {
    scripted.upstream.respond(() => Response.json({ error: { message: 'secret words' } }, { status: 503 }))
    const thrown = await library.fail(access, model, isStream)
    expect(thrown).toMatchObject({ isOwnClass: true, status: library.family === 'messages' ? 529 : 503 })
    expect(thrown.message).toContain('overloaded')
    expect(thrown.message).not.toContain('secret words')
  })
})

describe.each(pairs)('%s with the sandbox as a provider of %s', (_name, provider, library) => {
  const model = modelAt(provider)

  test.concurrent.each(modes)('text, %s', async (_mode, isStream) => {
    const talked = await library.talk(sandboxAccess, { model, prompt: 'Good day, sandbox', isStream, withTools: false })
    expect(talked.text).toContain('You said: Good day, sandbox')
  })

  test.concurrent.each(modes)('a call and its result, %s', async (_mode, isStream) => {
    const prompt = 'Please call the get_weather tool'
    const talked = await library.talk(sandboxAccess, { model, prompt, isStream, withTools: true })
    // The sandbox makes arguments only for schemas in the field that generate-content had first.
    const made = provider === 'generate-content' ? {} : { city: 'example' }
    expect(talked.calls).toEqual([{ name: 'get_weather', arguments: made }])
    expect(talked.text).toMatch(/The tool returned: .*Sunny/)
  })
})

describe.each(LIBRARIES.map((library) => [library.name, library] as const))('%s', (_name, library) => {
  test('reads errors of the gateway as errors of its own', async () => {
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
      expect(await library.listModels?.(access)).toEqual(FORMAT_NAMES.map(modelAt))
      expect(await library.getModel?.(access, modelAt('messages'))).toBe('svc/messages')
    })
  }

  if (library.countTokens) {
    test.each(FORMAT_NAMES)('counts tokens for a model at a provider of %s', async (provider) => {
      expect(await library.countTokens?.(access, modelAt(provider))).toBeGreaterThan(0)
    })
  }
})
