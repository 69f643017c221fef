/** Encodes a complete answer as a response object. */
import type { AnswerBlock, ChatResponse, Choice, FinishReason } from '@/chat/response'
import { movedBy, withPlaces } from '@/chat/sources'
import { customInput } from '@/formats/custom-tools'
import type { AnswerContext } from '@/formats/format'
import { type Ending, encodeFinishReason } from '@/formats/responses/finish-reason'
import { createToolIds, encodeArguments } from '@/formats/responses/tool-calls'
import { encodeUsage } from '@/formats/responses/usage'
import { randomId } from '@/lib/ids'
import { isJsonObject, type JsonObject } from '@/lib/json'
import {
  callItem,
  callProofItem,
  type ItemStatus,
  imageItem,
  messageItem,
  reasoningId,
  reasoningItem,
  refusalPart,
  tellThought,
  textPart,
} from './encode-content'

/** Only the first choice is sent. An answer may have no content. */
export function encodeResponse(response: ChatResponse, context: AnswerContext): JsonObject {
  const choice = response.choices[0] ?? { index: 0, content: [], finish: { kind: 'stop' } }
  const hasRefusal = choice.content.some(({ type }) => type === 'refusal')
  const ending = endingOf(choice.finish, hasRefusal)
  return encodeBody(context, {
    ...ending,
    error: ending.status === 'failed' ? MODEL_FAILED : null,
    completed_at: completedAt(ending),
    output: encodeOutput(choice, ending, context),
    usage: response.usage && encodeUsage(response.usage),
  })
}

/** The error of an answer that its provider ended with an error without a message. */
export const MODEL_FAILED = { code: 'server_error', message: 'The model failed to answer.' }

/** The fields that tell the answer's end. With a refusal by the model, the response counts as complete. */
export function endingOf(finish: FinishReason, hasRefusal: boolean): Ending {
  const isSaid = hasRefusal && finish.kind === 'content-filter'
  return encodeFinishReason(isSaid ? { kind: 'stop' } : finish)
}

/** The current time in Unix seconds, if the response is complete. */
export function completedAt({ status }: Pick<Ending, 'status'>): number | null {
  return status === 'completed' ? Math.floor(Date.now() / 1000) : null
}

/** The status of an answer's last item, which a limit may have cut off. */
export function lastStatus({ status }: Pick<Ending, 'status'>): ItemStatus {
  return status === 'completed' ? 'completed' : 'incomplete'
}

type Moment = Omit<Ending, 'status'> & {
  status: string
  error: JsonObject | null
  completed_at: number | null
  output: JsonObject[]
  usage: JsonObject | null
}

/** Prefix of our ids, such as `req_`. */
const PREFIX = /^[a-z]+_/

/** A complete response object: all fields are always present, empty ones as null. */
export function encodeBody(context: AnswerContext, moment: Moment): JsonObject {
  return {
    id: `resp_${context.id.replace(PREFIX, '')}`,
    object: 'response',
    created_at: context.created,
    ...moment,
    background: false,
    // If the answer is stored, `answerEcho` contains its id, which replaces the id above.
    ...context.answerEcho,
    model: context.model,
  }
}

function encodeOutput(choice: Choice, ending: Ending, context: AnswerContext): JsonObject[] {
  const newId = createToolIds()
  const last = choice.content.length - 1
  let before = 0
  return choice.content.flatMap((block, index) => {
    const status = index === last ? lastStatus(ending) : 'completed'
    const given = { newId, context, logprobs: logprobsOf(choice), before }
    if (block.type === 'text') before += block.text.length
    return encodeBlock(block, status, given)
  })
}

type BlockContext = {
  newId: (id: string) => string
  context: AnswerContext
  logprobs: JsonObject[]
  before: number
}

function encodeBlock(block: AnswerBlock, status: ItemStatus, given: BlockContext): JsonObject[] {
  const { newId, context, logprobs, before } = given
  switch (block.type) {
    case 'text': {
      const { text, sources = [] } = block
      const own = movedBy(withPlaces(sources, before, text.length), -before)
      return text === '' && own.length === 0
        ? []
        : [messageItem(randomId('msg'), status, textPart(text, logprobs, own))]
    }
    case 'refusal':
      return block.text === '' ? [] : [messageItem(randomId('msg'), status, refusalPart(block.text))]
    case 'reasoning': {
      const id = reasoningId(block.signature)
      const told = tellThought(block, id, context)
      return told ? [reasoningItem(id, status, told.text, told.proof)] : []
    }
    case 'tool-call': {
      const origin = context.toolOrigins?.get(block.name)
      const isCustom = origin?.kind === 'custom'
      const call = {
        id: randomId(isCustom ? 'ctc' : 'fc'),
        callId: newId(block.id),
        name: block.name,
        text: isCustom ? customInput(block.argumentsText) : encodeArguments(block.argumentsText),
      }
      return [...callProofItem(block.signature, context), callItem(call, status, origin)]
    }
    case 'image':
      return block.source.type === 'base64' ? [imageItem(randomId('ig'), 'completed', block.source.data)] : []
    case 'audio':
      return []
  }
}

/** The hub has a choice's log probabilities in the form of chat-completions, with the same entries as here. */
function logprobsOf({ logprobs }: Choice): JsonObject[] {
  const content = isJsonObject(logprobs) ? logprobs.content : undefined
  return Array.isArray(content) ? content.filter(isJsonObject) : []
}
