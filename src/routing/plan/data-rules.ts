/** Rules of where the content of a request may go: which targets obey them, and the 404 if no target does. */
import type { Target } from '@/catalog/types'
import { GatewayError } from '@/chat/error'
import type { DataRule } from '@/chat/preferences'
import type { PassedOver, Unmet } from './requirements'

/** Whether the catalogue states that `target` obeys all rules. What it doesn't state counts as broken. */
export function obeys({ data = {} }: Target, rules: readonly DataRule[]): boolean {
  return rules.every((rule) => {
    if (rule.kind === 'zero-retention') return data.retentionDays === 0
    if (rule.kind === 'no-training') return data.trains === false
    const { region } = data
    return region !== undefined && rule.regions.some((one) => region === one || region.startsWith(`${one}-`))
  })
}

/** Why no target of a model may answer. */
export function brokenRules(rules: readonly DataRule[]): Unmet {
  const said = rules.map((rule) => `${wordsOf(rule)} (${rule.from})`)
  return { requirement: 'data', isFirm: true, detail: `has no provider that is stated to ${said.join(' and ')}` }
}

function wordsOf(rule: DataRule): string {
  if (rule.kind === 'zero-retention') return 'keep no content'
  return rule.kind === 'no-training' ? 'train no models on content' : `process content in ${rule.regions.join(' or ')}`
}

/** Throws the 404 if a data rule alone keeps a model from answering. */
export function refuseByData(passedOver: readonly PassedOver[], rules: readonly DataRule[] | undefined): void {
  const found = rules && passedOver.find(({ unmet }) => unmet.every(({ requirement }) => requirement === 'data'))
  if (!found) return
  const message = `${found.model.id} ${found.unmet.map(({ detail }) => detail).join(' and ')}. GET /v1/models states where each model’s content goes.`
  throw new GatewayError('model_not_found', message, { param: rules[0]?.from ?? 'model', code: 'data_policy' })
}
