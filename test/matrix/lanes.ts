/** The gateway of the matrix: each pair and mode is a lane with its own customer, and each lane has its own providers. */
import { type CatalogFile, type Customer, startGateway, type TestGateway } from '@test/support/gateway'
import type { UpstreamCall } from '@test/support/upstream'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { assert } from '@/lib/assert'
import { UPSTREAM_MODEL } from './expectation'
import type { Case, Cell, Group, Mode } from './types'

type Lane = { client: FormatName; provider: FormatName; mode: Mode }

/** Where a cell takes place: its public model, its customer, and what its provider has been called with. */
export type Seat = {
  baseUrl: string
  model: string
  customer: Customer
  /** Sets the script of the provider and returns the list that collects its calls. */
  script(respond: (call: UpstreamCall) => Response | Promise<Response>): UpstreamCall[]
}

export interface MatrixGateway {
  readonly gateway: TestGateway
  seatOf(cell: Cell): Seat
  stop(): Promise<void>
}

const LANES: readonly Lane[] = FORMAT_NAMES.flatMap((client) =>
  FORMAT_NAMES.flatMap((provider) => modesOf(client).map((mode): Lane => ({ client, provider, mode }))),
)

/** The modes a client of a format can ask for. */
function modesOf(client: FormatName): Mode[] {
  return client === 'generate-content' ? ['json', 'stream', 'array'] : ['json', 'stream']
}

/** The cells of one case, in the order of the table. */
export function cellsOf(group: string, declared: Case): Cell[] {
  return LANES.flatMap(({ client, provider, mode }) => {
    if (!declared.asks[client]) return []
    // An array is a stream in other brackets.
    const kind = mode === 'array' ? 'stream' : mode
    if (declared.modes && !declared.modes.includes(kind)) return []
    if (declared.providers && !declared.providers.includes(provider)) return []
    return [{ group, case: declared, client, provider, mode }]
  })
}

type Script = { respond: (call: UpstreamCall) => Response | Promise<Response>; calls: UpstreamCall[] }

/** Starts the one gateway that all cells of `groups` run through. */
export async function startMatrixGateway(groups: readonly Group[]): Promise<MatrixGateway> {
  const cases = groups.flatMap((group) => group.cases)
  const scripts = new Map<string, Script>()
  const gateway = await startGateway({
    catalog: (file) => fillCatalog(file, cases),
    respond(call) {
      const script = scripts.get(call.path.split('/')[1] ?? '')
      if (!script) return new Response('no script', { status: 500 })
      script.calls.push(call)
      return script.respond(call)
    },
  })
  const customers = new Map<string, Customer>()
  for (const lane of LANES) customers.set(laneName(lane), await gateway.customer('1000'))
  return {
    gateway,
    seatOf(cell) {
      const label = `${laneName(cell)}-${targetName(cell.case, cell.provider, cases)}`
      const customer = customers.get(laneName(cell))
      assert(customer, 'every lane has a customer')
      return {
        baseUrl: gateway.url,
        model: `svc/${label}`,
        customer,
        script(respond) {
          const script: Script = { respond, calls: [] }
          scripts.set(label, script)
          return script.calls
        },
      }
    },
    stop: () => gateway.stop(),
  }
}

function laneName({ client, provider, mode }: Lane): string {
  return `${FORMAT_NAMES.indexOf(client)}${FORMAT_NAMES.indexOf(provider)}${mode}`
}

/** Cases with the same switches share a provider, unless they misbehave. */
function targetName(declared: Case, provider: FormatName, cases: readonly Case[]): string {
  if (declared.isFaulty) return `faulty${cases.indexOf(declared)}`
  const quirks = declared.quirks?.[provider] ?? []
  if (declared.toolPrices) return 'priced'
  return quirks.length === 0 ? 'plain' : quirks.join('_').replaceAll(/[^a-z0-9_-]/g, '')
}

function fillCatalog(file: CatalogFile, cases: readonly Case[]): void {
  const [template] = Object.values(file.providers)
  const [model] = file.models
  assert(template && model, 'the test catalogue has a provider and a model')
  const origin = new URL(String(template.baseUrl)).origin
  file.providers = {}
  file.models = []
  for (const lane of LANES) {
    for (const declared of cases) {
      const label = `${laneName(lane)}-${targetName(declared, lane.provider, cases)}`
      if (file.providers[label]) continue
      const { provider: format } = lane
      const path = format === 'chat-completions' || format === 'responses' ? '/v1' : ''
      const quirks = declared.quirks?.[format] ?? []
      file.providers[label] = { ...template, format, baseUrl: `${origin}/${label}${path}`, quirks }
      file.models.push({
        ...model,
        id: `svc/${label}`,
        name: label,
        targets: [
          { provider: label, model: UPSTREAM_MODEL, ...(declared.toolPrices && { toolPrices: declared.toolPrices }) },
        ],
      })
    }
  }
  const capabilities = ['tools', 'images', 'files', 'audio', 'reasoning', 'json-schema']
  for (const sold of file.models) sold.capabilities = capabilities
  file.tiers = []
}
