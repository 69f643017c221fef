/** Converts log probabilities to and from the hub's form: `{content: [{token, logprob, top_logprobs}]}`. */
import { isJsonObject, type JsonObject, type JsonValue, textOf } from '@/lib/json'

/** Decodes a candidate's `logprobsResult`; undefined if there is none. */
export function decodeLogprobs(result: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(result) || !Array.isArray(result.chosenCandidates)) return undefined
  const tops = Array.isArray(result.topCandidates) ? result.topCandidates : []
  const content = result.chosenCandidates.map((chosen, index) => {
    const top = tops[index]
    const candidates = isJsonObject(top) && Array.isArray(top.candidates) ? top.candidates : []
    return { ...decodeToken(chosen), top_logprobs: candidates.map(decodeToken) }
  })
  return { content }
}

/** Encodes the hub's log probabilities as `logprobsResult`; undefined for another shape. */
export function encodeLogprobs(logprobs: JsonValue | undefined): JsonObject | undefined {
  if (!isJsonObject(logprobs) || !Array.isArray(logprobs.content)) return undefined
  const tokens = logprobs.content.filter(isJsonObject)
  return {
    chosenCandidates: tokens.map(encodeToken),
    topCandidates: tokens.map(({ top_logprobs }) => ({
      candidates: (Array.isArray(top_logprobs) ? top_logprobs : []).filter(isJsonObject).map(encodeToken),
    })),
  }
}

function decodeToken(value: JsonValue): JsonObject {
  const { token, logProbability } = isJsonObject(value) ? value : {}
  const text = textOf(token) ?? ''
  return {
    token: text,
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: [...Buffer.from(text)],
  }
}

function encodeToken({ token, logprob }: JsonObject): JsonObject {
  return { token, logProbability: logprob }
}
