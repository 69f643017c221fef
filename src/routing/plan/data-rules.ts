/** Rules of where the content of a request may go: which targets obey them, and the 404 if no target does. */
import type { Target } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import { type DataRule, NO_PREFERENCES, type RoutePreferences, RULE_OWNERS, type RuleOwner } from '@/chat/preferences'
import type { PassedOver, Unmet } from './requirements'

/** The request with its key's data rules before its own ones. A request can't remove a rule, only add some. */
export function underRules<Request extends { preferences?: RoutePreferences }>(
  request: Request,
  rules: readonly DataRule[] | undefined,
): Request {
  if (!rules) return request
  const { preferences = NO_PREFERENCES } = request
  return { ...request, preferences: { ...preferences, data: [...rules, ...(preferences.data ?? [])] } }
}

/** Whether the catalogue states that `target` obeys all rules. If it states nothing about a rule, the rule counts as broken. */
export function obeys({ data = {} }: Target, rules: readonly DataRule[]): boolean {
  return rules.every((rule) => {
    if (rule.kind === 'zero-retention') return data.retentionDays === 0
    if (rule.kind === 'no-training') return data.trains === false
    const { region } = data
    return region !== undefined && rule.regions.some((one) => region === one || region.startsWith(`${one}-`))
  })
}

/** The reason why no target may answer: the rules that no target obeys. If there is no such rule, all rules together. */
export function brokenRules(rules: readonly DataRule[], targets: readonly Target[]): Unmet {
  const obeyedByNone = rules.filter((rule) => !targets.some((target) => obeys(target, [rule])))
  const broken = obeyedByNone.length > 0 ? obeyedByNone : rules
  const said = broken.map((rule) => `${wordsOf(rule)} (${ownerOf(rule) ?? rule.from})`)
  return {
    requirement: 'data',
    isFirm: true,
    detail: `has no provider that is stated to ${said.join(' and ')}`,
    field: broken.find((rule) => ownerOf(rule) === undefined)?.from,
  }
}

function wordsOf(rule: DataRule): string {
  if (rule.kind === 'zero-retention') return 'keep no content'
  return rule.kind === 'no-training' ? 'train no models on content' : `process content in ${rule.regions.join(' or ')}`
}

const OWNERS: Record<RuleOwner, string> = {
  account: 'a rule for all keys of this account',
  member: 'a rule for all keys of this member',
  key: 'a rule of this API key',
}

/** The owner of a rule, in words; undefined for a rule of the request. */
function ownerOf({ from }: DataRule): string | undefined {
  const owner = RULE_OWNERS.find((one) => one === from)
  return owner && OWNERS[owner]
}

/** Throws the 404 if a data rule alone keeps a model from answering. */
export function refuseByData(passedOver: readonly PassedOver[]): void {
  const found = passedOver.find(({ unmet }) => unmet.every(({ requirement }) => requirement === 'data'))
  if (!found) return
  const message = `${found.model.id} ${found.unmet.map(({ detail }) => detail).join(' and ')}. GET /v1/models states where each model’s content goes.`
  const param = found.unmet[0]?.field ?? 'model'
  throw new GatewayError('model_not_found', message, { param, code: 'data_policy' })
}

/** The rule as text for a usage record, such as `regions eu|us (account)`. Without commas, which separate rules in exports. */
export function ruleText(rule: DataRule): string {
  const regions = rule.kind === 'regions' ? ` ${rule.regions.join('|')}` : ''
  return `${rule.kind}${regions} (${rule.from})`
}
