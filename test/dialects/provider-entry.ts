/** A provider's entry of the catalogue as it is called: its requests, as they arrive at a loopback recorder. */
import { startUpstream, type UpstreamCall } from '@test/support/upstream'
import { loadCatalog } from '@/catalog/catalog'
import type { Target } from '@/catalog/types'
import { FORMATS } from '@/formats/index'
import { assert } from '@/lib/assert'
import { formatFaults } from '@/lib/fault'
import type { JsonObject } from '@/lib/json'
import { callUpstream } from '@/upstream/client'
import { embeddingsUrl } from '@/upstream/endpoints'

const PRICES = { inputPer1mTokens: 1, outputPer1mTokens: 1 }

/** The target of the one model that a catalogue sells of the provider `entry`. */
export function targetOfEntry(
  entry: JsonObject,
  model = 'the-model',
  environment: Record<string, string> = {},
): Target {
  const file = {
    service: 'svc',
    providers: { cloud: entry },
    models: [
      {
        ...{ id: 'svc/one', name: 'One', created: 1, ownedBy: 'cloud', pricing: PRICES },
        ...{ contextLength: 1000, maxOutputTokens: 100, targets: [{ provider: 'cloud', model }] },
      },
    ],
  }
  const loaded = loadCatalog(JSON.stringify(file), environment)
  if (loaded.kind === 'faulty') throw new Error(formatFaults('faulty', loaded.faults))
  const target = loaded.kind === 'loaded' ? loaded.catalog.models.get('svc/one')?.targets[0] : undefined
  assert(target, 'the provider is offered')
  return target
}

/** Calls `target` once, with its first key. */
export function callTarget(target: Target, call: { stream?: boolean; isEmbedding?: boolean; body?: JsonObject } = {}) {
  const { provider } = target
  const format = FORMATS.get(provider.format)
  const [key] = provider.keys
  assert(format && key, 'there is a format and a key')
  const body = call.body ?? {}
  return callUpstream({
    ...{ target, key, format, stream: call.stream ?? false, signal: new AbortController().signal },
    ...(call.isEmbedding && { url: embeddingsUrl(target) }),
    bodyText: JSON.stringify(provider.dialect.envelope?.(body, provider.headers).body ?? body),
  })
}

/** What arrives of what `send` sends to the address it is given. Answers are empty objects, and the outcome of them is not looked at. */
export async function arriving(send: (url: string) => Promise<unknown>): Promise<UpstreamCall[]> {
  const recorder = startUpstream(() => Response.json({}))
  try {
    await send(recorder.url).catch(() => undefined)
    return recorder.calls
  } finally {
    recorder.stop()
  }
}
