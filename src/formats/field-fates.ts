/**
 * Decides for each request field and provider format whether the field is carried, translated, omitted or refused. The documents are
 * generated from this table.
 */
import { isCarried } from '@/chat/features'
import type { ChatRequest, Feature, Warning } from '@/chat/request'
import { isJsonObject, type JsonObject, type JsonValue } from '@/lib/json'
import { CACHE_CONTROL_FIELD, costsNothing, isEmpty, type RequestFields } from './body-fields'
import type { Format } from './format'
import { addLosses, type NestedLoss } from './nested-fields'

/**
 * `carried`: sent unchanged. `translated`: expressed in the provider's format, as far as possible. `heeded`: applied by the gateway, for
 * any provider. `named`: omitted and listed in `x-svc-left-out`. `refused`: a 400 names it.
 */
export type Fate = 'carried' | 'translated' | 'heeded' | 'named' | 'refused'

type Speaker = Pick<Format, 'name' | 'requestFields'>

/** How providers of format `provider` treat a request field of format `client`. `name` is spelled as in `x-svc-left-out`. */
export function fateOf(name: string, client: Speaker, provider: Speaker): Fate {
  const isOwn = client.name === provider.name
  const { lacking, refusing } = provider.requestFields
  const rule = ruleOf(name, client.requestFields.tables)
  const loss = rule ? undefined : client.requestFields.nested.losses.get(name)
  if (loss) return isOwn ? 'carried' : fateOfNested(loss, provider)
  if (rule?.kind === 'unpriced' || (rule?.kind === 'values' && !rule.bound)) return 'refused'
  if (rule?.kind === 'kept') return 'named'
  if (rule?.kind === 'hub' && rule.isOurs) return 'heeded'
  // Most services of the format refuse `cache_control`, so it is omitted unless the catalogue says otherwise.
  if (isOwn) return name === CACHE_CONTROL_FIELD && lacking.includes('cacheHints') ? 'named' : 'carried'
  if (rule?.bound) return rule.bound.carriedBy.has(provider.name) ? 'translated' : 'refused'
  if (rule?.kind === 'passed') return 'named'
  if (rule?.kind === 'hub' && rule.isNative) return 'refused'
  const { spelling } = client.requestFields
  if (refusing.some((feature) => spelling[feature]?.includes(name))) return 'refused'
  return lacking.some((feature) => spelling[feature]?.includes(name)) ? 'named' : 'translated'
}

/** Whether a field that would be refused is omitted if the caller accepts losses (`svc.lossy`). */
export function yieldsToLoss(name: string, client: Speaker): boolean {
  if (client.requestFields.nested.losses.get(name)?.isBound) return true
  const rule = ruleOf(name, client.requestFields.tables)
  if (rule?.kind === 'values') return rule.bound !== undefined
  return (rule?.kind === 'hub' || rule?.kind === 'passed') && (rule.bound !== undefined || isStop(name, client))
}

function isStop(name: string, { requestFields: { spelling } }: Speaker): boolean {
  return spelling.stop?.includes(name) === true
}

/** Names of all fields of a format's requests; fields that only occur inside others come last. */
export function listFields(client: Speaker): string[] {
  const { tables, spelling, nested } = client.requestFields
  const listed = Object.entries(tables).flatMap(([place, table]) =>
    [...table.keys()].map((name) => within(place, name)),
  )
  return [...new Set([...listed, ...Object.values(spelling).flat(), ...nested.losses.keys()])]
}

/** How a provider of another format treats a nested field. */
function fateOfNested({ carriedBy, isBound }: NestedLoss, provider: Speaker): Fate {
  if (carriedBy.has(provider.name)) return 'translated'
  return isBound ? 'refused' : 'named'
}

/** Fields that were not sent to a provider of another format, in the caller's spelling; `warnings` are the encoder's. */
export function lostFields(
  request: ChatRequest,
  body: JsonObject,
  client: Speaker,
  provider: Speaker,
  warnings: readonly Warning[],
): string[] {
  const { tables, spelling } = client.requestFields
  const names = new Set(request.unlisted)
  const own = request.extensions[client.name]
  for (const place in tables) {
    const fields = place === '' ? own : own?.[place]
    if (!isJsonObject(fields)) continue
    for (const field in fields) {
      const name = within(place, field)
      if (isUnsaid(name, fields[field], client, provider)) names.add(name)
    }
  }
  addLosses(names, body, provider.name, client.requestFields.nested)
  for (const bound of request.bound ?? []) if (!isCarried(bound, provider.name, request.stream)) names.add(bound.field)
  for (const { feature, isLost } of warnings) {
    if (!isLost) continue
    const spelt = spelling[feature] ?? []
    const used = spelt.filter((name) => !isEmpty(body[name]))
    // A nested field has one spelling, except cache hints, whose spelling depends on the request.
    const inside = request.hasCacheControl ? spelt[0] : spelt.at(-1)
    for (const name of used.length > 0 || inside === undefined ? used : [inside]) names.add(name)
  }
  return [...names]
}

/** The fields that a dialect omitted from `provider`'s body, in the caller's spelling if there is one. */
export function respelled(
  paths: readonly string[],
  body: JsonObject,
  client: Speaker,
  provider: Speaker,
): readonly string[] {
  if (client.name === provider.name) return paths
  const names = paths.flatMap((path) => {
    const spelt = Object.entries(provider.requestFields.spelling).find(([, spellings]) => spellings.includes(path))
    const own = spelt ? (client.requestFields.spelling[spelt[0] as Feature] ?? []) : []
    const used = own.filter((name) => !isEmpty(body[name]))
    return used.length > 0 ? used : (own.at(-1) ?? path)
  })
  return [...new Set(names)]
}

/** Whether the provider doesn't get a field's meaning, because the hub lacks the field or doesn't support its value. */
function isUnsaid(name: string, value: JsonValue | undefined, client: Speaker, provider: Speaker): boolean {
  const rule = ruleOf(name, client.requestFields.tables)
  if (!rule || isEmpty(value)) return false
  if (rule.kind === 'hub') return isWord(value)
  if (rule.kind !== 'passed' && costsNothing(rule, value)) return false
  return fateOf(name, client, provider) !== 'translated'
}

/** Objects and lists are not single values: their unsupported fields are reported individually. */
function isWord(value: JsonValue | undefined): boolean {
  return typeof value !== 'object'
}

function within(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}

function ruleOf(name: string, tables: RequestFields['tables']) {
  const [place = '', field = ''] = name.includes('.') ? name.split('.', 2) : ['', name]
  return (Object.hasOwn(tables, place) ? tables[place] : undefined)?.get(field)
}
