/** Each beta of the official library has a decision: allowed by default, only with a tool's price, or never. */
import { expect, test } from 'bun:test'
import { describeBeta } from '@/formats/messages/betas'

/** They cost more than tokens, or reach what is not in the request. */
const LEFT_OUT = [
  'admin-user-sign-out',
  'advisor-tool',
  'agent-memory',
  'analytics-usage-cost',
  'ce-claude-code-managed-settings',
  'ce-plugins',
  'ce-user-management',
  'compact',
  'dreaming',
  'experimental-claude-tag',
  'fallback-credit',
  'fast-mode',
  'files-api',
  'managed-agents',
  'mcp-client',
  'mcp-tunnels',
  'message-batches',
  'message-threads',
  'server-side-fallback',
  'skills',
  'spend-limit-reads',
  'telemetry-destinations',
  'user-profiles',
  'user-profiles-billing',
  'webhooks',
]

const typings = await Bun.file(
  new URL(import.meta.resolve('@anthropic-ai/sdk/resources/beta/beta')).pathname.replace(/\.m?js$/, '.d.ts'),
).text()
const names = [...(/export type AnthropicBeta = ([^;]*);/.exec(typings)?.[1]?.matchAll(/'([^']+)'/g) ?? [])].map(
  ([, name]) => String(name),
)

test('no beta is allowed under one date and omitted under another', () => {
  expect(names.length).toBeGreaterThan(40)
  const described = names.map((name) => describeBeta(name, {}))
  const untold = described.filter(({ isFree, tool }) => !isFree && tool === undefined).map(({ family }) => family)
  expect([...new Set(untold)].sort()).toEqual(LEFT_OUT)
  expect(described.filter(({ tool }) => tool).map(({ family, isFree }) => [family, isFree])).toEqual([
    ['code-execution', false],
  ])
})

test.each([
  ['claude-code-20250219', 'claude-code'],
  ['pdfs-2024-09-25', 'pdfs'],
  ['context-1m-2025-08-07', 'context-1m'],
  ['output-128k', 'output-128k'],
])('the family of %s is %s', (name, family) => {
  expect(describeBeta(name, {})).toEqual({ name, family, isFree: true, fields: [] })
})

test('every field that needs a beta is a field of the body', () => {
  expect(describeBeta('skills-2025-10-02', { container: 'x' }).fields).toEqual(['container'])
  expect(describeBeta('task-budgets-2026-03-13', { output_config: { task_budget: {} } }).fields).toHaveLength(1)
  for (const output_config of [undefined, null, 'x', {}]) {
    const body = output_config === undefined ? {} : { output_config }
    expect(describeBeta('task-budgets-2026-03-13', body).fields).toEqual([])
  }
})
