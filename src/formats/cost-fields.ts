import { Type } from '@sinclair/typebox'
import type { CostPlace } from './format'

const Usd = Type.Number({ minimum: 0 })

/** Schemas of the cost fields in an answer's last usage, with the format's names for the parts. */
export function costFields({ input, output }: CostPlace['parts']) {
  const details = {
    upstream_inference_cost: Type.Null({ description: 'The provider is paid by this service' }),
    [input]: Usd,
    [output]: Usd,
    server_tool_cost: Type.Optional(Usd),
  }
  return {
    cost: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'The charge in USD; only if requested by `usage.include` or `x-svc-usage-record`',
      }),
    ),
    cost_details: Type.Optional(Type.Object(details, { description: 'Parts of `cost`, which make up the whole' })),
  }
}
