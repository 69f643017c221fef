/** The alert rules: valid by promtool, each fires for its own fault only, and each links to its documentation. */
import { describe, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'
import { promtool } from '@test/support/promtool'
import { CASES, HEALTHY } from './alert-cases'
import { alerts, RULES } from './queries'

const MINUTES = 70

/** One case of promtool's: with these values exactly `firing` fires at the end. */
function ruleTest(differs: typeof HEALTHY, firing: string[], minutes = MINUTES) {
  const series = Object.entries({ ...HEALTHY, ...differs })
  return {
    interval: '1m',
    input_series: series.map(([name, course]) => ({ series: name, values: course(minutes) })),
    promql_expr_test: [
      {
        expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: `${minutes}m`,
        exp_samples: firing.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
      },
    ],
  }
}

async function runRuleTests(tests: object[]): Promise<{ code: number; said: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-alerts-'))
  const path = join(folder, 'tests.json')
  await Bun.write(path, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const result = await promtool(['test', 'rules', path])
  await rm(folder, { recursive: true })
  return result
}

test('promtool accepts the alerts', async () => {
  const { code, said } = await promtool(['check', 'rules', RULES])
  expect([code, said.replace(/Checking .*/, '').trim()]).toEqual([
    0,
    expect.stringMatching(/^SUCCESS: \d+ rules found$/),
  ])
})

describe('alerts by the values of their series', () => {
  test('all alerts are silent for a healthy gateway, and each fires alone for its own fault', async () => {
    const tests = CASES.map(({ alert, differs, also = [], minutes }) =>
      ruleTest(differs, [alert, ...also].sort(), minutes),
    )
    const { code, said } = await runRuleTests([ruleTest({}, []), ...tests])
    expect(said).toContain('SUCCESS')
    expect(code).toBe(0)
  })

  test('promtool detects an alert that does not fire, or fires wrongly', async () => {
    const { code, said } = await runRuleTests([ruleTest({}, ['GatewayDown']), ruleTest(CASES[3]?.differs ?? {}, [])])
    expect(code).toBe(1)
    expect(said.match(/GatewayDown/g)).toHaveLength(2)
  })

  test('every alert has a test case', async () => {
    const names = (await alerts()).map(({ alert }) => alert)
    expect([...new Set(CASES.map(({ alert }) => alert))].sort()).toEqual([...new Set(names)].sort())
  })
})

test('every alert has a severity and a paragraph in the documentation, and each paragraph has an alert', async () => {
  const text = await Bun.file(join(ROOT, 'docs', 'operations', 'alerts.md')).text()
  const paragraphs = new Map(
    text
      .split(/^## /m)
      .slice(1)
      .map((part) => [part.slice(0, part.indexOf('\n')), part.slice(part.indexOf('\n'))]),
  )
  const all = await alerts()
  expect([...paragraphs.keys()].sort()).toEqual(all.map(({ alert }) => alert).sort())
  for (const { alert, labels, annotations } of all) {
    expect(labels.severity).toMatch(/^(page|ticket)$/)
    expect(annotations.runbook).toBe(`docs/operations/alerts.md#${alert.toLowerCase()}`)
    // The meaning, the place to look at and the remedy are not a few words.
    expect([alert, (paragraphs.get(alert) ?? '').trim().length > 100]).toEqual([alert, true])
  }
})
