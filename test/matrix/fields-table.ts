/** The section of docs/COMPATIBILITY.md on the outcome of each field of a request: printed from the gateway's own table. */

import { type Fate, fateOf, listFields, yieldsToLoss } from '@/formats/field-fates'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'
import { renderRows } from './rows'

const MARK: Record<Fate, string> = { carried: '✓', translated: 't', heeded: 'g', named: '–', refused: '✗' }
const LOSSY = '✗ˡ'

/** Every field of every format, by the format of the client, at providers of each. */
export function renderFields(): string {
  const formats = [...FORMATS.values()]
  return [INTRODUCTION, ...formats.map((client) => renderClient(client, formats))].join('\n')
}

const INTRODUCTION = `## Fields of a request

- ✓ carried as it is
- t translated into the provider's format, as far as possible
- g handled by the gateway itself
- – omitted, and named in \`x-svc-left-out\`
- ✗ refused with a 400 that names the field, since the answer or its price would change
- ✗ˡ omitted and named if the caller accepts the loss: \`"svc": {"lossy": true}\` in the body, or the header \`x-svc-lossy: true\`. Otherwise
  only models whose providers support the field are called; without one, a 400

Fields that no table lists are omitted and named. Empty values (\`null\`, \`""\`, \`[]\`, \`{}\`; \`false\` and \`0\` if they would be refused) are
ignored. Log probabilities in a stream are ✗ˡ for other formats. \`speed\` and \`inference_geo\` are refused except at their default.
\`modalities\` and \`responseModalities\` may request images if the model has a price for them, but never audio. A \`service_tier\` other than
the standard, and \`web_search_options\`, need a price in the catalogue.
`

function renderClient(client: Format, formats: readonly Format[]): string {
  const rows = listFields(client).map((field) => {
    return { name: `\`${field}\``, marks: [formats.map((provider) => markOf(field, client, provider)).join(' ')] }
  })
  return `### From ${client.name}\n\n${renderRows('', ['C M G R'], rows)}\n`
}

function markOf(field: string, client: Format, provider: Format): string {
  const fate = fateOf(field, client, provider)
  return fate === 'refused' && yieldsToLoss(field, client) ? LOSSY : MARK[fate]
}
