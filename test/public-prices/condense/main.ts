/**
 * Writes src/catalog/public-prices/second-source.jsonl from the list of models that LiteLLM ships:
 * `bun test/public-prices/condense/main.ts model_prices_and_context_window_backup.json 1.110.2 2026-11-20`.
 */
import { join } from 'node:path'
import { isJsonObject, type JsonObject } from '@/lib/json'

/** LiteLLM's name of a provider, the one in our first source, and what it puts before each model's name. */
const PROVIDERS: readonly (readonly [string, string, string])[] = [
  ['openai', 'openai', ''],
  ['anthropic', 'anthropic', ''],
  ['gemini', 'google', 'gemini/'],
  ['azure', 'azure', 'azure/'],
  ['azure_ai', 'azure', 'azure_ai/'],
  ['cerebras', 'cerebras', 'cerebras/'],
  ['deepseek', 'deepseek', 'deepseek/'],
  ['fireworks_ai', 'fireworks', 'fireworks_ai/'],
  ['groq', 'groq', 'groq/'],
  ['mistral', 'mistral', 'mistral/'],
  ['moonshot', 'moonshotai', 'moonshot/'],
  ['together_ai', 'together', 'together_ai/'],
  ['xai', 'x-ai', 'xai/'],
]

const CAPABILITIES = [
  ['tools', 'supports_function_calling'],
  ['images', 'supports_vision'],
  ['files', 'supports_pdf_input'],
  ['audio', 'supports_audio_input'],
  ['reasoning', 'supports_reasoning'],
  ['json-schema', 'supports_response_schema'],
] as const

const PRICES = [
  ['input', 'input_cost_per_token'],
  ['output', 'output_cost_per_token'],
  ['cacheRead', 'cache_read_input_token_cost'],
  ['cacheWrite', 'cache_creation_input_token_cost'],
  ['cacheWrite1h', 'cache_creation_input_token_cost_above_1hr'],
] as const

const [path = '', version = '', day = ''] = process.argv.slice(2)
const models: unknown = await Bun.file(path).json()
if (!isJsonObject(models)) throw new Error(`${path} is no object of models`)
const lines = Object.entries(models).flatMap(([name, model]) => (isJsonObject(model) ? condense(name, model) : []))
const unique = new Map(lines.map((line) => [`${line.provider} ${line.id}`, line]))
const sorted = [...unique].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, line]) => line)
const text = [{ source: `litellm ${version}`, releasedOn: day, license: 'MIT' }, ...sorted].map((line) =>
  JSON.stringify(line),
)
await Bun.write(join(import.meta.dir, '../../../src/catalog/public-prices/second-source.jsonl'), `${text.join('\n')}\n`)

function condense(name: string, model: JsonObject): JsonObject[] {
  const provider = PROVIDERS.find(([theirs]) => theirs === model.litellm_provider)
  if (!provider || typeof model.mode !== 'string') return []
  const [, ours, prefix] = provider
  const id = name.startsWith(prefix) ? name.slice(prefix.length) : name
  const kind = kindOf(model)
  if (!['chat', 'chat-by-responses', 'embedding'].includes(kind)) return [{ provider: ours, id, kind }]
  const prices = pricesOf(model, kind)
  return [
    {
      ...{ provider: ours, id, kind },
      ...(isCount(model.max_input_tokens) && { input: model.max_input_tokens }),
      ...(isCount(model.max_output_tokens) && kind !== 'embedding' && { output: model.max_output_tokens }),
      ...(kind !== 'embedding' && { capabilities: capabilitiesOf(model) }),
      ...(typeof model.deprecation_date === 'string' && { retires: model.deprecation_date }),
      ...(prices.length > 0 && { prices }),
    },
  ]
}

/** Only texts are sold: an answer that may hold sounds or films is another kind. */
function kindOf({ mode, supported_output_modalities: outputs, ...model }: JsonObject): string {
  if (model.supports_audio_output === true) return 'audio'
  if (Array.isArray(outputs) && outputs.some((output) => output === 'audio' || output === 'video')) return 'media'
  return mode === 'responses' ? 'chat-by-responses' : String(mode)
}

/** Media that cost more than text are left out: they would be sold at the price of text. */
function capabilitiesOf(model: JsonObject): string[] {
  const text = Number(model.input_cost_per_token ?? 0)
  const isDear = (medium: string) => Number(model[`input_cost_per_${medium}_token`] ?? 0) > text
  const dear = [...(isDear('audio') ? ['audio'] : []), ...(isDear('image') ? ['images'] : [])]
  return CAPABILITIES.filter(([name, field]) => model[field] === true && !dear.includes(name)).map(([name]) => name)
}

/** In USD per 1,000,000 tokens, from each length of input on; none where another rule holds, or nothing costs anything. */
function pricesOf(model: JsonObject, kind: string): JsonObject[] {
  if (model.tiered_pricing !== undefined || model.off_peak_pricing !== undefined) return []
  if (!model.input_cost_per_token || (!model.output_cost_per_token && kind !== 'embedding')) return []
  const lengths = Object.keys(model).flatMap((field) => {
    const [, thousands] = /^input_cost_per_token_above_(\d+)k_tokens$/.exec(field) ?? []
    return thousands === undefined ? [] : [Number(thousands)]
  })
  const sorted = [...new Set(lengths)].sort((one, other) => one - other)
  return [listOf(model, ''), ...sorted.map((k) => ({ above: k * 1000, ...listOf(model, `_above_${k}k_tokens`) }))]
}

function listOf(model: JsonObject, suffix: string): JsonObject {
  const prices = PRICES.flatMap(([name, field]) => {
    const usd = model[field + suffix] ?? model[field]
    return typeof usd === 'number' ? [[name, Number((usd * 1_000_000).toFixed(6))] as const] : []
  })
  return Object.fromEntries(prices)
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0
}
