/** What alerts and dashboard ask Prometheus for: every expression, and the series and labels that each of them names. */
import { join } from 'node:path'
import { ROOT } from '@test/deploy/compose-file'

type Rule = { expr: string; record?: string; alert?: string; labels?: { severity: string }; annotations?: Annotations }
type Annotations = { summary: string; runbook: string }
type Alert = Rule & { alert: string; labels: { severity: string }; annotations: Annotations }

/** A series that an expression selects; each of `matchers` is a label, and a pattern for its whole value. */
type Selector = { metric: string; matchers: { label: string; value: RegExp }[] }

/** Where the rules lie. */
export const RULES = join(ROOT, 'deploy', 'prometheus', 'alerts.yml')
/** Where the dashboard lies. */
export const DASHBOARD = join(ROOT, 'deploy', 'grafana', 'svc-gateway.json')

async function rules(): Promise<Rule[]> {
  const { groups } = Bun.YAML.parse(await Bun.file(RULES).text()) as { groups: { rules: Rule[] }[] }
  return groups.flatMap((group) => group.rules)
}

/** Every alert. */
export async function alerts(): Promise<Alert[]> {
  return (await rules()).filter((rule): rule is Alert => rule.alert !== undefined)
}

/** The expressions of the dashboard, with what Grafana puts in for its variables. */
export async function dashboardQueries(): Promise<string[]> {
  const { panels } = (await Bun.file(DASHBOARD).json()) as { panels: { targets?: { expr: string }[] }[] }
  const found = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
  return found.map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll('$instance', '.*'))
}

/** The expressions of rules and dashboard. */
export async function allQueries(): Promise<string[]> {
  return [...(await rules()).map(({ expr }) => expr), ...(await dashboardQueries())]
}

/** The names that rules record under. */
export async function recorded(): Promise<string[]> {
  return (await rules()).flatMap(({ record }) => record ?? [])
}

/** The selectors of an expression that promtool accepts. */
export function selectorsOf(expr: string): Selector[] {
  const found = expr.matchAll(/\b((?:svc[:_]|process_)[\w:]+|up|ALERTS)\b(?:\{([^}]*)\})?/g)
  return [...found].map(([, metric = '', inside = '']) => ({ metric, matchers: matchersOf(inside) }))
}

/** Matchers that ask for a value: those that exclude one are true of nothing, too. */
function matchersOf(inside: string): Selector['matchers'] {
  const positive = inside.matchAll(/(\w+)(=~|=)"([^"]*)"/g)
  return [...positive].flatMap(([, label = '', , value = '']) =>
    // Each of several alternatives has to be there.
    value.split('|').map((part) => ({ label, value: new RegExp(`^(?:${part})$`) })),
  )
}

/** Every label that an expression names: in selectors, also to exclude a value, and in what it groups by. */
export function labelsOf(expr: string): string[] {
  const matched = [...expr.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label)
  const grouped = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(/\s*,\s*/))
  return [...new Set([...matched, ...grouped])]
}
