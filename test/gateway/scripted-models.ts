/** A gateway with many models, each at a provider of its own that answers by a script, and ways to ask it in all formats. */

import { type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import { until } from '@test/support/until'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import { piecesOf, questionIn, wholeOf } from './told-in-pieces'

export const FORMATS = FORMAT_NAMES
export type { FormatName } from '@/chat/format-name'
export type Script = (call: UpstreamCall) => Response | Promise<Response>

export interface ScriptedModels {
  readonly gateway: TestGateway
  readonly customer: Customer
  /** A model that no other test knows, at a provider of its own: nothing that one test breaks is another's. */
  modelWith(format: FormatName, script: Script): string
  /** Likewise, but at one of the addresses that the world was started with. */
  modelAt(format: FormatName, address: string): string
  /** Answers for the catalogue's own model, `svc/alpha`. */
  script(respond: Script): void
  /** Asks, and reads to the end; `onText` sees what has come so far, each time more comes. */
  ask(question: Question): Promise<{ response: Response; text: string }>
}

type Question = {
  /** Another gateway than the world's own. */
  at?: TestGateway
  format: FormatName
  model: string
  fallback?: string[]
  stream?: boolean
  headers?: Record<string, string>
  body?: Record<string, unknown>
  onText?: (text: string) => void
}

/** Longer than a busy machine pauses: whoever tests silence states limits of its own. In milliseconds. */
const PATIENT = { connectMs: 2_000, firstByteMs: 20_000, idleMs: 20_000, totalMs: 60_000 }
const MODELS_PER_FORMAT = 80
const MODELS_PER_ADDRESS = 4

/**
 * Starts the gateway; `provider` changes what every scripted provider is in the catalogue, `target` what every target is, `pricing` the prices of models;
 * `addresses` are those of providers that no script plays, by name; `models` is how many each format has. Stop it in `afterAll`.
 */
export async function startScriptedModels(
  provider: Record<string, unknown> = {},
  target: Record<string, unknown> = {},
  addresses: Record<string, string> = {},
  pricing: Record<string, unknown> = {},
  models = MODELS_PER_FORMAT,
): Promise<ScriptedModels> {
  const scripts = new Map<string, Script>()
  const gateway = await startGateway({
    respond: (call) => scripts.get(call.path.split('/')[1] ?? '')?.(call) ?? new Response(null, { status: 599 }),
    catalog(file) {
      const root = String(file.providers.provider1?.baseUrl).replace(/\/v1$/, '')
      const [alpha] = file.models
      const add = (format: FormatName, name: string, address: string) => {
        file.providers[name] = {
          format,
          baseUrl: `${address}/${name}${format === 'chat-completions' || format === 'responses' ? '/v1' : ''}`,
          keys: [`sk-${name}-canary`],
          timeouts: PATIENT,
          ...provider,
        }
        const prices = { ...(alpha?.pricing as object), ...pricing }
        const targets = [{ provider: name, model: name, ...target }]
        file.models.push({ ...alpha, id: `svc/${name}`, targets, pricing: prices })
      }
      for (const format of FORMATS) {
        for (let index = 0; index < models; index++) add(format, `${format}-${index}`, root)
        for (const [name, address] of Object.entries(addresses)) {
          for (let index = 0; index < MODELS_PER_ADDRESS; index++) add(format, `${format}-${name}-${index}`, address)
        }
      }
    },
  })
  const customer = await gateway.customer('100')
  const taken = new Map<string, number>()
  const take = (kind: string, most: number) => {
    const index = taken.get(kind) ?? 0
    assert(index < most, 'there are models left')
    taken.set(kind, index + 1)
    return `${kind}-${index}`
  }
  return {
    gateway,
    customer,
    modelWith(format, script) {
      const name = take(format, models)
      scripts.set(name, script)
      return `svc/${name}`
    },
    modelAt: (format, address) => `svc/${take(`${format}-${address}`, MODELS_PER_ADDRESS)}`,
    script: (respond) => void scripts.set('v1', respond),
    ask: (question) => ask((question.at ?? gateway).url, customer.key, question),
  }
}

async function ask(url: string, key: string, question: Question): Promise<{ response: Response; text: string }> {
  const { format, model, fallback = [], stream = false, headers, body, onText } = question
  const { path, body: limited } = questionIn(format, model, { stream, limit: 100 })
  // Tests of single fields give this object whole.
  const { generationConfig: _, ...usual } = limited
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ ...usual, ...body, fallback }),
  })
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    onText?.(text)
  }
  return { response, text }
}

/** A sound answer in a provider's own format; its text is `Sound`. */
export function soundAnswer(format: FormatName, stream: boolean): Response {
  const told = { input: 10, output: 5 }
  if (!stream) return Response.json(wholeOf(format, 'Sound', told))
  const { texts, stop, usage, end } = piecesOf(format, ['So', 'und'], told)
  const text = [...texts, stop, usage, end].join('')
  let sequence = 0
  const numbered = text.replaceAll(/\}\n\n/g, () => `,"sequence_number":${sequence++}}\n\n`)
  const headers = { 'content-type': 'text/event-stream' }
  return new Response(format === 'responses' ? numbered : text, { headers })
}

/** An error of the provider with this status. */
export function status(code: number, headers: Record<string, string> = {}): Script {
  return () => Response.json({ error: { message: 'scripted failure', type: 'scripted' } }, { status: code, headers })
}

/** Answers nothing for as long as anybody waits. */
export async function silence(call: UpstreamCall): Promise<Response> {
  await until(() => call.isAborted, 'nobody to wait any more')
  return new Response(null, { status: 500 })
}
