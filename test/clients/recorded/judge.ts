/**
 * Judges the outcome of one recorded answer: every client library, whatever its format and language, must make the same of it,
 * and none may break. If the recording is of a failure, all of them must fail. A library that makes the same of it without a
 * gateway is right, whatever the others make of it: then it is the recording, or the library, that is odd.
 */
import type { ScriptedModels } from '@test/gateway/scripted-models'
import { ask } from '@test/matrix/cases/words'
import type { MatrixClient, Sent } from '@test/matrix/clients/sending'
import { startUpstream } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'
import type { Recording } from './recordings'
import { replay } from './recordings'

/** A library that is asked. */
export type JudgedClient = { name: string; family: FormatName; client: MatrixClient }

/** A client that saw something else than most, and what. */
type Broken = { recording: string; client: string; saw: string; most: string }

/** Who broke, and whether every client was told of a failure instead of an answer. */
type Verdict = { broken: Broken[]; isFailure: boolean }

export interface Judge {
  judge(recording: Recording): Promise<Verdict>
}

const BROKEN = 'the library broke'
const FAILED = 'an error of the gateway'
/** Images, code that ran at the provider and deprecated calls have no word, or another, in other formats. */
const SAID_DIFFERENTLY =
  /"(inline_?[dD]ata|image_url|executable_?[cC]ode|partialArgs|function_call|image_generation_call)"/
/**
 * Some libraries put arguments together that come by path, or show a summary as text; others leave that to their users. A call
 * that came out malformed has a word in one format, and is a failure in the others. Calls of tools that the format itself has
 * are calls to some libraries, and items of their own kind to others, which are read by no name.
 */
const READ_DIFFERENTLY =
  /"(partialArgs|compaction|MALFORMED_FUNCTION_CALL|(shell|local_shell|apply_patch|computer|tool_search)_call)"/
const MAX_TOKENS = 16_000
const REQUESTS = ask({
  chat: { max_completion_tokens: MAX_TOKENS },
  messages: { max_tokens: MAX_TOKENS },
  gemini: { generationConfig: { maxOutputTokens: MAX_TOKENS } },
  responses: { max_output_tokens: MAX_TOKENS },
})

/** Creates the judge of these clients. */
export function createJudge({ gateway, customer, modelWith }: ScriptedModels, clients: readonly JudgedClient[]): Judge {
  const models = new Map<FormatName, string>()
  const current = new Map<FormatName, Recording>()

  /** One model for each format, until its provider fails: then its health has a record. */
  function modelAt(provider: FormatName): string {
    const known = models.get(provider)
    if (known !== undefined) return known
    const model = modelWith(provider, () => {
      const recording = current.get(provider)
      return recording ? replay(recording) : new Response(null, { status: 500 })
    })
    models.set(provider, model)
    return model
  }

  async function askOne({ family, client }: JudgedClient, { provider, mode }: Recording): Promise<string> {
    const access = { baseUrl: gateway.url, key: customer.key }
    return describe(await client.send({ ...access, model: modelAt(provider), mode, body: REQUESTS[family] }))
  }

  /** Whether the library sees the same where it asks the provider itself. */
  async function seesItself({ family, client }: JudgedClient, recording: Recording, saw: string): Promise<boolean> {
    if (family !== recording.provider) return false
    const provider = startUpstream(() => replay(recording))
    const access = { baseUrl: provider.url, key: 'sk-own', model: 'model' }
    const direct = describe(await client.send({ ...access, mode: recording.mode, body: REQUESTS[family] }))
    provider.stop()
    // What a library says of its own fault goes on with the event, whose ids and order of fields are ours.
    const beginning = (view: string) => (view.startsWith(BROKEN) ? view.split('{')[0] : view)
    return beginning(direct) === beginning(saw)
  }

  return {
    async judge(recording) {
      current.set(recording.provider, recording)
      const views: string[] = []
      for (const each of clients) views.push(await askOne(each, recording))
      if (views.includes(FAILED)) models.delete(recording.provider)
      const broken: Broken[] = []
      for (const [index, each] of clients.entries()) {
        const { name, family } = each
        const saw = views[index] ?? ''
        const isOwnWord = SAID_DIFFERENTLY.test(recording.text)
        const peers = views.filter((_, other) => !isOwnWord || clients[other]?.family === family)
        const most = mostFrequent(peers)
        const isAlike = saw === most || READ_DIFFERENTLY.test(recording.text)
        if ((isAlike && !saw.startsWith(BROKEN)) || (await seesItself(each, recording, saw))) continue
        broken.push({ recording: recording.name, client: name, saw, most })
      }
      return { broken, isFailure: views.every((view) => view === FAILED) }
    },
  }
}

/** What a client saw, as far as all formats can say it. */
function describe({ status, view }: Sent): string {
  if (view?.kind !== 'answer') {
    const isTold =
      status !== 200 || /(overloaded|failed to answer|interrupted|stopped|refused)/.test(view?.message ?? '')
    return isTold ? FAILED : `${BROKEN}: ${view?.message.slice(0, 200)}`
  }
  const { text, calls } = view
  return JSON.stringify({ text, calls })
}

function mostFrequent(views: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const view of views) counts.set(view, (counts.get(view) ?? 0) + 1)
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0] ?? ''
}
