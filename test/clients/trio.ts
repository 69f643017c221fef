/** A gateway with one model for each provider format, named after it: `svc/messages` and so on. */
import { type CatalogFile, type GatewayOptions, startGateway, type TestGateway } from '@test/support/gateway'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'

type TrioOptions = Partial<GatewayOptions> & {
  /** Where the providers are, without a path; the gateway's own scripted upstream where absent. */
  origin?: string
  quirks?: Partial<Record<FormatName, string[]>>
}

/** Starts it. Stop it in `afterAll`. */
export function startTrio({ origin, quirks = {}, ...options }: TrioOptions = {}): Promise<TestGateway> {
  return startGateway({
    respond: () => new Response(),
    ...options,
    catalog(file) {
      fillCatalog(file, origin, quirks)
      options.catalog?.(file)
    },
  })
}

/** The model at the provider of `format`. */
export function modelAt(format: FormatName): string {
  return `svc/${format}`
}

function fillCatalog(file: CatalogFile, given: string | undefined, quirks: TrioOptions['quirks']): void {
  const [template] = Object.values(file.providers)
  const [model] = file.models
  const origin = given ?? new URL(String(template?.baseUrl)).origin
  file.providers = {}
  file.models = []
  for (const format of FORMAT_NAMES) {
    const baseUrl = format === 'chat-completions' || format === 'responses' ? `${origin}/v1` : origin
    file.providers[format] = { ...template, format, baseUrl, quirks: quirks?.[format] ?? [] }
    file.models.push({
      ...model,
      id: modelAt(format),
      name: format,
      targets: [{ provider: format, model: 'upstream-model' }],
    })
  }
  file.tiers = []
}
