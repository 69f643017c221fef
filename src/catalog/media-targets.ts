import { FORMATS } from '@/formats/index'
import type { AnyModelFile } from './any-model-file'
import type { FaultList } from './check'
import type { MediaKind, ModelKind, Provider } from './types'

/** For each kind, the name of the provider call that its models need. */
const CALLS: Readonly<Partial<Record<ModelKind, string>>> = {
  image: 'pictures',
  speech: 'speech',
  transcription: 'transcriptions',
  rerank: 'rerank',
}

/** The host of an OpenAI-compatible endpoint that makes pictures without a token count in its answers. */
const SILENT_HOST = 'generativelanguage.googleapis.com'

/** Reports a fault for each target whose provider's format or dialect has no calls for models of this kind. */
export function checkMediaTargets(
  { targets, kind }: AnyModelFile,
  place: string,
  providers: ReadonlyMap<string, Provider | undefined>,
  faults: FaultList,
): void {
  const calls = kind && CALLS[kind]
  if (calls === undefined) return
  for (const [index, { provider: name }] of targets.entries()) {
    const provider = providers.get(name)
    if (!provider) continue
    const { format, dialect, baseUrl } = provider
    const at = `${place}.targets[${index}].provider`
    if (kind === 'image' && dialect.mediaUrl && new URL(baseUrl).hostname === SILENT_HOST) {
      faults.add(at, `${name} states no tokens of pictures in this format; use a provider with the vendor's own format`)
    }
    if (hasCalls(provider, kind as MediaKind)) continue
    const by = dialect.name === undefined ? '' : ` by ${dialect.name}`
    faults.add(at, `${name} speaks ${format}${by}, which has no ${calls}`)
  }
}

/** Whether the provider has calls for this kind. A dialect without the format's paths has none. */
function hasCalls({ format: name, dialect }: Provider, kind: MediaKind): boolean {
  const format = FORMATS.get(name)
  const lacksPaths = format?.endpoint.mediaUrl !== undefined && dialect.mediaUrl === undefined
  return format?.media?.[kind] !== undefined && !lacksPaths
}
