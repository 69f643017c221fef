/** OpenAI's agents SDK hands a conversation from one agent to another: the second gets all messages so far. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { TestGateway } from '@test/support/gateway'
import { FORMAT_NAMES } from '@/chat/format-name'
import { handOver } from './libraries/agents'
import type { Access } from './libraries/library'
import { speak, speakCall } from './spoken'
import { MODES } from './suite'
import { modelAt, startTrio } from './trio'

let gateway: TestGateway
let access: Access

beforeAll(async () => {
  gateway = await startTrio()
  access = { baseUrl: gateway.url, key: (await gateway.customer('100')).key }
})
afterAll(() => gateway.stop())

const cases = FORMAT_NAMES.flatMap((provider) => MODES.map(([mode, isStream]) => [provider, mode, isStream] as const))

test.each(cases)('agents hand over a conversation at a provider of %s, %s', async (provider, _mode, isStream) => {
  gateway.upstream.respond(({ body }) => {
    const text = JSON.stringify(body)
    const isSpecialist = text.includes('You know all about clouds.')
    if (!isSpecialist) return speakCall(provider, { isStream, name: 'transfer_to_Specialist', pieces: ['{', '}'] })
    return speak(provider, isStream, text.includes('Will it rain?') ? 'It will rain.' : 'What is the question?')
  })
  const answered = await handOver(access, { model: modelAt(provider), prompt: 'Will it rain?', isStream })
  expect(answered).toEqual({ agent: 'Specialist', text: 'It will rain.' })
})
