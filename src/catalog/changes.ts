/** What one catalogue says differently from another, fact by fact, for whoever is about to put it into use. */
import { formatPrice } from '@/lib/money'
import { CLASS_WORDS } from './losses'
import type { Catalog, Model, Pricing } from './types'

/** Null where there was, or will be, no such fact. */
type Change = { what: string; before: string | null; after: string | null }

/** Every fact that differs, those of one model together. */
export function changesBetween(before: Catalog, after: Catalog): Change[] {
  const [old, next] = [factsOf(before), factsOf(after)]
  return [...new Set([...old.keys(), ...next.keys()])]
    .filter((what) => old.get(what) !== next.get(what))
    .sort()
    .map((what) => ({ what, before: old.get(what) ?? null, after: next.get(what) ?? null }))
}

function factsOf({ service, providers, models, tiers, limits }: Catalog): Map<string, string> {
  const facts = new Map<string, string>([['service', service]])
  for (const [name, value] of Object.entries(limits)) facts.set(`limits ${name}`, String(value))
  for (const { name, format, baseUrl, keys } of providers.values()) {
    facts.set(`provider ${name} address`, `${format} ${baseUrl}`)
    // By their digests: a key that was replaced shows, and no key is shown.
    facts.set(`provider ${name} keys`, keys.map(({ id }) => id).join(', '))
  }
  for (const model of models.values()) addModel(facts, model)
  for (const { id, strategy, candidates } of tiers.values()) {
    facts.set(`tier ${id}`, `${strategy}: ${candidates.map((model) => model.id).join(', ')}`)
  }
  return facts
}

function addModel(facts: Map<string, string>, model: Model): void {
  const { id, targets, contextLength, maxOutputTokens, capabilities, fallback } = model
  facts.set(`model ${id} context`, `${contextLength} tokens, ${maxOutputTokens} of output`)
  facts.set(`model ${id} capabilities`, [...capabilities].sort().join(', '))
  facts.set(`model ${id} fallback`, fallback.join(', '))
  facts.set(`model ${id} targets`, targets.map((target) => `${target.provider.name}:${target.model}`).join(', '))
  addPrices(facts, `model ${id} price`, model.pricing)
  for (const { provider, model: name, cost, toolPrices } of targets) {
    if (cost) addPrices(facts, `model ${id} cost at ${provider.name}:${name}`, cost)
    for (const [tool, { price, per }] of toolPrices ?? []) {
      facts.set(`model ${id} tool ${tool} at ${provider.name}:${name}`, `${price} nano-USD per ${per}`)
    }
  }
}

function addPrices(facts: Map<string, string>, what: string, { base, steps }: Pricing): void {
  const lists = [
    { above: '', prices: base },
    ...steps.map((step) => ({ above: ` above ${step.aboveInputTokens}`, prices: step.prices })),
  ]
  for (const { above, prices } of lists) {
    for (const name of Object.keys(CLASS_WORDS) as (keyof typeof CLASS_WORDS)[]) {
      facts.set(`${what} ${CLASS_WORDS[name]}${above}`, `$${formatPrice(prices[name])}`)
    }
  }
}
