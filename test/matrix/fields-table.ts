/** The section of docs/COMPATIBILITY.md on what becomes of each field of a request: printed from the gateway's own table. */

import { type Fate, fateOf, listFields, yieldsToLoss } from '@/formats/field-fates'
import type { Format } from '@/formats/format'
import { FORMATS } from '@/formats/index'

const MARK: Record<Fate, string> = { carried: '✓', translated: 't', heeded: 'g', named: '–', refused: '✗' }
const LOSSY = '✗ ˡ'

/** Every field of every format, by the format of the client, at providers of each. */
export function renderFields(): string {
  const formats = [...FORMATS.values()]
  return [INTRODUCTION, ...formats.map((client) => renderClient(client, formats))].join('\n')
}

const INTRODUCTION = `## Fields of a request

What becomes of each field, by the format of the client (the tables) and of the provider (the columns). A test sends each of them
to each provider and compares what comes of it with these tables, which are printed from the one that the gateway heeds
(\`src/formats/field-fates.ts\`).

- ✓ carried: the provider is sent it as it is
- t translated: said in the words of the provider's format, within what that can say
- g heeded by the gateway itself, whoever answers
- – named: left out, and \`x-svc-left-out\` names it
- ✗ refused with a 400 that names it, since the answer, or its price, would be another one
- ✗ ˡ likewise, but left out and named where the caller takes the loss: \`"svc": {"lossy": true}\` in the body, or the header
  \`x-svc-lossy: true\`. Unless it is taken, only models whose providers can carry the field are asked

Beside the tables: a field on none of them is named (–) at every provider. An empty value (\`null\`, \`""\`, \`[]\`, \`{}\`) asks for nothing,
and so does \`false\` or \`0\` where it would be refused. Log probabilities are carried to other formats in answers of one piece; in a
stream they are ✗ ˡ. What a model of the provider can't take by the catalogue (\`quirks\`) is named too.
Fields whose usual value costs nothing (\`modalities\`, \`responseModalities\`, \`speed\`, \`inference_geo\`) are refused at any other.
\`service_tier\` is named beyond the standard tier only, \`web_search_options\` carried where the catalogue has a price for it. The order is that of the fields in the code.
`

function renderClient(client: Format, formats: readonly Format[]): string {
  const rows = listFields(client).map((field) => {
    const marks = formats.map((provider) => markOf(field, client, provider))
    return `| \`${field}\` | ${marks.join(' | ')} |`
  })
  return [
    `### From ${client.name}\n`,
    `| to | ${formats.map(({ name }) => name).join(' | ')} |`,
    `|---|${formats.map(() => ':-:').join('|')}|`,
    ...rows,
    '',
  ].join('\n')
}

function markOf(field: string, client: Format, provider: Format): string {
  const fate = fateOf(field, client, provider)
  return fate === 'refused' && yieldsToLoss(field, client) ? LOSSY : MARK[fate]
}
