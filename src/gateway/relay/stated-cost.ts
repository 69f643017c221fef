import { requestCost } from '@/catalog/price'
import { tokensWithin } from '@/catalog/unit-prices'
import type { Format } from '@/formats/format'
import { chargeNow, type OpenCharge, pricesOf, readingOf } from '@/gateway/charge/open-charge'
import type { Charge } from '@/ledger/charge'
import { toolsCost } from '@/ledger/usage-record'
import { isJsonObject, type JsonObject, parseJson } from '@/lib/json'
import { editJson } from '@/lib/json-splice'
import { NANO_PER_USD } from '@/lib/money'

/** Writes an answer's cost into the usage of `data` if the client asked for it; unchanged if `data` doesn't contain the final usage. */
export function withCost(data: string, { costPlace }: Format, open: OpenCharge): string {
  const json = data.includes('"usage') ? parseJson(data) : undefined
  const path = isJsonObject(json) ? costPlace.usagePath(json) : undefined
  if (!path) return data
  const charge = chargeNow(open)
  return editJson(data, [
    { path: [...path, 'cost'], value: charge.kind === 'charge' ? charge.cost / NANO_PER_USD : 0 },
    { path: [...path, 'cost_details'], value: detailsOf(charge, open, costPlace.parts) },
  ])
}

function detailsOf(charge: Charge, open: OpenCharge, parts: Format['costPlace']['parts']): JsonObject {
  const isFree = charge.kind === 'free'
  const tools = isFree ? 0 : toolsCost(charge.tools ?? [])
  const tokens = isFree ? 0 : charge.cost - tools
  const prices = pricesOf(open, readingOf(open))
  const input = isFree
    ? 0
    : Math.min(tokens, requestCost(prices, tokensWithin(charge.usage, { output: 0, reasoning: 0 })))
  return {
    upstream_inference_cost: null,
    [parts.input]: input / NANO_PER_USD,
    [parts.output]: (tokens - input) / NANO_PER_USD,
    ...(tools > 0 && { server_tool_cost: tools / NANO_PER_USD }),
  }
}
