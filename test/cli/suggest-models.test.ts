/** The command that writes catalogue entries: what it is asked for, and what it says where it can't. */
import { expect, test } from 'bun:test'
import { run } from './run'

const suggest = (...args: string[]) => run(['catalog', 'suggest', ...args], { REDIS_URL: 'redis://127.0.0.1:1' })

test('entries begin with the service name of the installed catalogue', async () => {
  const { code, json } = await suggest('--provider', 'anthropic', '--margin', '10', '--models', 'claude-sonnet-4-5')
  expect(code).toBe(0)
  expect(json).toMatchObject({
    ...{ asOf: expect.stringMatching(/^\d{4}-\d\d-\d\d$/), marginPercent: 10, leftOut: [] },
    providers: {
      anthropic: {
        format: 'messages',
        baseUrl: 'https://api.anthropic.com',
        keys: [expect.stringContaining('{ANTHROPIC_API_KEY}')],
      },
    },
    models: [{ id: 'svc/claude-sonnet-4-5', pricing: { inputPer1mTokens: 3.3, costPer1mInputTokens: 3 } }],
    open: [{ model: 'svc/claude-sonnet-4-5', fields: expect.arrayContaining(['created', 'maxOutputTokens']) }],
  })
})

test.each([
  [['--provider', 'groq'], '--margin'],
  [['--provider', 'groq', '--margin', 'much'], '--margin must be a percentage from 0 to 10000'],
  [['--provider', 'groq', '--margin', '99999'], '--margin must be a percentage from 0 to 10000'],
  [['--provider', 'ollama', '--margin', '0'], 'nobody lists prices of ollama; known are anthropic, azure'],
])('%j is told what is wrong', async (args, words) => {
  const { code, stderr, stdout } = await suggest(...args)
  expect(code).not.toBe(0)
  expect(stdout).toBe('')
  expect(stderr).toContain(words)
})
