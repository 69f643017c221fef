/** The formats are built alike: the same files and names at the same places, and a reason for each difference. */
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { FORMAT_NAMES, type FormatName } from '@/chat/format-name'
import { FORMATS } from '@/formats/index'

/** The files that every format has, and what each of them exports in every format. */
const COMMON: Record<string, string[]> = {
  'body-fields.ts': ['BODY_FIELDS'],
  'client-side/answer-schema.ts': ['AnswerSchema', 'ErrorSchema', 'EventSchema'],
  'client-side/decode-content.ts': [],
  'client-side/decode-request.ts': ['decodeRequest', 'recognition'],
  'client-side/decode-tools.ts': ['decodeToolChoice', 'decodeTools'],
  'client-side/decode-turns.ts': ['decodeTurns'],
  'client-side/encode-content.ts': [],
  'client-side/encode-error.ts': ['encodeError'],
  'client-side/encode-response.ts': ['encodeResponse'],
  'client-side/encode-stream.ts': ['createStreamEncoder'],
  'client-side/native-only.ts': ['listNativeOnly'],
  'client-side/wire.ts': [],
  'finish-reason.ts': ['decodeFinishReason', 'encodeFinishReason'],
  'framing.ts': ['framing'],
  'index.ts': [],
  'limits.ts': ['LIMITS'],
  'pass-through.ts': ['passThrough'],
  'provider-side/decode-error.ts': ['decodeError'],
  'provider-side/decode-response.ts': ['decodeResponse'],
  'provider-side/decode-stream-blocks.ts': ['BlockReader'],
  'provider-side/decode-stream.ts': ['createStreamDecoder'],
  'provider-side/encode-content.ts': ['encodeUserBlock'],
  'provider-side/encode-request.ts': ['encodeRequest'],
  'provider-side/encode-tools.ts': ['encodeTools'],
  'provider-side/encode-turns.ts': ['encodeTurns'],
  'provider-side/places.ts': ['PLACES'],
  'provider.ts': ['QUIRKS', 'endpoint'],
  'restore-signatures.ts': ['restoreSignatures'],
  'server-tools.ts': ['SERVER_TOOLS', 'listServerTools'],
  'signature.ts': ['decodeSignature', 'encodeSignature', 'isForeignSignature'],
  'tool-calls.ts': ['decodeArguments', 'encodeArguments'],
  'usage.ts': ['decodeUsage', 'encodeUsage'],
}

const NO_EMBEDDINGS = 'only these have an endpoint for embeddings'
const ONLY_VERSIONS = 'clients of the others name neither a version nor beta interfaces at these endpoints'
const NO_RANKING = 'only endpoints beside those of chat-completions rank documents'
const NO_PICTURES =
  'only OpenAI’s endpoints for pictures are spoken by several vendors; Gemini makes them in conversations'
const NO_SOUND = 'only OpenAI’s endpoints for sound are spoken by several vendors'
const MANY_PROVIDERS = 'the others have few providers, who leave out nothing but their usage'

/** The files that only some formats have, and why the others have none. */
const SOME: Record<string, { formats: FormatName[]; because: string }> = {
  'answer-content.ts': {
    formats: ['chat-completions'],
    because: 'only here what is passed through is read for what it says, to put it right',
  },
  'betas.ts': { formats: ['messages'], because: ONLY_VERSIONS },
  'call-fragments.ts': {
    formats: ['chat-completions'],
    because: 'in the others it is plain which call a piece belongs to',
  },
  'citations.ts': {
    formats: ['messages'],
    because: 'OpenAI’s two formats write sources alike, in formats/url-citations.ts',
  },
  'client-side/call-register.ts': {
    formats: ['generate-content'],
    because: 'in the others every call has an id on the wire',
  },
  'client-side/decode-schema.ts': {
    formats: ['generate-content'],
    because: 'the others take JSON Schema, which is what the hub speaks',
  },
  'client-side/embeddings.ts': { formats: ['chat-completions', 'generate-content'], because: NO_EMBEDDINGS },
  'client-side/encode-stream-blocks.ts': {
    formats: ['messages'],
    because: 'in the others the pieces of several blocks may interleave',
  },
  'client-side/encode-stream-frames.ts': {
    formats: ['messages', 'responses'],
    because: 'in the others a block has no frame where it starts and none where it stops',
  },
  'client-side/encode-stream-items.ts': {
    formats: ['responses'],
    because: 'in the others no block is announced as a whole',
  },
  'client-side/models.ts': {
    formats: ['generate-content'],
    because:
      'the others name the model in the body, and their clients read one list of models, whose fields do not collide',
  },
  'client-side/pictures.ts': { formats: ['chat-completions'], because: NO_PICTURES },
  'client-side/rate-limit-headers.ts': {
    formats: ['messages'],
    because: 'the others share the common headers, in formats/rate-limit-headers.ts',
  },
  'client-side/read-protocol.ts': { formats: ['messages'], because: ONLY_VERSIONS },
  'client-side/rerank.ts': { formats: ['chat-completions'], because: NO_RANKING },
  'client-side/speech.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'client-side/stored/kept-items.ts': {
    formats: ['responses'],
    because: 'only here answers are kept with their input, for requests that go on from them',
  },
  'client-side/tool-names.ts': {
    formats: ['responses'],
    because: 'the others have no namespaces of tools',
  },
  'client-side/transcription.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'client-side/wire-blocks.ts': {
    formats: ['messages'],
    because: 'only here each type of block has a schema of its own, chosen by its type',
  },
  'code-text.ts': {
    formats: ['generate-content'],
    because: 'providers of the others show no code that they ran as a part of the answer',
  },
  'events.ts': {
    formats: ['responses'],
    because: 'only here events are numbered, and clients give up on one whose name they do not know',
  },
  'grounding.ts': {
    formats: ['generate-content'],
    because: 'OpenAI’s two formats write sources alike, in formats/url-citations.ts',
  },
  'logprobs.ts': {
    formats: ['generate-content'],
    because: 'the hub has the shape of chat-completions, and messages has no log probabilities',
  },
  'media-fields.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'media.ts': {
    formats: ['generate-content'],
    because:
      'only here a file is an address without a type; what the others share of bytes in text is formats/media.ts',
  },
  'normalise.ts': {
    formats: ['generate-content'],
    because: 'the others have one spelling of each field',
  },
  'provider-side/decode-content.ts': {
    formats: ['responses'],
    because: 'the others read the content of a complete answer beside the answer itself, or as a stream of one event',
  },
  'provider-side/decode-partial-arguments.ts': {
    formats: ['generate-content'],
    because: 'the others stream arguments as pieces of one text',
  },
  'provider-side/decode-stream-calls.ts': {
    formats: ['chat-completions', 'responses'],
    because:
      'in the others the pieces of a call are never repeated as a whole, and it is plain which call each belongs to',
  },
  'provider-side/embeddings.ts': { formats: ['chat-completions', 'generate-content'], because: NO_EMBEDDINGS },
  'provider-side/encode-schema.ts': {
    formats: ['messages', 'generate-content'],
    because: 'providers of chat-completions take JSON Schema as it is',
  },
  'provider-side/event-tap.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'provider-side/flatten-schema.ts': {
    formats: ['generate-content'],
    because: 'the others know references inside a schema',
  },
  'provider-side/pictures.ts': { formats: ['chat-completions', 'generate-content'], because: NO_PICTURES },
  'provider-side/rerank.ts': { formats: ['chat-completions'], because: NO_RANKING },
  'provider-side/schema-budget.ts': {
    formats: ['generate-content'],
    because: 'the others know references inside a schema, and write out none',
  },
  'provider-side/speech.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'provider-side/transcription.ts': { formats: ['chat-completions'], because: NO_SOUND },
  'repair-calls.ts': { formats: ['chat-completions'], because: MANY_PROVIDERS },
  'repair-stream.ts': { formats: ['chat-completions', 'responses'], because: MANY_PROVIDERS },
  'repair.ts': { formats: ['chat-completions', 'responses'], because: MANY_PROVIDERS },
  'thinking-effort.ts': {
    formats: ['messages'],
    because: 'the others turn one into the other on the way to a provider only, never in a body of their own',
  },
}

const FOLDER = join(import.meta.dir, '../../src/formats')
const HOLDERS = new Map<string, FormatName[]>()
for (const format of FORMAT_NAMES) {
  const paths = readdirSync(join(FOLDER, format), { recursive: true }) as string[]
  for (const path of paths.filter((name) => name.endsWith('.ts'))) {
    HOLDERS.set(path, [...(HOLDERS.get(path) ?? []), format])
  }
}

describe('the folders of the formats', () => {
  test('all formats have these files in common', () => {
    const shared = [...HOLDERS].filter(([, formats]) => formats.length === FORMAT_NAMES.length)
    expect(shared.map(([path]) => path).sort()).toEqual(Object.keys(COMMON))
  })

  test('formats differ only by these files, each for a reason', () => {
    const others = [...HOLDERS].filter(([, formats]) => formats.length < FORMAT_NAMES.length)
    const explained = Object.entries(SOME).map(([path, { formats }]) => [path, formats])
    expect(others.sort()).toEqual(explained as [string, FormatName[]][])
  })

  test('each format keeps the files shared by its two sides in the same place', () => {
    const shared = [...HOLDERS.keys()].filter((path) => !path.includes('/'))
    const sided = new Set([...HOLDERS.keys()].filter((path) => path.includes('/')).map((path) => basename(path)))
    expect(shared.filter((path) => sided.has(path))).toEqual([])
  })

  test.each(Object.entries(COMMON))('every format exports the same names from %s', async (path, names) => {
    for (const format of FORMAT_NAMES) {
      const exported = Object.keys(await import(join(FOLDER, format, path)))
      expect({ format, missing: names.filter((name) => !exported.includes(name)) }).toEqual({ format, missing: [] })
    }
  })
})

describe('the formats with embeddings', () => {
  test('the formats with embeddings export the same functions', () => {
    const able = [...FORMATS.values()].filter(({ embeddings }) => embeddings)
    expect(able.map(({ name }) => name)).toEqual(['chat-completions', 'generate-content'])
    const [first, ...others] = able.map(({ embeddings }) => Object.keys(embeddings ?? {}).sort())
    for (const other of others) expect(other).toEqual(first ?? [])
  })
})
