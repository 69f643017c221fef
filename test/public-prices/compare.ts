/** The differences between a catalogue and what providers list in public: losses first of all, then everything else. */

import { CLASS_WORDS, modelsAtALoss } from '@/catalog/losses'
import { pricesFor } from '@/catalog/price'
import type { Medium } from '@/catalog/public-prices/listed-prices'
import { findLister, type Listing, listingOf } from '@/catalog/public-prices/listing'
import type { Catalog, Model, Prices, Pricing, Target } from '@/catalog/types'
import { retirementOf } from './retirements'

/** `isFault`: it loses money or requests, and is no choice of the operator's. */
type Difference = { model: string; target: string; text: string; isFault: boolean }

/** A model that answers for fewer days than this is on its way out. */
const NOTICE_DAYS = 30
const DAY_MS = 86_400_000

/** Compares every target of `catalog` as on `today` (`2026-11-22`), and with each price that is known to come. */
export function compareCatalog(catalog: Catalog, today: string): Difference[] {
  const differences = [...catalog.models.values()].flatMap((model) =>
    model.targets.flatMap((target) => {
      const say = (text: string, isFault: boolean) => ({ model: model.id, target: target.model, text, isFault })
      const lister = findLister(target.provider.baseUrl)
      const listing = lister && listingOf(lister, target.model)
      if (!listing?.termsOn(today)) return [say('nobody lists it: it may have vanished', true)]
      return [
        ...lifeDifferences(target, listing, today).map((text) => say(text, true)),
        ...contextDifferences(model, listing, say),
        ...priceDifferences(model, model.pricing, listing, today, say),
        ...costDifferences(model, target, listing, today, say),
      ]
    }),
  )
  return [...differences, ...modelsAtALoss(catalog).flatMap(statedLosses)]
}

function statedLosses({ model, losses }: ReturnType<typeof modelsAtALoss>[number]): Difference[] {
  return losses.map((text) => ({ model, target: 'by its stated cost', text, isFault: true }))
}

type Say = (text: string, isFault: boolean) => Difference

function mediaOf({ capabilities }: Model): Medium[] {
  return [
    ...(capabilities.has('audio') ? ['audio' as const] : []),
    ...(capabilities.has('images') ? ['image' as const] : []),
  ]
}

function lifeDifferences(target: Target, { isDeprecated }: Listing, today: string): string[] {
  const retires = retirementOf(target.model)
  if (retires !== undefined && Date.parse(retires) - Date.parse(today) < NOTICE_DAYS * DAY_MS) {
    return [`retires on ${retires}`]
  }
  return isDeprecated ? ['is listed as deprecated'] : []
}

function contextDifferences(model: Model, { contextLength }: Listing, say: Say): Difference[] {
  if (contextLength === undefined || contextLength === model.contextLength) return []
  const text = `context length: ${model.contextLength}, listed ${contextLength}`
  return [say(text, model.contextLength > contextLength)]
}

/** A stated cost that nobody lists may be a discount of the operator's own. */
function costDifferences(model: Model, target: Target, listing: Listing, today: string, say: Say): Difference[] {
  if (!target.cost) return []
  return priceDifferences(model, target.cost, listing, today, (text) => say(`cost of ${text}`, false))
}

/** `pricing` beside what is listed. A difference of today is said once; one that a later day brings is said with that day. */
function priceDifferences(model: Model, pricing: Pricing, listing: Listing, today: string, say: Say): Difference[] {
  const said = new Set<string>()
  return [today, ...listing.changes.filter((day) => day > today)].flatMap((day) => {
    const own = pricing.steps.map((step) => step.aboveInputTokens)
    const terms = listing.termsOn(day, mediaOf(model))
    const steps = [...new Set([0, ...own, ...(terms?.steps ?? []).map(({ above }) => above)])].sort(
      (one, other) => one - other,
    )
    const reachable = steps.filter((step) => step < model.contextLength)
    return reachable.flatMap((step) => {
      const [ours, theirs] = [pricesFor(pricing, step + 1), terms?.steps.findLast(({ above }) => above <= step)?.prices]
      if (!theirs) return []
      return (Object.keys(CLASS_WORDS) as (keyof Prices)[]).flatMap((name) => {
        if (ours[name] === theirs[name]) return []
        const above = step === 0 ? '' : ` above ${step} input tokens`
        const text = `${CLASS_WORDS[name]}${above}: ${usd(ours[name])}, listed ${usd(theirs[name])}`
        if (said.has(text)) return []
        said.add(text)
        return [say(day === today ? text : `${text} from ${day}`, ours[name] < theirs[name])]
      })
    })
  })
}

/** USD per 1,000,000 tokens. */
function usd(pico: number): string {
  return `$${pico / 1_000_000}`
}
